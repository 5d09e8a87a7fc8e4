import type { Gate, Phase } from '../contract/contract.js'
import { listNeededReviews } from './consensus-plan.js'

const ANSWER_SECONDS_MAX = 24 * 60 * 60

/** A person who looks at the change instead of a reviewer. */
export const REVIEW_GATE: Gate = {
  id: 'independent_review',
  type: 'approval',
  approvers: ['human'],
  minApprovals: 1,
  timeoutSeconds: ANSWER_SECONDS_MAX,
  onTimeout: 'park',
  autoAdvance: false,
  blockers: [],
}

/**
 * The gates that leaving the phase asks for. Work that somebody else has to review is held by an approval where the phase has no
 * reviewers, and no gate on the way asks anybody.
 */
export function addReviewGate(phase: Phase | undefined, gates: readonly Gate[]): readonly Gate[] {
  if (phase?.reviewBy !== 'other' || listNeededReviews(phase) !== null) return gates
  const asksSomebody = (gate: Gate): boolean => gate.approvers.some((name) => name !== 'orchestrator')
  return gates.some(asksSomebody) ? gates : [...gates, REVIEW_GATE]
}
