import { describe, expect, it } from 'vitest'
import { addReviewGate, REVIEW_GATE } from '../../src/core/reviews/independent-review.js'
import { check, gate, phase } from './world.js'

describe('who stands in for the approval of a review', () => {
  const checks = gate('checks', { blockers: [check('no_blocking_issues')] })

  it('[REQ-REVIEWOTHER-4] nobody else is asked: a person', () => {
    const review = phase('REVIEW', { reviewBy: 'other', gates: [checks] })
    expect(addReviewGate(review, [checks])).toEqual([checks, REVIEW_GATE])
    const own = gate('own', { type: 'approval', approvers: ['orchestrator'] })
    expect(addReviewGate(review, [own])).toEqual([own, REVIEW_GATE])
  })

  it('[REQ-REVIEWOTHER-4] reviewers of the phase, or an approval on the way', () => {
    const required = check('all_review_models_completed', { params: { required_reviews: ['security'] } })
    const asked = gate('ok', { blockers: [required] })
    expect(addReviewGate(phase('REVIEW', { reviewBy: 'other', gates: [asked] }), [asked])).toEqual([asked])
    const approval = gate('human', { type: 'approval', approvers: ['human'] })
    expect(addReviewGate(phase('REVIEW', { reviewBy: 'other', gates: [approval] }), [approval])).toEqual([approval])
  })

  it('[REQ-REVIEWOTHER-2] without `review` nothing is added', () => {
    expect(addReviewGate(phase('REVIEW', { gates: [checks] }), [checks])).toEqual([checks])
  })
})
