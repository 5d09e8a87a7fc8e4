import type { Contract, Gate, Phase, Transition } from '../contract/contract.js'
import { addReviewGate } from '../reviews/independent-review.js'
import type { TaskState } from '../task/state.js'

/** The requested transition: the first from this phase to that target, preferring one whose statement was made. */
export function findTransition(
  contract: Contract,
  request: { readonly from: string; readonly to: string; readonly claims: readonly string[] },
): Transition | null {
  const candidates = contract.transitions.filter(
    (transition) => transition.from === request.from && transition.to === request.to,
  )
  return (
    candidates.find((candidate) => candidate.when === null || request.claims.includes(candidate.when)) ??
    candidates[0] ??
    null
  )
}

export function listTargets(contract: Contract, phase: string): readonly string[] {
  return [
    ...new Set(
      contract.transitions.filter((transition) => transition.from === phase).map((transition) => transition.to),
    ),
  ]
}

/** A phase without outgoing transitions. */
export function isFinal(contract: Contract, phase: Phase): boolean {
  return contract.transitions.every((transition) => transition.from !== phase.id)
}

/** Entering a final phase without requirements completes the task at once. */
export function completesOnEntry(contract: Contract, phase: Phase): boolean {
  return (
    isFinal(contract, phase) &&
    phase.requiredArtifacts.length === 0 &&
    phase.evidence.size === 0 &&
    phase.consensus === undefined &&
    !(phase.tasksInOrder === true && (phase.document?.tasks.length ?? 0) > 0) &&
    phase.gates.length === 0
  )
}

export interface Demand {
  /** null when the final phase is completed in place. */
  readonly transition: Transition | null
  readonly gates: readonly Gate[]
  /** Whether the phase's artifacts and checkpoint evidence are required: not for a stated way back. */
  readonly full: boolean
}

/**
 * What leaving the phase requires. A transition that names a gate needs only that gate, otherwise all gates of the
 * phase. A `when` transition back to an earlier phase needs only its statement and its own gate.
 */
export function computeDemand(contract: Contract, state: TaskState, transition: Transition | null): Demand {
  const phase = contract.phases.get(state.phase)
  const gates = phase?.gates ?? []
  if (transition === null) return { transition, gates: addReviewGate(phase, gates), full: true }
  const named = transition.gate === null ? null : gates.filter((gate) => gate.id === transition.gate)
  const goesBack = transition.when !== null && hasBeenIn(state, transition.to)
  if (goesBack) return { transition, gates: named ?? [], full: false }
  return { transition, gates: addReviewGate(phase, named ?? gates), full: true }
}

// Back means a phase the task has been in, not one earlier in the file: a phase that was never entered is ahead.
function hasBeenIn(state: TaskState, phase: string): boolean {
  return phase === state.phase || state.completedPhases.includes(phase)
}
