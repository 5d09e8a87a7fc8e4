import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { admit } from '../../src/core/identity/admit.js'
import { evolve } from '../../src/core/task/evolve.js'
import type { TaskState } from '../../src/core/task/state.js'
import { artifact, contractOf, factsOf, phase, World } from '../core/world.js'
import { depth } from '../depth.js'
import { type Command, DENIALS_MAX, expected, type Model, NEW, steps } from './model.js'

const RUNS = Number(process.env.PHASELOCK_SEQUENCES ?? depth(3000, 10_000))
const SEED = process.env.PHASELOCK_SEED === undefined ? undefined : Number(process.env.PHASELOCK_SEED)

const note = { type: 'note', schema: null, description: '', checks: [] }
const contract = contractOf(
  [
    phase('A', { allowedTools: ['read_files', 'bash'], forbiddenTools: ['bash'] }),
    phase('B', { allowedTools: ['write_files'], requiredArtifacts: [note] }),
    phase('C', { allowedTools: ['read_files'] }),
    phase('D'),
  ],
  {
    transitions: [
      { from: 'A', to: 'B', gate: null, when: null },
      { from: 'B', to: 'C', gate: null, when: null },
      { from: 'C', to: 'A', gate: null, when: 'again' },
      { from: 'C', to: 'D', gate: null, when: null },
    ],
    enforcement: { denialBudget: DENIALS_MAX } as never,
  },
)
function apply(world: World, one: Command): void {
  if (one.kind === 'claim') return void world.claim(one.by)
  if (one.kind === 'lapse') return void world.do({ type: 'lapse_lease' })
  if (one.kind === 'cancel') return void world.do({ type: 'cancel', reason: 'r' })
  if (one.kind === 'resume') return void world.do({ type: 'resume', reason: 'r', agentIsFree: true })
  if (!('by' in one)) return
  // The shell asks `admit` before it hands an agent's command to the core.
  if (admit(world.state, { kind: 'agent', agentId: one.by, instance: `${one.by}-1` }) !== null) return
  if (one.kind === 'tool') return void world.tool(one.tool)
  if (one.kind === 'release') return void world.do({ type: 'release', reason: 'r' })
  const facts = factsOf(world.state, { artifacts: one.note ? [artifact('note')] : [] })
  world.do({ type: 'transition', target: one.to, currentPhase: null, claims: one.again ? ['again'] : [], facts })
}

function seen(state: TaskState): Omit<Model, 'hasNote' | 'denials'> {
  const { held, epoch, phase: id, status } = state
  return { phase: id, epoch, holder: held?.agentId ?? null, status: status as Model['status'] }
}

function same(model: Model, state: TaskState): boolean {
  const { phase: id, epoch, holder, status } = seen(state)
  // Who held a task that is parked or over is no right of anybody: only the active holder counts.
  const isHolder = model.status !== 'active' || holder === model.holder
  return model.phase === id && model.epoch === epoch && model.status === status && isHolder
}

describe('random commands against a second model of the rules', () => {
  it(`[REQ-ATTACK-13] ${RUNS} sequences end as the model says, revive no token, and replay to the same state`, () => {
    const reached = new Set<string>()
    const property = fc.property(steps, (sequence) => {
      const world = new World(contract)
      let model: Model = NEW
      const tokens: Extract<Parameters<typeof admit>[1], { kind: 'phase' }>[] = []
      for (const { command: one, isLate } of sequence) {
        if (isLate) world.now += 2_000_000
        const leaseIsOver = world.now >= (world.state.held?.leaseExpiresAt ?? Number.POSITIVE_INFINITY)
        model = expected(model, one, leaseIsOver)
        apply(world, one)
        if (!same(model, world.state))
          throw new Error(
            `after ${JSON.stringify(one)} the model says ${JSON.stringify(model)}, the core ${JSON.stringify(seen(world.state))}`,
          )
        reached.add(`${model.phase} ${model.status}`)
        const { held, epoch } = world.state
        if (held !== null)
          tokens.push({
            kind: 'phase',
            agentId: held.agentId,
            taskId: 't',
            phase: world.state.phase,
            epoch,
            contract: contract.hash,
          })
        for (const token of tokens)
          if (token.epoch < epoch && admit(world.state, token) === null) throw new Error('an older token was admitted')
      }
      const replayed = world.events.reduce<TaskState | null>((state, event) => evolve(state, event), null)
      if (JSON.stringify(replayed, asLists) !== JSON.stringify(world.state, asLists)) throw new Error('replay differs')
    })
    fc.assert(property, { numRuns: RUNS, ...(SEED === undefined ? {} : { seed: SEED }) })
    // A test that never got anywhere would prove nothing.
    for (const place of [
      'A active',
      'B active',
      'C active',
      'D completed',
      'A parked',
      'B parked',
      'B interrupted',
      'B cancelled',
    ])
      expect(reached, place).toContain(place)
  })
})

function asLists(_: string, value: unknown): unknown {
  return value instanceof Map ? [...value] : value
}
