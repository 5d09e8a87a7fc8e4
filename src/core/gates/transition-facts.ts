import { REVIEW_ARTIFACTS } from '../reviews/review.js'
import type { GateFacts } from '../task/command.js'
import type { ArtifactRef, TaskFact } from '../task/event.js'
import type { Decision } from '../task/refusal.js'
import type { TaskState } from '../task/state.js'
import type { Needs } from './needs.js'

/** What is asked of others stands before the refusal that tells of it. */
export function addFacts(
  decision: Decision,
  one: { readonly before: readonly TaskFact[]; readonly added: readonly TaskFact[] },
): Decision {
  if (decision.kind !== 'decided') return decision
  return { ...decision, facts: [...one.before, ...one.added, ...decision.facts.slice(one.before.length)] }
}

/** What was handed in and fits. */
export function listAcceptedArtifacts(needed: Needs, facts: GateFacts): readonly ArtifactRef[] {
  return facts.artifacts
    .filter(
      (artifact) =>
        artifact.problems.length === 0 && needed.artifacts.some((required) => required.type === artifact.type),
    )
    .map(({ type, sha256, bytes, grade }) => ({ type, sha256, bytes, grade, ...ownReview(needed, type) }))
}

// Where nobody else is asked, the agent's own report is all there is, and everybody who reads of it is told.
function ownReview(needed: Needs, type: string): Pick<ArtifactRef, 'selfReview'> {
  return needed.reviews === null && REVIEW_ARTIFACTS.includes(type) ? { selfReview: true } : {}
}

/** What there is of this visit, with what was handed in now. */
export function visitArtifacts(state: TaskState, accepted: readonly ArtifactRef[]): readonly ArtifactRef[] {
  const all = new Map<string, ArtifactRef>()
  for (const { phase: _, visit, ...ref } of state.artifacts.values()) if (visit === state.visit) all.set(ref.type, ref)
  for (const ref of accepted) all.set(ref.type, ref)
  return [...all.values()]
}
