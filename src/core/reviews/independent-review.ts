import type { Gate, Phase } from '../contract/contract.js'
import { listNeededReviews } from './consensus-plan.js'

const ANSWER_SECONDS_MAX = 24 * 60 * 60

/** A person who reviews the change instead of a reviewer. */
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
 * The gates for leaving the phase. Work that needs an independent review also needs an approval if the phase has no
 * reviewers and no gate asks anybody.
 */
export function addReviewGate(phase: Phase | undefined, gates: readonly Gate[]): readonly Gate[] {
  if (phase?.reviewBy !== 'other' || listNeededReviews(phase) !== null) return gates
  const asksSomebody = (gate: Gate): boolean => gate.approvers.some((name) => name !== 'orchestrator')
  return gates.some(asksSomebody) ? gates : [...gates, REVIEW_GATE]
}
