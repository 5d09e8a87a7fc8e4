import type { GateFacts } from './command.js'
import type { ArtifactRef, TaskFact } from './event.js'
import type { Needs } from './needs.js'
import type { Decision } from './refusal.js'
import type { TaskState } from './state.js'

/** What is asked of others stands before the refusal that tells of it. */
export function withFacts(
  decision: Decision,
  one: { readonly before: readonly TaskFact[]; readonly added: readonly TaskFact[] },
): Decision {
  if (decision.kind !== 'decided') return decision
  return { ...decision, facts: [...one.before, ...one.added, ...decision.facts.slice(one.before.length)] }
}

/** What was handed in and fits. */
export function acceptedArtifacts(needed: Needs, facts: GateFacts): readonly ArtifactRef[] {
  return facts.artifacts
    .filter((one) => one.problems.length === 0 && needed.artifacts.some((required) => required.type === one.type))
    .map(({ type, sha256, bytes, grade }) => ({ type, sha256, bytes, grade }))
}

/** What there is of this visit, with what was handed in now. */
export function visitArtifacts(state: TaskState, accepted: readonly ArtifactRef[]): readonly ArtifactRef[] {
  const all = new Map<string, ArtifactRef>()
  for (const { type, sha256, bytes, grade, visit } of state.artifacts.values())
    if (visit === state.visit) all.set(type, { type, sha256, bytes, grade })
  for (const ref of accepted) all.set(ref.type, ref)
  return [...all.values()]
}
