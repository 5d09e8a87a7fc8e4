import type { Blocker, Phase } from '../contract/contract.js'
import type { TaskState } from '../task/state.js'
import { listAskedReviews, REVIEW_ARTIFACTS, REVIEW_CHECKS } from './review.js'

/** Changes with every call that may have changed the work: earlier readings are outdated. */
export function formatWorkKey({ visit, watch }: TaskState): string {
  return JSON.stringify([visit, watch.mark, watch.facts.commands.added, watch.facts.edits.added])
}

/** Required reviews by others for leaving the phase; null: none, and the agent's own counts. */
export function listNeededReviews(phase: Phase): readonly string[] | null {
  const asked = listAskedReviews(phase)
  const voters = phase.consensus?.voters.map((voter) => voter.id) ?? []
  return asked === null && voters.length === 0 ? null : [...new Set([...(asked ?? []), ...voters])]
}

/** True when only voters review: then artifacts derived from reviews exist only after the vote. */
export function isReviewedByVotersOnly(phase: Phase): boolean {
  const voters = phase.consensus?.voters.map((voter) => voter.id)
  return voters !== undefined && (listAskedReviews(phase) ?? []).every((name) => voters.includes(name))
}

/** True for a check that cannot pass before there are reviews. */
export function dependsOnReviews(asked: Pick<Blocker, 'check' | 'params'>, artifact: string | null): boolean {
  if (REVIEW_CHECKS.has(asked.check) || (artifact !== null && REVIEW_ARTIFACTS.includes(artifact))) return true
  return asked.check === 'expression' && OF_REVIEWS.test(String(asked.params.when ?? ''))
}

const OF_REVIEWS = new RegExp(`\\b(${REVIEW_ARTIFACTS.join('|')})\\b`)
