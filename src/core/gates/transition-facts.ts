import { REVIEW_ARTIFACTS } from '../reviews/review.js'
import type { GateFacts } from '../task/command.js'
import type { TaskFact } from '../task/event.js'
import type { ArtifactRef } from '../task/fact-parts.js'
import type { Decision } from '../task/refusal.js'
import type { TaskState } from '../task/state.js'
import type { Needs } from './needs.js'

/** Requests to others are recorded before the refusal that mentions them. */
export function addFacts(
  decision: Decision,
  one: { readonly before: readonly TaskFact[]; readonly added: readonly TaskFact[] },
): Decision {
  if (decision.kind !== 'decided') return decision
  return { ...decision, facts: [...one.before, ...one.added, ...decision.facts.slice(one.before.length)] }
}

/** Submitted artifacts that match their schema. */
export function listAcceptedArtifacts(needed: Needs, facts: GateFacts): readonly ArtifactRef[] {
  return facts.artifacts
    .filter(
      (artifact) =>
        artifact.problems.length === 0 && needed.artifacts.some((required) => required.type === artifact.type),
    )
    .map(({ type, sha256, bytes, grade }) => ({ type, sha256, bytes, grade, ...ownReview(needed, type) }))
}

// Without an independent review, the agent's own report is all there is, and it is marked as such.
function ownReview(needed: Needs, type: string): Pick<ArtifactRef, 'selfReview'> {
  return needed.reviews === null && REVIEW_ARTIFACTS.includes(type) ? { selfReview: true } : {}
}

/** The artifacts of this visit, including those submitted now. */
export function visitArtifacts(state: TaskState, accepted: readonly ArtifactRef[]): readonly ArtifactRef[] {
  const all = new Map<string, ArtifactRef>()
  for (const { phase: _, visit, ...ref } of state.artifacts.values()) if (visit === state.visit) all.set(ref.type, ref)
  for (const ref of accepted) all.set(ref.type, ref)
  return [...all.values()]
}
