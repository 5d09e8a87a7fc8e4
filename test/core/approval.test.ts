import { describe, expect, it } from 'vitest'
import type { Approver, Command } from '../../src/core/task/command.js'
import { evolve } from '../../src/core/task/evolve.js'
import { formatClock } from '../../src/core/text.js'
import { contractOf, gate, phase, T0, World } from './world.js'

const human: Approver = { kind: 'operator', name: 'ann', role: null }

function gated(about: Parameters<typeof gate>[1] = {}) {
  return contractOf([
    phase('A', { gates: [gate('g', { type: 'approval', approvers: ['human'], ...about })] }),
    phase('B', { gates: [gate('x')] }),
  ])
}

function waiting(about: Parameters<typeof gate>[1] = {}): World {
  const world = new World(gated(about))
  world.claim()
  world.move('B')
  return world
}

function answer(world: World, about: Partial<Command & { type: 'decide_approval' }> = {}): readonly string[] {
  const pending = [...world.state.approvals.values()].at(-1)
  return world.do({
    type: 'decide_approval',
    approvalId: pending?.id ?? '',
    decision: 'approve',
    digest: pending?.digest ?? '',
    comment: '',
    by: human,
    ...about,
  })
}

/** The words of the refusal that an answer gets now. */
function refusalOf(world: World): string | undefined {
  const approval = [...world.state.approvals.values()].at(-1)
  const { id: approvalId = '', digest = '' } = approval ?? {}
  const again = { type: 'decide_approval', approvalId, decision: 'approve', digest, comment: '', by: human } as const
  const decision = world.ask(again)
  return decision.kind === 'unrecorded' ? decision.refusal.detail : undefined
}

describe('an answer to an approval that ended', () => {
  it('[REQ-READS-2] is refused with who decided what, where and when', () => {
    const world = waiting()
    const id = [...world.state.approvals.keys()].at(-1)
    answer(world, { channel: 'in_chat' })
    const clock = formatClock(world.now)
    expect(refusalOf(world)).toBe(
      `Approval ${id} was approved in the chat by ann at ${clock} UTC; there is nothing to do.`,
    )
    world.move('B')
    expect(refusalOf(world)).toContain('was approved in the chat by ann')
    world.now += 2 * 86_400_000
    expect(refusalOf(world)).toContain(`at ${clock} UTC, 2 days ago; there is nothing to do`)
    const rejected = waiting()
    answer(rejected, { decision: 'reject', comment: 'no error cases' })
    expect(refusalOf(rejected)).toContain('was rejected over the API by ann at ')
    expect(refusalOf(rejected)).toContain('(no error cases); there is nothing to do.')
  })

  it('[REQ-READS-2] says that nobody decided where nobody did', () => {
    const world = waiting()
    world.now = ([...world.state.approvals.values()].at(-1)?.expiresAt ?? 0) + 1
    expect(refusalOf(world)).toMatch(/has expired: too few answered until \d\d:\d\d:\d\d UTC\.$/)
  })
})

describe('approvals', () => {
  it('[REQ-APPROVAL-1] an approval gate opens nothing by itself: it opens a request and waits', () => {
    const world = new World(gated())
    world.claim()
    expect(world.move('B')).toEqual(['transition_requested', 'approval_requested', 'gate_blocked'])
    expect(world.state).toMatchObject({ status: 'awaiting_approval', phase: 'A' })
    expect(world.move('B')).toEqual(['transition_requested', 'gate_blocked'])
  })

  it('[REQ-APPROVAL-2] an agent cannot approve, neither the one that asks nor another, and the attempt is recorded', () => {
    for (const name of ['a', 'b']) {
      const world = waiting()
      expect(answer(world, { by: { kind: 'agent', name } })).toEqual(['approval_refused'])
      expect(world.last()).toMatchObject({ code: 'not_permitted' })
      expect(world.move('B')).toContain('gate_blocked')
    }
  })

  it('[REQ-APPROVAL-3] an operator who is not among the approvers is refused', () => {
    expect(answer(waiting({ approvers: ['lead'] }))).toEqual(['!not_permitted'])
    for (const role of ['ci', 'CI'])
      expect(answer(waiting(), { by: { kind: 'operator', name: 'bot', role } })).toEqual(['!not_permitted'])
  })

  it('[REQ-APPROVAL-3] a name, a role or being human makes an approver', () => {
    expect(answer(waiting({ approvers: ['lead'] }), { by: { kind: 'operator', name: 'lead', role: 'ci' } })).toEqual([
      'approval_decided',
    ])
    expect(answer(waiting({ approvers: ['lead'] }), { by: { kind: 'operator', name: 'bob', role: 'lead' } })).toEqual([
      'approval_decided',
    ])
    expect(answer(waiting())).toEqual(['approval_decided'])
  })

  it('[REQ-APPROVAL-4] an answer for another digest is a conflict', () => {
    expect(answer(waiting(), { digest: 'other' })).toEqual(['!conflict'])
  })

  it('[REQ-APPROVAL-5] the same request succeeds once after approval', () => {
    const world = waiting()
    answer(world)
    expect(world.state.status).toBe('active')
    expect(world.move('B')).toEqual(['transition_requested', 'gate_passed', 'phase_entered'])
    expect([...world.state.approvals.values()]).toMatchObject([{ status: 'used' }])
  })

  it('[REQ-APPROVAL-5] changed content asks for a new approval and does not open with the one that was given', () => {
    const world = waiting()
    answer(world)
    expect(world.move('B', { digest: 'd2' })).toEqual(['transition_requested', 'approval_requested', 'gate_blocked'])
    expect(world.last()).toMatchObject({ counted: true })
    expect(world.move('B', { digest: 'd2' })).toContain('gate_blocked')
  })

  it('[REQ-APPROVAL-6] a rejected approval is a blocker with the comment, until the content changes', () => {
    const world = waiting()
    answer(world, { decision: 'reject', comment: 'too vague' })
    world.move('B')
    expect(world.last()).toMatchObject({
      type: 'gate_blocked',
      blockers: [{ code: 'approval_rejected', message: expect.stringContaining('too vague') }],
    })
    expect(world.move('B', { digest: 'd2' })).toContain('approval_requested')
  })

  it('[REQ-APPROVAL-7] one operator counts once toward min_approvals', () => {
    const world = waiting({ minApprovals: 2 })
    answer(world)
    expect(answer(world)).toEqual(['!conflict'])
    expect(world.move('B')).toContain('gate_blocked')
    answer(world, { by: { kind: 'operator', name: 'bob', role: null } })
    expect(world.move('B')).toContain('phase_entered')
  })

  it('[REQ-APPROVAL-8] an approval that nobody answers parks the task, just after its time and not before', () => {
    const world = waiting({ timeoutSeconds: 10 })
    world.now = T0 + 9_999
    expect(world.do({ type: 'expire_approval' }, 'system')).toEqual([])
    world.now = T0 + 10_000
    expect(answer(world)).toEqual(['!conflict'])
    expect(world.do({ type: 'expire_approval' }, 'system')).toEqual(['approval_expired', 'task_parked'])
  })

  it('[REQ-APPROVAL-8] with on_timeout reject the task goes on and the gate stays closed for that content', () => {
    const world = waiting({ timeoutSeconds: 10, onTimeout: 'reject' })
    world.now = T0 + 10_000
    expect(world.do({ type: 'expire_approval' }, 'system')).toEqual(['approval_expired'])
    expect(world.state.status).toBe('active')
    world.move('B')
    expect(world.last()).toMatchObject({ blockers: [{ code: 'approval_rejected' }] })
  })

  it('[REQ-APPROVAL-9] an approval that was given and not used in time is asked for again', () => {
    const world = waiting({ timeoutSeconds: 10 })
    answer(world)
    world.now = T0 + 10_000
    expect(world.move('B')).toContain('approval_requested')
  })

  it('[REQ-APPROVAL-10] orchestrator alone approves when every check holds; together with human the human decides', () => {
    const alone = new World(gated({ approvers: ['orchestrator'] }))
    alone.claim()
    expect(alone.move('B')).toContain('phase_entered')
    const both = new World(gated({ approvers: ['human', 'orchestrator'] }))
    both.claim()
    expect(both.move('B')).toContain('approval_requested')
  })

  it.each(['permissive', 'advisory'] as const)('[REQ-APPROVAL-11] %s mode does not let an approval through', (mode) => {
    const world = new World(gated(), { mode })
    world.claim()
    expect(world.move('B')).toContain('gate_blocked')
  })

  it('[REQ-APPROVAL-12] waiting for an approval uses up no budget, however often it is asked', () => {
    const world = waiting()
    for (let i = 0; i < 30; i += 1) world.move('B')
    expect(world.state.status).toBe('awaiting_approval')
    expect(world.state.denialsInARow).toBe(0)
  })

  it('[REQ-APPROVAL-13] a rewind voids approvals, also one that was given', () => {
    const world = waiting()
    answer(world)
    world.do({ type: 'rewind', to: 'A', reason: 'again', agentIsFree: true }, 'operator:ann')
    expect(world.move('B')).toContain('approval_requested')
  })
})

const bob: Approver = { kind: 'operator', name: 'bob', role: null }

function statuses(world: World): readonly string[] {
  return [...world.state.approvals.values()].map(({ digest, status }) => `${digest} ${status}`)
}

describe('an approval after other content was sent', () => {
  it('[REQ-APPROVAL-15] a rejection stays a rejection', () => {
    const world = waiting()
    answer(world, { decision: 'reject', comment: 'too vague' })
    world.move('B', { digest: 'd2' })
    answer(world)
    expect(world.move('B', { digest: 'd1' })).toEqual(['transition_requested', 'gate_blocked'])
    expect(world.last()).toMatchObject({ blockers: [{ code: 'approval_rejected' }] })
  })

  it('[REQ-APPROVAL-15] one that expired meanwhile is asked for again', () => {
    const world = waiting({ timeoutSeconds: 10 })
    answer(world)
    world.move('B', { digest: 'd2' })
    world.now = T0 + 10_000
    expect(world.move('B', { digest: 'd1' })).toContain('approval_requested')
    expect(statuses(world)).toEqual(['d1 void', 'd2 void', 'd1 pending'])
  })

  it('[REQ-APPROVAL-15] one that was used opens nothing in a later visit, and neither does one that was left over', () => {
    const loop = contractOf(
      [
        phase('A', { gates: [gate('g', { type: 'approval', approvers: ['human'] })] }),
        phase('B'),
        phase('C', { gates: [gate('x')] }),
      ],
      {
        transitions: [
          { from: 'A', to: 'B', gate: 'g', when: null },
          { from: 'B', to: 'A', gate: null, when: 'again' },
          { from: 'B', to: 'C', gate: null, when: null },
        ],
      },
    )
    const world = new World(loop)
    world.claim()
    world.move('B')
    answer(world)
    world.move('B', { digest: 'd2' })
    answer(world)
    expect(world.move('B', { digest: 'd1' })).toContain('phase_entered')
    expect(statuses(world)).toEqual(['d1 used', 'd2 void'])
    world.move('A', {}, ['again'])
    expect(world.move('B', { digest: 'd1' })).toContain('approval_requested')
    expect(world.move('B', { digest: 'd2' })).toContain('approval_requested')
  })

  it('[REQ-APPROVAL-15] one that was given for this content is still valid and is used', () => {
    const world = waiting()
    answer(world)
    world.move('B', { digest: 'd2' })
    expect(statuses(world)).toEqual(['d1 approved', 'd2 pending'])
    expect(world.move('B', { digest: 'd1' })).toEqual(['transition_requested', 'gate_passed', 'phase_entered'])
    expect(statuses(world)).toEqual(['d1 used', 'd2 void'])
    world.expectReplayEqualsLive()
  })

  it('[REQ-APPROVAL-15] one that an older version voided stays void', () => {
    const world = waiting()
    answer(world)
    const [given] = world.state.approvals.keys()
    const voided = { type: 'approval_voided', approvalId: given ?? '', reason: 'the content changed' } as const
    const base = world.last()
    world.state = evolve(world.state, { ...base, ...voided })
    expect(world.move('B', { digest: 'd1' })).toContain('approval_requested')
  })

  it('[REQ-APPROVAL-16] a request without an answer is withdrawn, and can no longer be answered', () => {
    const world = waiting()
    const [first] = world.state.approvals.values()
    expect(world.move('B', { digest: 'd2' })).toEqual([
      'transition_requested',
      'approval_voided',
      'approval_requested',
      'gate_blocked',
    ])
    expect(answer(world, { approvalId: first?.id ?? '', digest: 'd1' })).toEqual(['!conflict'])
    expect(statuses(world)).toEqual(['d1 void', 'd2 pending'])
  })

  it('[REQ-APPROVAL-16] one of two approvals is kept, counts for its own content alone, and waits on', () => {
    const world = waiting({ minApprovals: 2 })
    const [first] = world.state.approvals.values()
    answer(world)
    world.move('B', { digest: 'd2' })
    expect(statuses(world)).toEqual(['d1 pending', 'd2 pending'])
    answer(world, { by: bob })
    expect(world.move('B', { digest: 'd2' })).toContain('gate_blocked')
    expect(world.move('B', { digest: 'd1' })).toContain('gate_blocked')
    expect(world.last()).toMatchObject({ blockers: [{ approvalId: first?.id }] })
    answer(world, { approvalId: first?.id ?? '', digest: 'd1', by: bob })
    expect(world.move('B', { digest: 'd1' })).toContain('phase_entered')
  })

  it('[REQ-APPROVAL-16] going back to it withdraws the request in between that nobody answered', () => {
    const world = waiting({ minApprovals: 2 })
    answer(world)
    world.move('B', { digest: 'd2' })
    expect(world.move('B', { digest: 'd1' })).toEqual(['transition_requested', 'approval_voided', 'gate_blocked'])
    expect(statuses(world)).toEqual(['d1 pending', 'd2 void'])
    expect(world.state.status).toBe('awaiting_approval')
  })

  it('[REQ-APPROVAL-16] the time of the older request does not park the task while the newer one waits', () => {
    const world = waiting({ minApprovals: 2, timeoutSeconds: 10 })
    answer(world)
    world.now = T0 + 5_000
    world.move('B', { digest: 'd2' })
    world.now = T0 + 10_000
    expect(world.do({ type: 'expire_approval' }, 'system')).toEqual(['approval_voided'])
    expect(world.state.status).toBe('awaiting_approval')
    world.now = T0 + 15_000
    expect(world.do({ type: 'expire_approval' }, 'system')).toEqual(['approval_expired', 'task_parked'])
  })

  it('[REQ-APPROVAL-16] an agent that asks about ever other content is parked', () => {
    const world = waiting()
    answer(world)
    for (let i = 0; i < 12; i += 1) world.move('B', { digest: `other ${i}` })
    expect(world.state.status).toBe('parked')
  })
})
