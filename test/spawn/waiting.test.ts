import { afterEach, describe, expect, it } from 'vitest'
import { contractWith, openStage, type Stage, until } from './stage.js'

const RUN_MS_MAX = 60_000
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
