import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Running, start } from '../http/harness.js'

const CONTRACT = `
name: approved
version: "1"
phases:
  - id: BUILD
    allowed_tools: [write_files]
    gates: [{id: human, type: approval, approvers: [human]}]
  - {id: DONE, allowed_tools: []}
enforcement: {confinement: best_effort}
`

describe('work that is changed after it was approved', () => {
  let run: Running
  beforeAll(async () => {
    run = await start({ contract: CONTRACT })
  })
  afterAll(() => run.stop())

  it.each(['src/main.js', 'dist/main.js', 'target/main.rs', 'coverage/gauge.js', '.tox/x.py', 'src/__pycache__/x.py'])(
    '[REQ-BOUND-1] an approval does not hold for another content of %s',
    async (path) => {
      const id = `t-${path.replace(/\W/g, '-')}`
      await run.addTask({ id, title: id })
      const agent = await run.addAgent(id)
      const token = await run.claim(id, agent, id)
      const write = (content: string) =>
        run.call('POST', '/tools/execute', token, { task_id: id, tool_name: 'write_files', args: { path, content } })
      const go = async () =>
        (await run.call('POST', '/tasks/transition', token, { task_id: id, target_phase: 'DONE' })).body
      expect((await write('good()')).status).toBe(200)
      const asked = await go()
      const pending = asked.pending_approval as { id: string; digest: string }
      const decided = await run.call('POST', `/approvals/${pending.id}/decision`, run.operator, {
        decision: 'approve',
        digest: pending.digest,
      })
      expect(decided.status).toBe(200)
      expect((await write('evil()')).status).toBe(200)
      expect(await go()).toMatchObject({ allowed: false })
      await run.call('POST', `/tasks/${id}/cancel`, run.operator, { reason: 'done' })
    },
  )
})
