import { describe, expect, it } from 'vitest'
import { check, contractOf, gate, outcome, phase, World } from './world.js'

const green = gate('g', { blockers: [check('tests_can_fail'), check('all_tests_pass')] })
const doubted = {
  checks: new Map([outcome('g', 'tests_can_fail', 'fails'), outcome('g', 'all_tests_pass', 'holds', 1)]),
}
const failing = {
  checks: new Map([outcome('g', 'tests_can_fail', 'holds'), outcome('g', 'all_tests_pass', 'fails', 1)]),
}

/** Refused, and then something is written: the refusals are no longer in a row. */
function tryAgain(world: World, facts: typeof doubted): readonly string[] {
  const types = world.move('B', facts)
  world.state = { ...world.state, denialsInARow: 0 }
  return types
}

describe('a task whose tests the inverted run refuses', () => {
  const worldOf = (mode?: 'advisory'): World => {
    const world = new World(
      contractOf([phase('A', { gates: [green] }), phase('B')]),
      mode === undefined ? {} : { mode },
    )
    world.claim()
    return world
  }

  it('[REQ-TWINS-21] is parked after as many refusals as the denial budget has, whatever is written between them', () => {
    const world = worldOf()
    for (let count = 1; count < 10; count += 1) expect(tryAgain(world, doubted)).not.toContain('task_parked')
    expect(tryAgain(world, doubted)).toContain('task_parked')
    expect(world.state.parkedReason).toMatch(/^tests_can_fail refused the tests 10 times \(denial_budget 10\)/)
    world.do({ type: 'resume', reason: 'looked', agentIsFree: true }, 'operator:ann')
    expect(tryAgain(world, doubted)).not.toContain('task_parked')
  })

  it('[REQ-TWINS-21] is not parked for refusals by other checks', () => {
    const world = worldOf()
    for (let count = 0; count < 20; count += 1) expect(tryAgain(world, failing)).not.toContain('task_parked')
  })

  it('[REQ-TWINS-21] is never parked in advisory mode', () => {
    const world = worldOf('advisory')
    for (let count = 0; count < 20; count += 1) expect(tryAgain(world, doubted)).not.toContain('task_parked')
  })
})
