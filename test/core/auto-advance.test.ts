import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findAutoTarget } from '../../src/core/gates/auto-advance.js'
import type { GateFacts } from '../../src/core/task/command.js'
import { check, contractOf, factsOf, gate, outcome, phase, World } from './world.js'

const tests = check('all_tests_pass')
const auto = gate('g', { autoAdvance: true, blockers: [tests] })
const contract = contractOf([phase('A', { gates: [auto] }), phase('B', { gates: [gate('end')] })])
const green = { checks: new Map([outcome('g', 'all_tests_pass', 'holds')]) }
const red = { checks: new Map([outcome('g', 'all_tests_pass', 'fails')]) }

function working(one = contract, mode: 'strict' | 'permissive' | 'advisory' = 'strict'): World {
  const world = new World(one, { mode })
  world.claim()
  return world
}

function advance(world: World, facts: Partial<GateFacts>, target = 'B', claims: readonly string[] = []) {
  const gathered = factsOf(world.state, facts)
  return world.do(
    { type: 'transition', target, currentPhase: null, claims, auto: true, facts: gathered },
    'orchestrator',
  )
}

describe('a gate that advances by itself', () => {
  it.each(['strict', 'permissive', 'advisory'] as const)(
    '[REQ-ADVANCE-2] closed, it is neither passed nor counted against the agent in %s mode',
    (mode) => {
      const world = working(contract, mode)
      for (let i = 0; i < 20; i += 1) expect(advance(world, red)).toEqual([])
      expect(advance(world, {})).toEqual([])
      expect(world.state).toMatchObject({ phase: 'A', status: 'active', refusalsTotal: 0, denialsInARow: 0 })
    },
  )

  it('[REQ-ADVANCE-2] facts of another visit, unread trees and unexplained changes open nothing', () => {
    const world = working()
    expect(advance(world, { ...green, visit: 7 })).toEqual([])
    expect(advance(world, { ...green, problems: ['The work tree cannot be read'] })).toEqual([])
    const strict = working(
      contractOf([phase('A', { gates: [auto], writable: [] }), phase('B', { gates: [gate('end')] })]),
    )
    expect(advance(strict, { ...green, unledgered: [{ path: 'x', kind: 'created' }] })).toEqual([])
  })

  it('[REQ-ADVANCE-1] open, it is passed as any other, under the name of who asked', () => {
    const world = working()
    expect(advance(world, green)).toEqual(['transition_requested', 'gate_passed', 'phase_entered'])
    expect(world.last()).toMatchObject({ actor: 'orchestrator', to: 'B', auto: true })
    expect(world.state).toMatchObject({ phase: 'B', epoch: 2, advancedTo: 2, held: { agentId: 'a' } })
    world.claim()
    expect(world.state.advancedTo).toBeNull()
    world.expectReplayEqualsLive()
  })

  const other = (about: Parameters<typeof gate>[1]) =>
    contractOf([phase('A', { gates: [gate('g', about)] }), phase('B')])
  it.each([
    ['a gate without auto_advance', other({ blockers: [tests] })],
    ['an approval gate', other({ type: 'approval', approvers: ['human'], autoAdvance: true, blockers: [tests] })],
    ['an approval of the orchestrator', other({ type: 'approval', approvers: ['orchestrator'], autoAdvance: true })],
    [
      'one gate of two without it',
      contractOf([phase('A', { gates: [auto, gate('h', { blockers: [] })] }), phase('B')]),
    ],
    ['no gate at all', contractOf([phase('A'), phase('B')])],
    [
      'a transition with a claim',
      contractOf([phase('A', { gates: [auto] }), phase('B')], {
        transitions: [{ from: 'A', to: 'B', gate: 'g', when: 'ready' }],
      }),
    ],
  ])('[REQ-ADVANCE-2] %s is never passed without the agent', (_name, one) => {
    const world = working(one)
    expect(findAutoTarget(one, world.state)).toBeNull()
    expect(advance(world, green)).toEqual([])
    expect(advance(world, green, 'B', ['ready'])).toEqual([])
    expect(world.state.phase).toBe('A')
  })

  it('[REQ-ADVANCE-2] a task that nobody holds, that is parked or waits for an approval stays where it is', () => {
    const unclaimed = new World(contract)
    expect(advance(unclaimed, green)).toEqual([])
    const released = working()
    released.do({ type: 'release', reason: '' })
    expect(advance(released, green)).toEqual([])
    const both = contractOf(
      [
        phase('A', { gates: [auto, gate('ask', { type: 'approval', approvers: ['human'] })] }),
        phase('B', { gates: [gate('end')] }),
        phase('C', { gates: [gate('end')] }),
      ],
      {
        transitions: [
          { from: 'A', to: 'B', gate: 'g', when: null },
          { from: 'A', to: 'C', gate: 'ask', when: null },
        ],
      },
    )
    const waiting = working(both)
    waiting.move('C')
    expect(waiting.state.status).toBe('awaiting_approval')
    expect(advance(waiting, green)).toEqual([])
  })

  it('[REQ-ADVANCE-1] in a final phase it completes the task', () => {
    const world = working(contractOf([phase('A', { gates: [auto] })]))
    expect(advance(world, green, 'A')).toEqual(['transition_requested', 'gate_passed', 'task_completed'])
  })
})

describe('gates, places, crashes and alerts together', () => {
  const all = contractOf(
    [
      phase('A', { gates: [auto] }),
      phase('B', { slots: [{ name: 'peer', isAwaited: true }], gates: [gate('h', { autoAdvance: true })] }),
      phase('C', { gates: [gate('ask', { type: 'approval', approvers: ['peer', 'human'], timeoutSeconds: 100 })] }),
      phase('D', { gates: [gate('end')] }),
    ],
    {
      agentCrash: { action: 'retry', maxRetries: 2, backoffSeconds: 10 },
      alerts: [
        { condition: 'task_stuck_in_phase', limit: 500, message: '' },
        { condition: 'gate_block_rate', limit: 0.5, message: '' },
        { condition: 'approval_waiting', limit: 50, message: '' },
      ],
    },
  )
  const steps = fc.array(
    fc.oneof(
      fc.constantFrom('a', 'b', 'peer').map((agent) => (world: World) => void world.claim(agent)),
      fc.tuple(fc.constantFrom('A', 'B', 'C', 'D'), fc.boolean()).map(([to, isGreen]) => (world: World) => {
        void advance(world, isGreen ? green : red, to)
      }),
      fc.tuple(fc.constantFrom('B', 'C', 'D'), fc.boolean()).map(([to, isGreen]) => (world: World) => {
        if (world.state.held !== null && ['active', 'awaiting_approval'].includes(world.state.status))
          void world.move(to, isGreen ? green : red)
      }),
      fc
        .constantFrom('lapse_lease' as const, 'check_alerts' as const, 'expire_approval' as const)
        .map((type) => (world: World) => void world.do({ type }, 'system')),
      fc.constant((world: World) => {
        void world.do({ type: 'add_reviewer', reviewer: 'peer', grant: 'g', expiresAt: 0 }, 'operator:ann')
      }),
      fc.constant((world: World) => void world.do({ type: 'resume', reason: 'r', agentIsFree: true }, 'operator:ann')),
      fc.integer({ min: -1000, max: 1_000_000 }).map((ms) => (world: World) => {
        world.now += ms
      }),
    ),
    { maxLength: 60 },
  )

  it('[REQ-ADVANCE-2] [REQ-ALERT-1] in whatever order, folding gives the same state, no alert is raised twice and no closed gate is passed', () => {
    fc.assert(
      fc.property(steps, (sequence) => {
        const world = new World(all)
        for (const step of sequence) step(world)
        world.expectReplayEqualsLive()
        const raised = new Set<string>()
        for (const event of world.events) {
          if (event.type === 'alert_raised') {
            expect(raised.has(event.alert)).toBe(false)
            raised.add(event.alert)
          }
          if (event.type === 'alert_cleared') expect(raised.delete(event.alert)).toBe(true)
          // Nobody ever ran the check of the place in B, and nobody approved in C.
          if (event.type === 'phase_entered') expect(['A', 'B']).toContain(event.to)
        }
      }),
      { numRuns: 500 },
    )
  })
})
