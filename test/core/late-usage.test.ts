import { describe, expect, it } from 'vitest'
import { compileRule } from '../../src/core/rules/rule.js'
import { contractOf, phase, T0, World } from './world.js'

const RULE = compileRule('spend', { type: 'token_budget', max_tokens: 10, on_violation: 'park' })
const USAGE = {
  ...({ type: 'record_usage', input: 50, output: 50, cacheRead: 0, cacheWrite: 0 } as const),
  ...({ model: null, usageId: null, grade: 'observed', occurredAt: T0 } as const),
}

function spending(): World {
  const world = new World(contractOf([phase('WORK', { rules: [RULE] }), phase('END', { rules: [RULE] })]))
  world.claim()
  return world
}

describe('tokens over the budget', () => {
  it('[REQ-REALAGENT-2] park a task that is worked on', () => {
    expect(spending().do(USAGE, 'system')).toEqual(['usage_recorded', 'rule_violated', 'task_parked'])
  })

  it('[REQ-REALAGENT-2] that are reported after the task was completed are counted and park nothing', () => {
    const world = spending()
    expect(world.move('END')).toContain('task_completed')
    expect(world.do(USAGE, 'system')).toEqual(['usage_recorded'])
    expect(world.state.status).toBe('completed')
    world.expectReplayEqualsLive()
  })
})
