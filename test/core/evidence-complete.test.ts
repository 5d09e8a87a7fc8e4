import { describe, expect, it } from 'vitest'
import type { Contract } from '../../src/core/contract/contract.js'
import { decideWayOn } from '../../src/core/gates/complete-phase.js'
import type { GateFacts } from '../../src/core/task/command.js'
import { evidenceField } from './evidence-fields.js'
import { check, contractOf, factsOf, gate, phase, World } from './world.js'

const A = phase('A', { evidence: new Map([['n', evidenceField({ type: 'integer' })]]) })
const contract = contractOf([A, phase('B', { requiredArtifacts: [] }), phase('C', { evidence: A.evidence })])
const HOLDS = { evidence: { n: 3 }, evidenceRef: { sha256: 'a'.repeat(64), bytes: 7 }, proofs: {} }

function worldOf(one: Contract, mode?: 'strict' | 'permissive'): World {
  const world = new World(one, mode === undefined ? {} : { mode })
  world.claim()
  return world
}
const complete = (world: World, facts: Partial<GateFacts>, currentPhase = world.state.phase): readonly string[] =>
  world.do({
    ...{ type: 'transition', target: '', currentPhase, claims: [], completes: true },
    facts: factsOf(world.state, facts),
  })

describe('completing a phase', () => {
  it('[REQ-PHASE-21] wrong evidence is one refusal that counts, and changes nothing but what is counted', () => {
    const world = worldOf(contract)
    const wrong = { evidence: { n: 'x' }, evidenceProblems: ['n (wrong type)'], evidenceRef: { sha256: 'b', bytes: 9 } }
    expect(complete(world, wrong)).toEqual(['checkpoint_refused'])
    expect(world.last()).toMatchObject({
      code: 'incomplete_checkpoint',
      problemCount: 1,
      retry: { attempt: 1, max: 3 },
    })
    expect([world.state.phase, world.state.evidence.size, world.state.artifacts.size]).toEqual(['A', 0, 0])
    expect([world.state.visitBytes, world.state.denialsInARow]).toEqual([9, 1])
    world.expectReplayEqualsLive()
  })

  it('[REQ-PHASE-21] refusals without progress park the task', () => {
    const world = worldOf(contract)
    for (let i = 0; i < 9; i += 1) complete(world, { evidenceProblems: ['n (required: it)'] })
    expect(complete(world, { evidenceProblems: ['n (required: it)'] })).toEqual(['checkpoint_refused', 'task_parked'])
  })

  it('[REQ-PHASE-21] evidence of another visit is not judged', () => {
    const world = worldOf(contract)
    expect(complete(world, { ...HOLDS, visit: 7 })).toEqual(['transition_refused'])
    expect(world.last()).toMatchObject({ code: 'evidence_stale' })
    expect(world.state.checkpoints.size).toBe(0)
  })

  it('[REQ-PHASE-21] another phase than the current one is refused whatever was gathered', () => {
    const world = worldOf(contract)
    expect(complete(world, HOLDS, 'B')).toEqual(['transition_refused'])
    expect(world.last()).toMatchObject({ code: 'phase_sequence_violation' })
  })

  it('[REQ-PHASE-21] more than the room of one visit is refused', () => {
    const world = worldOf(contract)
    const huge = { ...HOLDS, evidenceRef: { sha256: 'c', bytes: 65 * 1024 * 1024 } }
    expect(complete(world, huge)).toEqual(['transition_refused'])
    expect(world.last()).toMatchObject({ code: 'payload_too_large' })
  })

  it('[REQ-PHASE-22] evidence that holds is kept, with the only legal transition', () => {
    const world = worldOf(contract)
    expect(complete(world, HOLDS)).toEqual([
      'transition_requested',
      'checkpoint_passed',
      'gate_passed',
      'phase_entered',
    ])
    expect(world.state.checkpoints.get('A')).toMatchObject({ visit: 1, sha256: HOLDS.evidenceRef.sha256 })
    expect(complete(world, {})).toEqual(['transition_requested', 'gate_passed', 'phase_entered'])
    expect(complete(world, HOLDS)).toEqual([
      'transition_requested',
      'checkpoint_passed',
      'gate_passed',
      'task_completed',
    ])
    world.expectReplayEqualsLive()
  })

  it('[REQ-PHASE-22] a closed gate keeps it too, and says so once for the same evidence', () => {
    const closed = contractOf([{ ...A, gates: [gate('g', { blockers: [check('file_exists')] })] }, phase('B')])
    const world = worldOf(closed)
    expect(complete(world, HOLDS)).toEqual(['transition_requested', 'checkpoint_passed', 'gate_blocked'])
    expect(complete(world, HOLDS)).toEqual(['transition_requested', 'gate_blocked'])
    const other = { ...HOLDS, evidenceRef: { sha256: 'd'.repeat(64), bytes: 7 } }
    expect(complete(world, other)).toContain('checkpoint_passed')
    expect(world.state.phase).toBe('A')
    world.expectReplayEqualsLive()
  })

  it('[REQ-PHASE-22] fields that nothing was run for leave the checkpoint open', () => {
    const world = worldOf(contract)
    const open = complete(world, { ...HOLDS, evidenceOpen: ['tests_passed (validation error: not run)'] })
    expect(open).toEqual(['transition_requested', 'gate_blocked'])
    expect(world.state.checkpoints.size).toBe(0)
  })

  it('[REQ-PHASE-22] a mode that lets gates through does not accept wrong evidence', () => {
    const world = worldOf(contract, 'permissive')
    const events = complete(world, { ...HOLDS, evidenceProblems: ['n (required: it)'] })
    expect(events).toEqual(['transition_requested', 'gate_passed', 'phase_entered'])
    expect(world.state.checkpoints.size).toBe(0)
  })

  it('[REQ-PHASE-23] where several ways lead on, the evidence is kept and the agent must say which', () => {
    const ways = ['B', 'C'].map((to) => ({ from: 'A', to, gate: null, when: null }))
    const world = worldOf(contractOf([A, phase('B'), phase('C')], { transitions: ways }))
    expect(decideWayOn(world.contract, world.state)).toEqual({ kind: 'choice', ways: ['B', 'C'] })
    expect(complete(world, HOLDS)).toEqual(['checkpoint_passed', 'gate_blocked'])
    expect(world.last()).toMatchObject({ code: 'claim_missing' })
    expect(world.state.phase).toBe('A')
  })

  it('[REQ-PHASE-23] Phaselock makes no claim for the agent except that the phase is complete', () => {
    const way = (when: string | null) => [{ from: 'A', to: 'B', gate: null, when }]
    const on = (when: string | null) => {
      const world = worldOf(contractOf([A, phase('B')], { transitions: way(when) }))
      return decideWayOn(world.contract, world.state).kind
    }
    expect([on(null), on('a_complete'), on('A_complete'), on('approved')]).toEqual(['one', 'one', 'one', 'choice'])
  })

  it('[REQ-PHASE-23] a way back is no way on', () => {
    const transitions = [
      { from: 'A', to: 'B', gate: null, when: null },
      { from: 'B', to: 'A', gate: null, when: null },
      { from: 'B', to: 'C', gate: null, when: null },
    ]
    const world = worldOf(contractOf([phase('A'), phase('B'), phase('C', { evidence: A.evidence })], { transitions }))
    complete(world, {})
    expect(decideWayOn(world.contract, world.state)).toMatchObject({ kind: 'one', target: 'C' })
    expect(complete(world, {})).toContain('phase_entered')
    expect(world.state.phase).toBe('C')
  })

  it('[REQ-PHASE-21] what was accepted in one visit does not count in the next, and goes with a rewind', () => {
    const world = worldOf(contract)
    complete(world, HOLDS)
    world.do({ type: 'rewind', to: 'A', reason: 'again', agentIsFree: true }, 'operator:admin')
    expect([world.state.phase, world.state.checkpoints.size, world.state.evidence.size]).toEqual(['A', 0, 0])
    world.expectReplayEqualsLive()
  })
})
