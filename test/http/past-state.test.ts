import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Running, start } from './harness.js'

const contract = `
name: remembered
version: "1"
phases:
  - id: PLAN
    name: Planning
    allowed_tools: [write_files]
    required_artifacts: [{type: plan}]
    gates:
      - id: plan_ok
        type: approval
        approvers: [human]
        blockers:
          - {check: file_exists, path: docs/plan, message: The plan is written}
  - id: IMPL
    allowed_tools: [write_files]
  - id: DONE
    allowed_tools: []
enforcement: {reconcile: block}
`

interface Shown {
  readonly at: { readonly seq: number; readonly type: string }
  readonly last_seq: number
  readonly task: { readonly phase: string; readonly status: string; readonly visit: number }
  readonly gates: readonly { readonly id: string; readonly status: string; readonly checks: readonly object[] }[]
}

let run: Running
let token = ''
let events: readonly { readonly seq: number; readonly type: string }[] = []
const leave = async (target_phase: string, artifacts = {}) => {
  const answer = await run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase, artifacts })
  if (typeof answer.body.phase_token === 'string') token = answer.body.phase_token
  return answer
}
const write = (path: string) =>
  run.call('POST', '/tools/execute', token, { task_id: 't', tool_name: 'write_files', args: { path, content: 'x\n' } })
const look = (at?: number | string, who = run.operator) =>
  run.call('GET', `/tasks/t/state${at === undefined ? '' : `?at=${at}`}`, who)
const shown = async (at?: number): Promise<Shown> => {
  const answer = await look(at)
  expect(answer.status).toBe(200)
  return answer.body as unknown as Shown
}
const seqOf = (type: string, nth = 0): number => events.filter((event) => event.type === type)[nth]?.seq ?? 0

beforeAll(async () => {
  run = await start({ contract })
  mkdirSync(join(run.workspace, 'docs'))
  await run.addTask({ id: 'before' })
  await run.addTask({ id: 't' })
  token = await run.claim('a', await run.addAgent('a'), 't')
  await leave('IMPL', { plan: { text: 'short' } })
  await write('docs/plan')
  const waiting = await leave('IMPL', { plan: { text: 'longer' } })
  const { id, digest } = waiting.body.pending_approval as { id: string; digest: string }
  await run.call('POST', `/approvals/${id}/decision`, run.operator, { decision: 'approve', digest })
  await leave('IMPL', { plan: { text: 'longer' } })
  await write('docs/more')
  await leave('DONE')
  const timeline = await run.call('GET', '/tasks/t/timeline', run.operator)
  events = timeline.body.events as typeof events
})
afterAll(async () => {
  expect(run.faults).toEqual([])
  await run.stop()
})

describe('a task as it was', () => {
  it('[REQ-PAST-2] before its first event, after the newest, and what is no number is refused', async () => {
    const first = events[0]?.seq ?? 0
    expect(await look(first - 1)).toMatchObject({
      ...{
        status: 400,
        body: { code: 'invalid_request', detail: expect.stringContaining(`began with event ${first}`) },
      },
    })
    expect(await look(100_000)).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('newest event') },
    })
    for (const at of ['0', '-1', '1.5', 'now', '1e9', '99999999999999999999'])
      expect({ at, ...(await look(at)) }).toMatchObject({ at, status: 400 })
    expect(await run.call('GET', '/tasks/none/state', run.operator)).toMatchObject({ status: 404 })
    expect(await look(first, await run.addAgent('b'))).toMatchObject({ status: 403, body: { code: 'not_permitted' } })
  })

  it('[REQ-PAST-1] is now what the task is', async () => {
    const task = await run.call('GET', '/tasks/t', run.operator)
    const now = await shown()
    expect(now.last_seq).toBe(events.at(-1)?.seq)
    expect(task.body).toMatchObject(now.task)
    expect(now).toMatchObject({
      phases: [
        { id: 'PLAN', name: 'Planning', status: 'done', visits: [{ visit: 1, left_at: expect.any(String) }] },
        { id: 'IMPL', status: 'done', visits: [{ visit: 2 }] },
        { id: 'DONE', status: 'done', visits: [{ visit: 3, left_at: null }] },
      ],
    })
  })

  it('[REQ-PAST-1] follows gates, artifacts, approvals and changed paths event by event', async () => {
    expect(await shown(seqOf('task_created'))).toMatchObject({ task: { status: 'queued', visit: 0 }, artifacts: [] })
    expect(await shown(seqOf('gate_blocked'))).toMatchObject({
      ...{ task: { phase: 'PLAN' }, artifacts: [{ type: 'plan', version: 1, seq: seqOf('transition_requested') }] },
      gates: [
        {
          ...{ id: 'plan_ok', phase: 'PLAN', type: 'approval', status: 'blocked' },
          checks: [{ check: 'file_exists', status: 'failed', grade: 'artifact', remedy: expect.any(String) }],
        },
      ],
      ...{ approvals: [], changed_paths: [] },
    })
    expect(await shown(seqOf('gate_blocked', 1))).toMatchObject({
      artifacts: [{ type: 'plan', version: 2, seq: seqOf('transition_requested', 1) }],
      gates: [{ status: 'waiting', checks: [{ status: 'passed' }] }],
      ...{ approvals: [{ status: 'pending' }], changed_paths: ['docs/plan'], task: { status: 'awaiting_approval' } },
    })
    expect(await shown(seqOf('phase_entered', 1))).toMatchObject({
      phases: [{ status: 'done' }, { status: 'current' }, { status: 'ahead' }],
      ...{ gates: [{ status: 'passed' }], approvals: [{ status: 'used' }], changed_paths: [] },
    })
  })

  it('[REQ-PAST-1] an event of another task between two of its own shows the earlier one', async () => {
    await run.addTask({ id: 'after' })
    const last = events.at(-1)?.seq ?? 0
    expect((await shown(last + 1)).at.seq).toBe(last)
  })
})
