import { afterEach, describe, expect, it } from 'vitest'
import { contractWith, openStage, type Stage, until } from './stage.js'

const RUN_MS_MAX = 300_000
const PHASES = `phases:
  - {id: PLAN, allowed_tools: [], gates: [{id: ok, type: approval, approvers: [human]}]}
  - {id: DONE, allowed_tools: []}
`
let stage: Stage
afterEach(() => stage.stop())

describe('an agent that ended while an approval is awaited', () => {
  it(
    '[REQ-BYHAND-3] has its lease extended now and then, whatever else happens to the task',
    async () => {
      stage = await openStage(contractWith({ phases: PHASES, leaseSeconds: 60 }))
      const { agentId, taskId } = await stage.spawn(['claim', 'go:DONE'])
      await until(
        () => stage.show(agentId),
        (one) => one.state === 'waiting',
      )
      const { call, operator } = stage.server
      // An event of the task wakes what watches over the agent.
      for (const priority of [1, 2, 3]) await call('PATCH', `/tasks/${taskId}`, operator, { priority })
      await new Promise((resolve) => setTimeout(resolve, 2_000))
      const { body } = await call('GET', `/tasks/${taskId}/timeline`, operator)
      const extended = (body.events as { type: string }[]).filter((one) => one.type === 'lease_extended')
      expect(extended.length).toBeLessThanOrEqual(1)
    },
    RUN_MS_MAX,
  )
})

const WRITING = `phases:
  - {id: PLAN, allowed_tools: [write_files]}
  - {id: DONE, allowed_tools: []}
`

describe('an agent that waits for paths', () => {
  it(
    '[REQ-BYHAND-4] is registered again once, however often its claim is tried',
    async () => {
      stage = await openStage(contractWith({ phases: WRITING, crash: '{max_retries: 3, backoff_seconds: 1}' }))
      const { agentId, taskId } = await stage.spawn(['exit:3'])
      await until(
        () => stage.task(taskId),
        (one) => one.status === 'interrupted',
      )
      const ada = await stage.server.addAgent('ada')
      await stage.server.addTask({ id: 'other' })
      const token = await stage.server.claim('ada', ada, 'other')
      await new Promise((resolve) => setTimeout(resolve, 3_000))
      const registered = (await stage.facts(agentId)).filter((one) => one.type === 'agent_registered')
      expect(registered.length).toBeLessThanOrEqual(2)
      await stage.server.call('POST', '/tasks/release', token, { task_id: 'other' })
      await until(
        () => stage.show(agentId),
        (one) => Number(one.restarts) > 0,
      )
    },
    RUN_MS_MAX,
  )
})
