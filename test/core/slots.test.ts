import { describe, expect, it } from 'vitest'
import { needs } from '../../src/core/gates/needs.js'
import { listSlotStatuses } from '../../src/core/reviews/reviewer-slots.js'
import { check, contractOf, factsOf, gate, phase, World } from './world.js'

const slots = [
  { name: 'security', isAwaited: true },
  { name: 'style', isAwaited: false },
]
const ask = gate('ask', { type: 'approval', approvers: ['review_agent', 'orchestrator', 'human'], timeoutSeconds: 100 })
const contract = contractOf([
  phase('WORK', { allowedTools: ['write_files'] }),
  phase('REVIEW', { slots, gates: [ask] }),
  phase('DONE', { gates: [gate('end')] }),
])

function inReview(one = contract): World {
  const world = new World(one)
  world.claim()
  world.move('REVIEW')
  return world
}

function add(world: World, reviewer: string): readonly string[] {
  return world.do({ type: 'add_reviewer', reviewer, grant: `${reviewer}-1`, expiresAt: 0 }, 'operator:ann')
}

function report(world: World, reviewer: string, status: 'completed' | 'in_progress' = 'completed'): readonly string[] {
  const sent = { status, sha256: 'r', bytes: 1, comments: 0, blockingIssues: 0 }
  return world.do({ type: 'submit_review', reviewer, report: sent, subject: 'now', seen: null }, `reviewer:${reviewer}`)
}

const statuses = (world: World) => listSlotStatuses(world.state).map(({ name, status }) => `${name}:${status}`)

describe('places for reviewers', () => {
  it('[REQ-SLOT-1] open with the phase, are filled under their name and finish with a report', () => {
    const world = inReview()
    expect(world.last()).toMatchObject({
      type: 'reviewers_wanted',
      names: ['security', 'style'],
      awaited: ['security'],
    })
    expect(statuses(world)).toEqual(['security:wanted', 'style:wanted'])
    expect(add(world, 'stranger')).toEqual(['!invalid_request'])
    expect(add(world, 'a')).toEqual(['!invalid_request'])
    expect(add(world, 'security')).toEqual(['reviewer_added'])
    expect(statuses(world)).toEqual(['security:registered', 'style:wanted'])
    report(world, 'security', 'in_progress')
    expect(statuses(world)).toEqual(['security:registered', 'style:wanted'])
    report(world, 'security')
    expect(statuses(world)).toEqual(['security:finished', 'style:wanted'])
    world.do({ type: 'revoke_reviewer', reviewer: 'security', reason: 'r' }, 'operator:ann')
    expect(statuses(world)).toEqual(['security:wanted', 'style:wanted'])
    world.expectReplayEqualsLive()
  })

  it('[REQ-SLOT-1] open again with every visit, also after a rewind, and close with it', () => {
    const world = inReview()
    add(world, 'security')
    report(world, 'security')
    world.do({ type: 'rewind', to: 'WORK', reason: 'r', agentIsFree: true }, 'operator:ann')
    expect(statuses(world)).toEqual([])
    world.move('REVIEW')
    world.do({ type: 'rewind', to: 'REVIEW', reason: 'r', agentIsFree: true }, 'operator:ann')
    expect(statuses(world)).toEqual(['security:wanted', 'style:wanted'])
  })

  it('[REQ-SLOT-2] hold the phase for those that are awaited, whether a gate asks for them or not', () => {
    const needed = needs(contract, inReview().state, { target: 'DONE', claims: [] })
    expect(needed?.checks.map((one) => [one.blocker.check, one.blocker.params])).toEqual([
      ['all_review_models_completed', { required_reviews: ['security'] }],
    ])
    const world = inReview()
    const blocked = world.do({
      ...{ type: 'transition', target: 'DONE', currentPhase: null, claims: [], facts: factsOf(world.state) },
    })
    expect(blocked).toEqual(['transition_requested', 'gate_blocked'])
  })

  it('[REQ-SLOT-2] waiting for them costs the agent nothing', () => {
    const world = inReview()
    const [one] = needs(contract, world.state, { target: 'DONE', claims: [] })?.checks ?? []
    const fails = { result: 'fails', found: 'no report of security', grade: 'observed' } as const
    const checks = new Map([[one?.key ?? '', fails]])
    for (let i = 0; i < 20; i += 1) world.move('DONE', { checks, reviewsKey: '[]' })
    expect(world.state).toMatchObject({ status: 'active', denialsInARow: 0 })
  })

  it('[REQ-SLOT-1] the trigger of a transition opens one for each review that the phase asks for', () => {
    const asked = check('all_review_models_completed', { params: { required_reviews: ['facts'] } })
    const phases = [phase('WORK'), phase('REVIEW', { gates: [gate('g', { blockers: [asked] })] }), phase('DONE')]
    const way = { from: 'WORK', to: 'REVIEW', gate: null, when: null }
    const last = { from: 'REVIEW', to: 'DONE', gate: null, when: null }
    expect(statuses(inReview(contractOf(phases, { transitions: [way, last] })))).toEqual([])
    const triggered = contractOf(phases, { transitions: [{ ...way, opensReviews: true }, last] })
    expect(statuses(inReview(triggered))).toEqual(['facts:wanted'])
  })
})

describe('a reviewer among the approvers', () => {
  const answer = (world: World, name: string) => {
    const approval = [...world.state.approvals.values()].at(-1)
    const { id: approvalId = '', digest = '' } = approval ?? {}
    const by = { kind: 'reviewer', name } as const
    return world.do(
      { type: 'decide_approval', approvalId, decision: 'approve', digest, comment: '', by },
      `reviewer:${name}`,
    )
  }
  const waiting = () => {
    const world = inReview(
      contractOf([phase('WORK'), phase('REVIEW', { gates: [ask] }), phase('DONE', { gates: [gate('end')] })]),
    )
    world.move('DONE')
    return world
  }

  it('[REQ-APPROVAL-14] is admitted by its name in addition to the required reviews, and approves', () => {
    const world = inReview()
    expect(add(world, 'review_agent')).toEqual(['reviewer_added'])
    const other = waiting()
    add(other, 'review_agent')
    expect(answer(other, 'review_agent')).toEqual(['approval_decided'])
    expect(other.last()).toMatchObject({ by: 'reviewer:review_agent' })
    expect(other.move('DONE')).toContain('phase_entered')
  })

  it('[REQ-APPROVAL-14] one that is not named approves nothing, and its tries cost its token', () => {
    const world = waiting()
    add(world, 'security')
    expect(answer(world, 'security')).toEqual(['review_refused'])
    for (let i = 0; i < 9; i += 1) answer(world, 'security')
    expect(world.state.reviewers.get('security')?.status).toBe('revoked')
    expect(world.move('DONE')).toContain('gate_blocked')
  })

  it('[REQ-APPROVAL-14] nobody who works on the task approves it under the name of a reviewer', () => {
    const world = new World(
      contractOf([
        phase('REVIEW', { gates: [gate('ask', { type: 'approval', approvers: ['a', 'human'] })] }),
        phase('DONE'),
      ]),
    )
    world.claim('a')
    world.move('DONE')
    expect(add(world, 'a')).toEqual(['!not_permitted'])
    expect(answer(world, 'a')).toEqual(['review_refused'])
    expect(world.move('DONE')).toContain('gate_blocked')
  })

  it('[REQ-APPROVAL-14] what a reviewer approved is void once its token was revoked or used up', () => {
    const world = waiting()
    add(world, 'review_agent')
    answer(world, 'review_agent')
    expect(world.do({ type: 'revoke_reviewer', reviewer: 'review_agent', reason: 'r' }, 'operator:ann')).toEqual([
      'reviewer_revoked',
      'approval_voided',
    ])
    expect(world.move('DONE')).toContain('approval_requested')
    world.expectReplayEqualsLive()
  })

  it('[REQ-APPROVAL-14] what a reviewer approved opens nothing once it has taken the task over', () => {
    const world = waiting()
    add(world, 'review_agent')
    answer(world, 'review_agent')
    world.do({ type: 'release', reason: '' })
    world.claim('review_agent')
    expect(world.move('DONE')).toContain('approval_requested')
    expect(world.state.phase).toBe('REVIEW')
  })

  it.each(['human', 'orchestrator'])('[REQ-APPROVAL-14] no reviewer is called %s', (name) => {
    const world = waiting()
    expect(add(world, name)).toEqual(['!invalid_request'])
    expect(answer(world, name)).toEqual(['review_refused'])
  })
})
