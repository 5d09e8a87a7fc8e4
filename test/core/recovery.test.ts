import { describe, expect, it } from 'vitest'
import type { AgentCrash } from '../../src/core/contract/contract-parts.js'
import { contractOf, gate, phase, T0, World } from './world.js'

const LEASE_MS = 900_000

function crashing(about: Partial<AgentCrash> = {}): World {
  const agentCrash = { action: 'retry', maxRetries: 2, backoffSeconds: 60, ...about } as const
  const world = new World(contractOf([phase('A'), phase('B', { gates: [gate('g')] })], { agentCrash }))
  world.claim()
  return world
}

function crash(world: World): readonly string[] {
  world.now += LEASE_MS
  return world.do({ type: 'lapse_lease' }, 'system')
}

describe('a task whose agent lost its lease', () => {
  it('[REQ-RECOVERY-1] cannot be claimed before the back-off, by nobody, and can right after it', () => {
    const world = crashing()
    expect(crash(world)).toEqual(['lease_lapsed'])
    world.now += 59_999
    expect(world.claim('a')).toEqual(['!task_not_active'])
    expect(world.claim('b')).toEqual(['!task_not_active'])
    world.now += 1
    expect(world.claim('b')).toEqual(['task_claimed'])
    world.expectReplayEqualsLive()
  })

  it('[REQ-RECOVERY-1] waits twice as long after the second crash', () => {
    const world = crashing()
    crash(world)
    world.now += 60_000
    world.claim('b')
    crash(world)
    world.now += 119_999
    expect(world.claim('c')).toEqual(['!task_not_active'])
    world.now += 1
    expect(world.claim('c')).toEqual(['task_claimed'])
  })

  it('[REQ-RECOVERY-1] an agent that claims before the sweep has seen the crash waits as well', () => {
    const world = crashing()
    world.now += LEASE_MS
    expect(world.claim('b')).toEqual(['lease_lapsed'])
    expect(world.state).toMatchObject({ status: 'interrupted', held: null, claimableAt: T0 + LEASE_MS + 60_000 })
    expect(world.claim('b')).toEqual(['!task_not_active'])
  })

  it('[REQ-RECOVERY-2] is parked with a reason once the retries are used up', () => {
    const world = crashing()
    for (let i = 0; i < 2; i += 1) {
      expect(crash(world)).toEqual(['lease_lapsed'])
      world.now += 1_000_000
      world.claim()
    }
    expect(crash(world)).toEqual(['lease_lapsed', 'task_parked'])
    expect(world.state).toMatchObject({ status: 'parked', held: null })
    expect(world.state.parkedReason).toContain('max_retries 2')
    expect(world.claim('b')).toEqual(['!task_not_active'])
    world.expectReplayEqualsLive()
  })

  it('[REQ-RECOVERY-2] begins to count again when the phase is left, and when an operator lets it go on', () => {
    const world = crashing({ maxRetries: 1 })
    crash(world)
    world.now += 60_000
    world.claim()
    world.move('B')
    expect(crash(world)).toEqual(['lease_lapsed'])
    world.now += 60_000
    world.claim()
    expect(crash(world)).toEqual(['lease_lapsed', 'task_parked'])
    world.do({ type: 'resume', reason: 'r', agentIsFree: true }, 'operator:ann')
    expect(world.claim('b')).toEqual(['task_claimed'])
    expect(crash(world)).toEqual(['lease_lapsed'])
    world.do({ type: 'reassign', agentId: 'c', reason: 'r' }, 'operator:ann')
    expect(world.claim('c')).toEqual(['task_claimed'])
  })

  it('[REQ-RECOVERY-2] is parked at once where the contract says park', () => {
    expect(crash(crashing({ action: 'park' }))).toEqual(['lease_lapsed', 'task_parked'])
  })

  it('[REQ-RECOVERY-1] a back-off beyond all dates is cut to thirty days', () => {
    const world = crashing({ backoffSeconds: Number.MAX_SAFE_INTEGER })
    crash(world)
    expect(world.state.claimableAt).toBe(T0 + LEASE_MS + 30 * 24 * 3600 * 1000)
  })

  it('[REQ-RECOVERY-1] can be claimed at once where the contract says nothing, or it was given back', () => {
    const silent = new World(contractOf([phase('A'), phase('B')]))
    silent.claim()
    silent.now += LEASE_MS
    expect(silent.claim('b')).toEqual(['lease_lapsed', 'task_claimed'])
    const released = crashing()
    released.do({ type: 'release', reason: '' })
    expect(released.claim('b')).toEqual(['task_claimed'])
  })
})
