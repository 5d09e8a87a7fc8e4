import { afterEach, describe, expect, it } from 'vitest'
import { contractWith, openStage, type Stage, until } from './stage.js'

const RUN_MS_MAX = 300_000
const PHASES = `phases:
  - {id: PLAN, allowed_tools: [], gates: [{id: ok, type: approval, approvers: [human]}]}
  - {id: DONE, allowed_tools: []}
`
let stage: Stage
afterEach(async () => {
  expect(stage.server.faults).toEqual([])
  await stage.stop()
})

const revoke = (agentId: string) =>
  stage.server.call('POST', `/agents/${agentId}/revoke`, stage.server.operator, { reason: 'it lies' })
const REVOKED = { outcome: 'stopped', reason: 'Its tokens were revoked.', restarts: 0 }

describe('a started agent whose tokens an operator revoked', () => {
  it(
    '[REQ-BYHAND-15] is ended, gets no others, and its task can be claimed again',
    async () => {
      stage = await openStage(contractWith({ crash: '{max_retries: 3, backoff_seconds: 1}' }))
      const { agentId, taskId } = await stage.spawn(['claim', 'hang'])
      await until(
        () => stage.log(agentId),
        (text) => text.includes('claim 200'),
      )
      expect((await revoke(agentId)).status).toBe(200)
      expect(await stage.ended(agentId)).toMatchObject(REVOKED)
      expect(await stage.task(taskId)).toMatchObject({ status: 'queued', agent_id: null })
      const { agents } = (await stage.server.call('GET', '/agents', stage.server.operator)).body
      expect(agents).toMatchObject([{ agent_id: agentId, status: 'revoked' }])
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-BYHAND-15] is not started again with the decision it waited for',
    async () => {
      stage = await openStage(contractWith({ phases: PHASES }))
      const { agentId, taskId } = await stage.spawn(['claim', 'go:DONE'])
      await until(
        () => stage.show(agentId),
        (one) => one.state === 'waiting',
      )
      await revoke(agentId)
      expect(await stage.ended(agentId)).toMatchObject(REVOKED)
      expect(await stage.task(taskId)).toMatchObject({ agent_id: null })
    },
    RUN_MS_MAX,
  )
})
