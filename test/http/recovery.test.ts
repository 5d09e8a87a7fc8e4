import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ownTree, type Running, start } from './harness.js'

const CONTRACT = `
name: careful
version: "1"
phases:
  - id: ASK
    allowed_tools: []
    gates:
      - {id: ask, type: approval, approvers: [review_agent, human], timeout_seconds: 100000}
  - {id: DONE, allowed_tools: []}
enforcement: {lease_seconds: 60}
recovery: {agent_crash: {max_retries: 1, backoff_seconds: 30}, gate_timeout: {action: escalate_to_human}}
monitoring:
  alerts:
    - {condition: "task_stuck_in_phase > 1h", message: "Stuck \\e[31mred"}
    - {condition: approval_waiting, above_seconds: 900}
`

describe('recovery and alerts', () => {
  let run: Running
  const t0 = Date.now()
  const until = async (path: string, holds: (body: Record<string, unknown>) => boolean) => {
    for (let i = 0; i < 120; i += 1) {
      const { body } = await run.call('GET', path, run.operator)
      if (holds(body)) return body
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    throw new Error(`${path} did not become as expected`)
  }
  const claim = (agent: string, token: string, task_id?: string) =>
    run.call('POST', '/tasks/claim', token, { agent_id: agent, ...(task_id === undefined ? {} : { task_id }) })

  beforeAll(async () => {
    run = await start({ contract: CONTRACT })
    run.now = t0
  })
  afterAll(() => run.stop())

  it('[REQ-RECOVERY-3] a crashed task is offered to nobody during its back-off, others are, and it is parked in the end', async () => {
    const [a, b] = [await run.addAgent('a'), await run.addAgent('b')]
    await run.addTask({ id: 'c' })
    await claim('a', a, 'c')
    run.now = t0 + 61_000
    const lapsed = await until('/tasks/c', (task) => task.status === 'interrupted')
    expect(lapsed.claimable_at).toBe(new Date(t0 + 61_000 + 30_000).toISOString())
    expect(await claim('b', b, 'c')).toMatchObject({ status: 409, body: { code: 'task_not_active' } })
    expect(await claim('b', b)).toMatchObject({ status: 404, body: { code: 'no_task_available' } })
    await run.addTask({ id: 'other' })
    expect(await claim('b', b)).toMatchObject({ status: 200, body: { task: { id: 'other' } } })
    run.now = t0 + 92_000
    expect(await claim('a', a, 'c')).toMatchObject({ status: 200 })
    run.now = t0 + 160_000
    const parked = await until('/tasks/c', (task) => task.status === 'parked')
    expect(parked.parked_reason).toContain('recovery.agent_crash')
    await run.call('POST', '/tasks/c/cancel', run.operator, { reason: 'r' })
    await run.call('POST', '/tasks/other/cancel', run.operator, { reason: 'r' })
  })

  it('[REQ-ALERT-3] an alert is raised once, shown everywhere operators look, and cleared', async () => {
    const agent = await run.addAgent('w')
    await run.addTask({ id: 'w' })
    const token = String((await claim('w', agent, 'w')).body.phase_token)
    const move = () => run.call('POST', '/tasks/transition', token, { task_id: 'w', target_phase: 'DONE' })
    const { body } = await move()
    run.now = (run.now ?? 0) + 901_000
    const waiting = await until('/tasks/w', (task) => (task.alerts as unknown[]).length === 1)
    expect(waiting.alerts).toMatchObject([{ alert: 'approval_waiting > 900', condition: 'approval_waiting' }])
    const overview = await until('/state/snapshot', (one) => (one.alerts as unknown[]).length === 1)
    expect(overview.alerts).toMatchObject([{ task_id: 'w', alert: 'approval_waiting > 900' }])
    const metrics = await run.call('GET', '/metrics', null)
    expect(String(metrics.body.text)).toContain('phaselock_alerts{condition="approval_waiting"} 1')
    const { id, digest } = body.pending_approval as { id: string; digest: string }
    await run.call('POST', `/approvals/${id}/decision`, run.operator, { decision: 'reject', digest, comment: 'no' })
    await until('/tasks/w', (task) => (task.alerts as unknown[]).length === 0)
    const types = (
      (await run.call('GET', '/tasks/w/timeline?limit=1000', run.operator)).body.events as { type: string }[]
    ).map((event) => event.type)
    expect(types.filter((type) => type.startsWith('alert_'))).toEqual(['alert_raised', 'alert_cleared'])
    await run.call('POST', '/tasks/w/cancel', run.operator, { reason: 'r' })
  })

  it('[REQ-ALERT-3] what was raised is known again after a restart, and is not raised twice', async () => {
    const agent = await run.addAgent('s')
    await run.addTask({ id: 's' })
    await claim('s', agent, 's')
    run.now = (run.now ?? 0) + 3_601_000
    const stuck = (task: Record<string, unknown>) => (task.alerts as unknown[]).length === 1
    await until('/tasks/s', stuck)
    const later = run.now
    run = await run.restart()
    run.now = later
    await until('/state/snapshot', stuck)
    const { body } = await run.call('GET', '/tasks/s/timeline?limit=1000', run.operator)
    const raised = (body.events as { type: string }[]).filter((event) => event.type === 'alert_raised')
    expect(raised).toHaveLength(1)
    await run.call('POST', '/tasks/s/cancel', run.operator, { reason: 'r' })
  })

  it('[REQ-APPROVAL-14] a reviewer that the gate names approves with its review token; no other token does', async () => {
    const agent = await run.addAgent('i')
    await run.addTask({ id: 'i' })
    const token = String((await claim('i', agent, 'i')).body.phase_token)
    const move = () => run.call('POST', '/tasks/transition', token, { task_id: 'i', target_phase: 'DONE' })
    const mint = async (name: string, task = 'i') =>
      String((await run.call('POST', `/tasks/${task}/reviewers`, run.operator, { name })).body.review_token)
    const asked = (await move()).body.pending_approval as { id: string; digest: string }
    const answer = (as: string) =>
      run.call('POST', `/approvals/${asked.id}/decision`, as, { decision: 'approve', digest: asked.digest })
    expect(await answer(token)).toMatchObject({ status: 403 })
    expect(await answer(agent)).toMatchObject({ status: 403 })
    expect(await answer(await mint('somebody'))).toMatchObject({ status: 403, body: { code: 'not_permitted' } })
    expect(await run.call('POST', '/tasks/i/reviewers', run.operator, { name: 'human' })).toMatchObject({ status: 400 })
    await run.addTask({ id: 'j', workspace: ownTree(run) })
    await claim('j', await run.addAgent('j'), 'j')
    const elsewhere = await mint('review_agent', 'j')
    expect(await answer(elsewhere)).toMatchObject({ status: 403, body: { code: 'not_permitted' } })
    expect(await run.call('GET', `/approvals/${asked.id}`, elsewhere)).toMatchObject({ status: 403 })
    const old = await mint('review_agent')
    const named = await mint('review_agent')
    expect(await answer(old)).toMatchObject({ status: 403, body: { code: 'token_stale' } })
    const snapshot = await run.call('GET', '/state/snapshot', named)
    expect(snapshot.body.pending_approval).toMatchObject(asked)
    expect(await run.call('GET', `/approvals/${asked.id}`, named)).toMatchObject({ status: 200 })
    expect(await answer(named)).toMatchObject({
      status: 200,
      body: { status: 'approved', decisions: [{ by: 'reviewer:review_agent', decision: 'approve' }] },
    })
    expect((await move()).body).toMatchObject({ allowed: true, status: 'completed' })
    expect(run.faults).toEqual([])
  })
})
