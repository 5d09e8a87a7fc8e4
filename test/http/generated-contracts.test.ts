import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadContractText } from '../../src/contract/load/load-contract.js'
import { CHECK_NAMES } from '../../src/core/contract/contract.js'
import { depth } from '../depth.js'
import { contractArbitrary, IN_WORKFLOWS, type MadeContract, type MadePhase, PARTS } from './contract-maker.js'
import { type Answer, type Running, start } from './harness.js'
import { agree } from './voting.js'

const REFUSED_AS = ['gate_cannot_open', 'missing_artifact_for_check', 'unknown_command'].map(
  (code) => `contract.${code}`,
)
const REQUESTS_MAX = 6

let run: Running
let made = 0
const git = (tree: string, ...args: string[]) => execFileSync('git', args, { cwd: tree, encoding: 'utf8' })

beforeAll(async () => {
  run = await start()
})
afterAll(() => run.stop())

/** An agent that does what each phase asks for, and the operator and the reviewers beside it. */
class HonestAgent {
  private constructor(
    readonly task: string,
    readonly tree: string,
    private token: string,
  ) {}

  static async claim(contract: string): Promise<HonestAgent> {
    const task = `made-${made}`
    const tree = mkdtempSync(join(realpathSync(run.workspace), '..', 'made-'))
    git(tree, 'init', '-q')
    writeFileSync(join(tree, 'README.md'), 'A project\n')
    git(tree, 'add', '.')
    git(tree, '-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-qm', 'start')
    await run.addTask({ id: task, workspace: tree, contract })
    return new HonestAgent(task, tree, await run.claim(`agent-${made}`, await run.addAgent(`agent-${made}`), task))
  }

  /** Does the work of a phase, and leaves it or completes the task. */
  async finish(phase: MadePhase, target: string): Promise<void> {
    for (const [path, content] of Object.entries(phase.writes)) await this.use('write_files', { path, content })
    if (phase.commits && git(this.tree, 'status', '--porcelain') !== '')
      await this.use('git_commit', { message: phase.id })
    let answer = await this.ask(phase, target)
    for (let requests = 1; answer.body.allowed !== true && requests < REQUESTS_MAX; requests += 1) {
      if (!(await this.helped(phase, answer))) break
      answer = await this.ask(phase, target)
    }
    expect(answer.body, JSON.stringify(answer.body.blockers)).toMatchObject({ allowed: true })
  }

  private async ask({ hands, given, claim }: MadePhase, target_phase: string): Promise<Answer> {
    const body = { task_id: this.task, target_phase, artifacts: hands, evidence: given }
    const claims = claim === null ? {} : { claims: { [claim]: true } }
    const answer = await run.call('POST', '/tasks/transition', this.token, { ...body, ...claims })
    if (typeof answer.body.phase_token === 'string') this.token = answer.body.phase_token
    return answer
  }

  /** What others have to do before the gate opens; false when nobody is waited for. */
  private async helped(phase: MadePhase, { body }: Answer): Promise<boolean> {
    const approval = body.pending_approval as { id: string; digest: string } | undefined
    const vote = body.pending_consensus as { id: string } | undefined
    if (approval !== undefined && approval !== null) {
      const { id, digest } = approval
      await run.call('POST', `/approvals/${id}/decision`, run.operator, { decision: 'approve', digest })
      return true
    }
    if (vote !== undefined && vote !== null) {
      await agree(() => run, vote.id)
      return true
    }
    for (const name of phase.reviewers) {
      const added = await run.call('POST', `/tasks/${this.task}/reviewers`, run.operator, { name })
      const report = { report: { status: 'completed' } }
      await run.call('POST', `/tasks/${this.task}/reviews`, String(added.body.review_token), report)
    }
    return phase.reviewers.length > 0
  }

  private async use(tool_name: string, args: Record<string, unknown>): Promise<void> {
    const answer = await run.call('POST', '/tools/execute', this.token, { task_id: this.task, tool_name, args })
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  }
}

async function complete({ source, phases }: MadeContract): Promise<void> {
  const contract = `made-${made}`
  const named = source.replace('"name": "made"', `"name": "${contract}"`)
  const added = await run.call('POST', '/contracts', run.operator, { source: named })
  expect(added.status, JSON.stringify(added.body)).toBe(201)
  const agent = await HonestAgent.claim(contract)
  for (const [index, phase] of phases.entries()) {
    await agent.finish(phase, phases[index + 1]?.id ?? phase.id)
    const { body } = await run.call('GET', `/tasks/${agent.task}`, run.operator)
    if (body.status === 'completed') break
  }
  expect((await run.call('GET', `/tasks/${agent.task}`, run.operator)).body).toMatchObject({ status: 'completed' })
}

describe('generated contracts', () => {
  it('[REQ-CONTRACT-28] are made of every check', () => {
    const scenes = (['red', 'green'] as const).map((tests) => ({
      id: 'P',
      observed: true,
      tests,
      hadRed: true,
      hadPlan: true,
    }))
    const names = scenes.flatMap((scene) =>
      Object.values(PARTS).flatMap((part) => (part(scene).blockers ?? []).map(({ check }) => check)),
    )
    expect(CHECK_NAMES.filter((name) => !names.includes(name)).toSorted()).toEqual(IN_WORKFLOWS.toSorted())
  })

  it(
    '[REQ-CONTRACT-28] each that loads is completed by an honest agent, and the others name what can never hold',
    async () => {
      await fc.assert(
        fc.asyncProperty(contractArbitrary, async (contract) => {
          made += 1
          const loaded = await loadContractText(contract.source, { file: 'made.yaml', baseDir: null })
          if (loaded.ok) return complete(contract)
          const errors = loaded.diagnostics.filter((one) => one.severity === 'error')
          expect(contract.isWild, JSON.stringify(errors)).toBe(true)
          expect(errors.filter((one) => !REFUSED_AS.includes(one.code))).toEqual([])
        }),
        { numRuns: depth(2, 200), endOnFailure: true },
      )
    },
    depth(120_000, 1_800_000),
  )
})
