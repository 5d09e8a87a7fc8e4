import { describe, expect, it } from 'vitest'
import { VotedTask } from './consensus-scene.js'
import { artifact, check, gate } from './world.js'

describe('a review report where reviewers vote', () => {
  const report = { type: 'review_report', schema: null, description: '', checks: [check('no_blocking_issues')] }
  const reviewed = {
    requiredArtifacts: [report],
    gates: [gate('g', { blockers: [check('review_comments_addressed')] })],
  }

  it('[REQ-CONSENSUS-10] does not keep the reviewers from being asked', () => {
    const task = new VotedTask(reviewed)
    expect(task.leave()).toContain('consensus_requested')
    expect(task.blocked().blockers.map((one) => one.code)).toEqual(['consensus_pending'])
  })

  it('[REQ-CONSENSUS-10] that the agent wrote itself opens nothing after the vote', () => {
    const task = new VotedTask(reviewed)
    task.leave()
    task.agree()
    task.move('DONE', { consensus: task.seen('s1'), artifacts: [artifact('review_report')], reviewsKey: '[]' })
    expect(task.blocked().blockers.map((one) => one.code)).toContain('missing_artifact')
    expect(task.state.phase).toBe('WORK')
  })

  it('[REQ-CONSENSUS-10] keeps them from being asked where others must report first', () => {
    const asked = check('all_review_models_completed', { params: { required_reviews: ['security'] } })
    const task = new VotedTask({ ...reviewed, gates: [gate('g', { blockers: [asked] })] })
    expect(task.leave()).not.toContain('consensus_requested')
  })
})
