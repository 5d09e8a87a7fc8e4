import { afterEach, describe, expect, it } from 'vitest'
import { contractWith, openStage, type Stage, until } from './stage.js'

const RUN_MS_MAX = 300_000
let stage: Stage
afterEach(() => stage.stop())

describe('a user who follows the log of an agent', () => {
  it(
    '[REQ-FRESH-2] is told when it is started again',
    async () => {
      stage = await openStage(contractWith({ crash: '{max_retries: 3, backoff_seconds: 600}' }))
      const { agentId } = await stage.spawn(['exit:3'])
      const log = await until(
        () => stage.log(agentId),
        (text) => text.includes('again'),
      )
      expect(log).toMatch(/^--- \S+ it ended with code 3\n--- \S+ it is started again in (600|599) seconds\n$/m)
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-FRESH-2] is told that it was ended because it was silent',
    async () => {
      stage = await openStage(contractWith({ leaseSeconds: 1, crash: '{max_retries: 3, backoff_seconds: 600}' }))
      const { agentId } = await stage.spawn(['hang'])
      const log = await until(
        () => stage.log(agentId),
        (text) => text.includes('again'),
      )
      expect(log).toMatch(
        /it made no call during its lease, and was stopped\n--- \S+ it is started again in \d+ seconds\n/,
      )
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-FRESH-2] is told that it waits for people',
    async () => {
      const phases =
        'phases:\n  - {id: PLAN, allowed_tools: [], gates: [{id: ok, type: approval, approvers: [human]}]}\n  - {id: DONE, allowed_tools: []}\n'
      stage = await openStage(contractWith({ phases }))
      const { agentId } = await stage.spawn(['claim', 'go:DONE'])
      const log = await until(
        () => stage.log(agentId),
        (text) => text.includes('waits'),
      )
      expect(log).toMatch(/it ended with code 0\n--- \S+ it waits for an approval\n$/)
    },
    RUN_MS_MAX,
  )
})
