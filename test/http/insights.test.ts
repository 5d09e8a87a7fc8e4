import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, ownTree, type Running, start } from './harness.js'

const contract = `
name: measured
version: "1"
phases:
  - id: PLAN
    allowed_tools: [write_files]
    tool_constraints: {write_files: {allowed_patterns: ["docs/**"]}}
    gates:
      - id: plan_ok
        type: approval
        approvers: [human]
        blockers:
          - {check: file_exists, path: docs/plan, message: The plan is written}
  - id: IMPL
    allowed_tools: [write_files]
    gates:
      - {id: impl_ok, type: validation, blockers: [{check: file_exists, path: src/it, message: It is written}]}
  - id: DONE
    allowed_tools: []
enforcement: {reconcile: block, denial_budget: 3}
`
const BEGAN = Date.parse('2026-03-01T10:00:00Z')
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

let run: Running
const insights = (query = ''): Promise<Answer> => run.call('GET', `/insights${query}`, run.operator)
const at = (ms: number): string => new Date(ms).toISOString()

/** One task by one agent, with the clock moved between its steps. */
class Worker {
  #token = ''
  constructor(readonly id: string) {}

  async begin(): Promise<void> {
    await run.addTask({ id: this.id, workspace: ownTree(run) })
    this.#token = await run.claim(`agent-${this.id}`, await run.addAgent(`agent-${this.id}`), this.id)
  }
  write(path: string): Promise<Answer> {
    const args = { path, content: 'x\n' }
    return run.call('POST', '/tools/execute', this.#token, { task_id: this.id, tool_name: 'write_files', args })
  }
  async leave(target_phase: string): Promise<Answer> {
    const answer = await run.call('POST', '/tasks/transition', this.#token, { task_id: this.id, target_phase })
    if (typeof answer.body.phase_token === 'string') this.#token = answer.body.phase_token
    return answer
  }
  use(message_id: string, input_tokens: number): Promise<Answer> {
    return run.call('POST', '/usage', this.#token, { input_tokens, output_tokens: 10, message_id })
  }
  async approved(): Promise<string> {
    const { id, digest } = (await this.leave('IMPL')).body.pending_approval as { id: string; digest: string }
    wait(10 * MINUTE)
    await run.call('POST', `/approvals/${id}/decision`, run.operator, { decision: 'approve', digest })
    await this.leave('IMPL')
    return id
  }
}

const wait = (ms: number): void => {
  run.now = (run.now ?? 0) + ms
}

let approvalId = ''

beforeAll(async () => {
  run = await start({ contract })
  for (const folder of ['docs', 'src']) mkdirSync(join(run.workspace, folder))
  run.now = BEGAN
  const careful = new Worker('careful')
  await careful.begin()
  await careful.write('docs/plan')
  await careful.use('m1', 90)
  await careful.use('m1', 190)
  approvalId = await careful.approved()
  await careful.leave('DONE')
  wait(5 * MINUTE)
  await careful.write('src/it')
  await careful.leave('DONE')
  wait(DAY)
  const hasty = new Worker('hasty')
  await hasty.begin()
  await hasty.leave('IMPL')
  for (const path of ['src/a', 'src/b']) await hasty.write(path)
  const left = new Worker('left')
  await left.begin()
  await run.call('POST', '/tasks/left/cancel', run.operator, { reason: 'not needed' })
})
afterAll(async () => {
  expect(run.faults).toEqual([])
  await run.stop()
})

describe('insights', () => {
  it('[REQ-INSIGHTS-2] refuses a time that ends before it begins, what is no time, an unknown contract, and agents', async () => {
    expect(await insights(`?since=${at(BEGAN)}&until=${at(BEGAN - 1)}`)).toMatchObject({ status: 400 })
    for (const since of ['yesterday', '2026-13-01T00:00:00Z', '1'])
      expect(await insights(`?since=${since}`)).toMatchObject({ status: 400 })
    expect(await insights('?contract=other')).toMatchObject({ status: 404, body: { code: 'not_found' } })
    const agent = await run.addAgent('curious')
    expect(await run.call('GET', '/insights', agent)).toMatchObject({ status: 403, body: { code: 'not_permitted' } })
  })

  it('[REQ-INSIGHTS-1] counts what the run did', async () => {
    const { status, body } = await insights()
    expect(status).toBe(200)
    expect(body).toMatchObject({
      tasks: { total: 3, completed: 1, cancelled: 1, parked: 1, open: 0 },
      first_try: [
        { phase: 'PLAN', gate: 'plan_ok', attempts: 2, passed_first: 1, task_ids: ['careful', 'hasty'] },
        { phase: 'IMPL', gate: 'impl_ok', attempts: 1, passed_first: 0, task_ids: ['careful'] },
      ],
      refusals: {
        total: 4,
        by_code: [
          { key: 'constraint_violation', count: 2, task_ids: ['hasty'] },
          { key: 'gate_blocked', count: 2, task_ids: ['careful', 'hasty'] },
        ],
        by_phase: [
          { key: 'PLAN', count: 3, task_ids: ['hasty'] },
          { key: 'IMPL', count: 1, task_ids: ['careful'] },
        ],
        by_agent: [
          { key: 'agent-hasty', count: 3 },
          { key: 'agent-careful', count: 1 },
        ],
        matrix: expect.arrayContaining([{ phase: 'PLAN', code: 'constraint_violation', count: 2 }]),
      },
      phases: [
        { phase: 'PLAN', visits: 3, seconds: { max: 600 }, tokens: { median: 0, total: 200 } },
        { phase: 'IMPL', visits: 1, seconds: { median: 300, p10: 300, max: 300 } },
        { phase: 'DONE', visits: 1, seconds: { max: 0 } },
      ],
      stuck: [{ phase: 'PLAN', reason: 'constraint_violation', count: 1, task_ids: ['hasty'] }],
      approvals: { count: 1, waiting: { median: 600, p90: 600, max: 600 } },
      per_day: [
        { day: '2026-03-01', completed: 1, refusals: 1 },
        { day: '2026-03-02', completed: 0, refusals: 3 },
      ],
      truncated: false,
    })
    const { histogram } = body.approvals as { histogram: readonly { count: number; up_to_seconds: number | null }[] }
    expect(histogram.filter(({ count }) => count > 0)).toEqual([
      { up_to_seconds: 900, count: 1, approval_ids: [approvalId] },
    ])
    expect(histogram.at(-1)?.up_to_seconds).toBeNull()
  })

  it('[REQ-INSIGHTS-1] counts only what happened in the time, and under the contract', async () => {
    expect(await insights(`?since=${at(BEGAN + DAY / 2)}`)).toMatchObject({
      body: { tasks: { total: 2, completed: 0, parked: 1 }, refusals: { total: 3 }, approvals: { count: 0 } },
    })
    expect(await insights(`?until=${at(BEGAN + DAY / 2)}`)).toMatchObject({
      body: { tasks: { total: 1, completed: 1 }, refusals: { total: 1 }, since: at(BEGAN + DAY / 2 - 30 * DAY) },
    })
    expect(await insights('?contract=measured')).toMatchObject({ body: { tasks: { total: 3 } } })
    const added = await run.call('POST', '/contracts', run.operator, { source: contract.replace('measured', 'unused') })
    expect(await insights(`?contract=${String(added.body.hash)}`)).toMatchObject({
      body: { tasks: { total: 0 }, first_try: [], phases: [], stuck: [], per_day: [], approvals: { count: 0 } },
    })
  })
})
