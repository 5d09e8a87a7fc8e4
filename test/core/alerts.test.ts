import { describe, expect, it } from 'vitest'
import type { Alert } from '../../src/core/contract/contract-parts.js'
import { check, contractOf, gate, outcome, phase, World } from './world.js'

function watched(...alerts: readonly Alert[]): World {
  const gates = [gate('g', { blockers: [check('all_tests_pass')] })]
  const asking = [gate('ask', { type: 'approval', approvers: ['human'], timeoutSeconds: 100_000 })]
  const end = phase('C', { gates: [gate('end')] })
  const world = new World(contractOf([phase('A', { gates }), phase('B', { gates: asking }), end], { alerts }))
  world.claim()
  return world
}

const green = { checks: new Map([outcome('g', 'all_tests_pass', 'holds')]) }
const look = (world: World) => world.do({ type: 'check_alerts' }, 'system')
const stuck: Alert = { condition: 'task_stuck_in_phase', limit: 7200, message: 'Stuck' }

describe('alerts', () => {
  it('[REQ-ALERT-1] a task is stuck just after the limit, not at it, and the alert is raised once', () => {
    const world = watched(stuck)
    world.now += 7_200_999
    expect(look(world)).toEqual([])
    world.now += 1
    expect(look(world)).toEqual(['alert_raised'])
    expect(world.last()).toMatchObject({ alert: 'task_stuck_in_phase > 7200', value: 7201, message: 'Stuck' })
    world.now += 1_000_000
    expect(look(world)).toEqual([])
    world.expectReplayEqualsLive()
  })

  it('[REQ-ALERT-1] it clears once the phase is left, and can be raised again', () => {
    const world = watched(stuck)
    world.now += 7_300_000
    look(world)
    world.move('B', green)
    expect(look(world)).toEqual(['alert_cleared'])
    expect(look(world)).toEqual([])
    world.now += 7_300_000
    expect(look(world)).toEqual(['alert_raised'])
  })

  it('[REQ-ALERT-1] a parked task is not stuck, and one that is over has no alerts', () => {
    const parked = watched(stuck)
    parked.now += 7_300_000
    look(parked)
    for (let i = 0; i < 10; i += 1) parked.move('B')
    expect(parked.state.status).toBe('parked')
    expect(look(parked)).toEqual(['alert_cleared'])
    const over = watched(stuck)
    over.now += 7_300_000
    look(over)
    over.do({ type: 'cancel', reason: 'r' }, 'operator:ann')
    expect([over.state.alerts.size, look(over)]).toEqual([0, []])
  })

  it('[REQ-ALERT-2] the rate of closed gates counts from the fourth decision on and leaves waiting out', () => {
    const world = watched({ condition: 'gate_block_rate', limit: 0.5, message: '' })
    for (let i = 0; i < 2; i += 1) world.move('B')
    world.move('B', green)
    for (let i = 0; i < 9; i += 1) world.move('C')
    expect(world.state.gates).toEqual({ passed: 1, blocked: 2 })
    expect(look(world)).toEqual([])
    world.do({ type: 'rewind', to: 'A', reason: 'r', agentIsFree: true }, 'operator:ann')
    world.move('B')
    expect(look(world)).toEqual(['alert_raised'])
    expect(world.last()).toMatchObject({ value: 0.75 })
    world.move('B', green)
    world.do({ type: 'rewind', to: 'A', reason: 'r', agentIsFree: true }, 'operator:ann')
    world.move('B', green)
    expect(look(world)).toEqual(['alert_cleared'])
  })

  it('[REQ-ALERT-2] an approval that waits too long raises an alert until it is answered', () => {
    const world = watched({ condition: 'approval_waiting', limit: 900, message: '' })
    world.move('B', green)
    world.move('C')
    world.now += 900_000
    expect(look(world)).toEqual([])
    world.now += 1000
    expect(look(world)).toEqual(['alert_raised'])
    const [approval] = world.state.approvals.values()
    const by = { kind: 'operator', name: 'ann', role: null } as const
    const { id: approvalId = '', digest = '' } = approval ?? {}
    world.do({ type: 'decide_approval', approvalId, decision: 'approve', digest, comment: '', by }, 'operator:ann')
    expect(look(world)).toEqual(['alert_cleared'])
  })

  it('[REQ-ALERT-1] a contract without alerts raises none', () => {
    const world = watched()
    world.now += 1_000_000_000
    expect(look(world)).toEqual([])
  })
})
