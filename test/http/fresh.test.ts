import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { asked } from './asking.js'
import { type Running, start } from './harness.js'

const CONTRACT = `
name: fresh
version: "1"
phases:
  - id: A
    allowed_tools: [ask_user_question]
    gates: [{id: ok, type: approval, approvers: [human]}]
  - {id: B, allowed_tools: []}
enforcement: {reconcile: off}
`

describe('an agent whose task is cancelled while it waits for people', () => {
  let run: Running
  beforeAll(async () => {
    run = await start({ contract: CONTRACT })
  })
  afterAll(() => run.stop())

  it('[REQ-FRESH-1] is told so, and not that it looked at what is not its own', async () => {
    await run.addTask({ id: 'gone' })
    const token = await run.claim('waiter', await run.addAgent('waiter'), 'gone')
    const question = await asked(run, token, 'Which port?')
    const { body } = await run.call('POST', '/tasks/transition', token, { task_id: 'gone', target_phase: 'B' })
    const { id } = body.pending_approval as { id: string }
    expect((await run.call('GET', `/approvals/${id}`, token)).status).toBe(200)
    await run.call('POST', '/tasks/gone/cancel', run.operator, { reason: 'not needed' })
    for (const path of [`/approvals/${id}`, '/approvals/apr-99-gone', `/questions/${question}`]) {
      const told = await run.call('GET', path, token)
      expect([told.status, told.body.code], path).toEqual([409, 'task_not_active'])
    }
    const stranger = await run.call('GET', '/approvals/apr-3-another', token)
    expect([stranger.status, stranger.body.code]).toEqual([403, 'not_permitted'])
  })
})
