import { describe, expect, it } from 'vitest'
import { formatReviewsKey } from '../../src/core/reviews/review.js'
import type { Command } from '../../src/core/task/command.js'
import type { ReviewStatus } from '../../src/core/task/fact-parts.js'
import { check, contractOf, gate, phase, World } from './world.js'

const REVIEW_STARTS_TASK_MAX = 200
const REVIEW_STARTS_MAX = 20
const required = check('all_review_models_completed', { params: { required_reviews: ['security', 'quality'] } })
const contract = contractOf(
  [phase('WORK'), phase('REVIEW', { gates: [gate('ok', { blockers: [required] })] }), phase('DONE')],
  {
    transitions: [
      { from: 'WORK', to: 'REVIEW', gate: null, when: null },
      { from: 'REVIEW', to: 'WORK', gate: null, when: 'changes_requested' },
      { from: 'REVIEW', to: 'DONE', gate: 'ok', when: null },
    ],
  },
)

const adding: Command = { type: 'add_reviewer', reviewer: 'security', grant: 'g', expiresAt: 0 }
const start = (world: World): readonly string[] => world.do(adding, 'system')

function inReview(): World {
  const world = new World(contract)
  world.claim()
  world.move('REVIEW')
  return world
}

function again(world: World): void {
  world.move('WORK', { reviewsKey: formatReviewsKey(world.state) }, ['changes_requested'])
  world.move('REVIEW')
}

describe('reviewers that Phaselock starts', () => {
  it('[REQ-BREAKAGAIN-5] are started at most twenty times in one visit; after that only an operator can add one', () => {
    const world = inReview()
    for (let at = 0; at < REVIEW_STARTS_MAX; at += 1) expect(start(world)).toEqual(['reviewer_added'])
    expect(start(world)).toEqual(['!conflict'])
    expect(world.ask(adding, 'system').refusal?.detail).toContain('was started 20 times in this visit')
    expect(world.do({ ...adding, reviewer: 'quality' }, 'system')).toEqual(['reviewer_added'])
    expect(world.do(adding, 'operator:ann')).toEqual(['reviewer_added'])
    expect(start(world)).toEqual(['!conflict'])
    again(world)
    expect(start(world)).toEqual(['reviewer_added'])
    world.expectReplayEqualsLive()
  })

  it('[REQ-BREAKAGAIN-5] an agent that goes in circles cannot start more reviewers than one task may have', () => {
    const world = inReview()
    for (let at = 0; at < REVIEW_STARTS_TASK_MAX; at += 1) {
      expect(start(world)).toEqual(['reviewer_added'])
      again(world)
    }
    expect(start(world)).toEqual(['!conflict'])
    again(world)
    expect(world.ask(adding, 'system').refusal?.detail).toContain('were started 200 times for task')
    expect(world.do(adding, 'operator:ann')).toEqual(['reviewer_added'])
    world.do({ type: 'rewind', to: 'REVIEW', reason: 'again', agentIsFree: true }, 'operator:ann')
    expect(start(world)).toEqual(['reviewer_added'])
  })

  it('[REQ-BREAKAGAIN-5] reviewers that operators added are not counted', () => {
    const world = inReview()
    for (let at = 0; at < REVIEW_STARTS_MAX * 2; at += 1) world.do(adding, 'operator:ann')
    expect(world.state.reviewStarts).toBe(0)
    expect(start(world)).toEqual(['reviewer_added'])
  })

  it('[REQ-BREAKAGAIN-6] a report records how often the agent had been refused before it', () => {
    const world = inReview()
    start(world)
    const report = {
      status: 'changes_requested' as ReviewStatus,
      sha256: 'r',
      bytes: 1,
      comments: 0,
      blockingIssues: 1,
    }
    const submit = (): readonly string[] =>
      world.do({ type: 'submit_review', reviewer: 'security', report, subject: 's', seen: null }, 'reviewer:security')
    submit()
    expect(world.state.reviewers.get('security')?.report?.turnedBack).toBe(0)
    world.move('DONE', { reviewsKey: formatReviewsKey(world.state) })
    expect(world.state.gates.blocked).toBe(1)
    expect(world.state.reviewers.get('security')?.report?.turnedBack).toBe(0)
    submit()
    expect(world.state.reviewers.get('security')?.report?.turnedBack).toBe(1)
  })
})
