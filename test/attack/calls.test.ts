import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { depth } from '../depth.js'
import { ownTree, type Running, start } from '../http/harness.js'
import { type Command, command, DENIALS_MAX, expected, type Model, NEW } from './model.js'

const RUNS = Number(process.env.PHASELOCK_CALLS ?? depth(20, 100))
// A fixed seed, so that what a run must have reached is reached every time; another one explores.
const SEED_DEFAULT = 4
const SEED = Number(process.env.PHASELOCK_SEED ?? SEED_DEFAULT)
const RESTART_EVERY = 10

const CONTRACT = `
name: model
version: "1"
phases:
  - {id: A, allowed_tools: [read_files, bash], forbidden_tools: [bash]}
  - {id: B, allowed_tools: [write_files], required_artifacts: [{type: note, description: a note}]}
  - {id: C, allowed_tools: [read_files]}
  - {id: D, allowed_tools: []}
transitions: [{from: A, to: B}, {from: B, to: C}, {from: C, to: A, when: again}, {from: C, to: D}]
enforcement: {denial_budget: ${DENIALS_MAX}}
`
const ARGS = new Map<string, unknown>([
  ['read_files', { path: 'a' }],
  ['write_files', { path: 'a', content: 'b' }],
  ['bash', { command: 'ls' }],
])

/** Two agents and an operator at one task, through the entrance. */
class Table {
  readonly #tokens: { readonly epoch: number; readonly token: string }[] = []

  constructor(
    private readonly run: () => Running,
    readonly task: string,
    private readonly agents: ReadonlyMap<string, string>,
  ) {}

  static async lay(run: () => Running, number: number): Promise<Table> {
    const task = await run().addTask({ id: `task-${number}`, workspace: ownTree(run()) })
    const agents = new Map<string, string>()
    for (const name of ['a', 'b']) agents.set(name, await run().addAgent(`${name}-${number}`))
    return new Table(run, task, agents)
  }

  agentId(name: string): string {
    return `${name}-${this.task.slice('task-'.length)}`
  }

  /** Sends the command, with a phase token of the current epoch where there is one and it is wanted. */
  async send(one: Command, usePhaseToken: boolean): Promise<void> {
    const { task } = this
    if (one.kind === 'lapse') return
    if (one.kind === 'cancel' || one.kind === 'resume')
      return void (await this.run().call('POST', `/tasks/${task}/${one.kind}`, this.run().operator, { reason: 'r' }))
    const agent = this.agents.get(one.by) ?? ''
    const state = await this.state()
    const current = this.#tokens.find((kept) => kept.epoch === state.epoch)?.token
    const mine = usePhaseToken && state.agent_id === this.agentId(one.by) ? (current ?? agent) : agent
    const [path, token, body] = this.#request(one, mine, agent)
    const answer = await this.run().call('POST', path, token, body)
    const given = answer.body.phase_token
    if (typeof given === 'string') this.#tokens.push({ epoch: (await this.state()).epoch, token: given })
  }

  #request(
    one: Exclude<Command, { kind: 'lapse' | 'cancel' | 'resume' }>,
    mine: string,
    agent: string,
  ): readonly [string, string, unknown] {
    const task_id = this.task
    if (one.kind === 'claim') return ['/tasks/claim', agent, { agent_id: this.agentId(one.by), task_id }]
    if (one.kind === 'release') return ['/tasks/release', mine, { task_id }]
    if (one.kind === 'tool')
      return ['/tools/check', mine, { task_id, tool_name: one.tool, args: ARGS.get(one.tool) ?? {} }]
    const body = {
      task_id,
      target_phase: one.to,
      ...(one.note ? { artifacts: { note: { text: 'done' } } } : {}),
      ...(one.again ? { claims: { again: true } } : {}),
    }
    return ['/tasks/transition', mine, body]
  }

  async state(): Promise<{ phase: string; epoch: number; status: string; agent_id: string | null }> {
    return (await this.run().call('GET', `/tasks/${this.task}`, this.run().operator)).body as never
  }

  /** Every token of an older epoch is refused. */
  async tryOlderTokens(epoch: number): Promise<void> {
    for (const older of this.#tokens.filter((kept) => kept.epoch < epoch).slice(-3)) {
      const answer = await this.run().call('GET', '/prompt', older.token)
      expect(answer, `epoch ${older.epoch} of ${epoch}`).toMatchObject({ status: 403, body: { code: 'token_stale' } })
    }
  }
}

function compare(table: Table, model: Model, state: Awaited<ReturnType<Table['state']>>, one: Command): void {
  const holder = model.status === 'active' ? { agent_id: table.agentId(model.holder ?? '') } : {}
  expect(state, JSON.stringify(one)).toMatchObject({
    phase: model.phase,
    epoch: model.epoch,
    status: model.status,
    ...holder,
  })
}

describe('random calls of two agents and an operator', () => {
  it(`[REQ-ATTACK-14] ${RUNS} sequences of calls end as the model says, older tokens stay dead, and a restart changes nothing`, async () => {
    let run = await start({ contract: CONTRACT, agentPerSecond: 1_000_000 })
    let number = 0
    const statuses = new Set<string>()
    const steps = fc.array(fc.tuple(command, fc.boolean()), { minLength: 6, maxLength: 14 })
    const property = fc.asyncProperty(steps, async (sequence) => {
      number += 1
      const restartAt = number % RESTART_EVERY === 0 ? Math.floor(sequence.length / 2) : -1
      const table = await Table.lay(() => run, number)
      let model = NEW
      for (const [index, [one, usePhaseToken]] of sequence.entries()) {
        if (index === restartAt) {
          const before = (await run.call('GET', '/tasks?limit=1000', run.operator)).body.tasks
          run = await run.restart()
          expect((await run.call('GET', '/tasks?limit=1000', run.operator)).body.tasks).toEqual(before)
        }
        model = expected(model, one, false)
        await table.send(one, usePhaseToken)
        const state = await table.state()
        compare(table, model, state, one)
        statuses.add(`${state.phase} ${state.status}`)
        await table.tryOlderTokens(state.epoch)
      }
    })
    try {
      await fc.assert(property, { numRuns: RUNS, seed: SEED })
      if (SEED === SEED_DEFAULT)
        for (const status of ['A active', 'B active', 'C active', 'A parked']) expect(statuses).toContain(status)
      expect((await run.call('GET', '/audit/verify', run.operator)).body).toMatchObject({ ok: true, problems: [] })
      expect(run.faults).toEqual([])
    } finally {
      await run.stop()
    }
  })
})
