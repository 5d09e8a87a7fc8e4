import type { GateFacts } from '../task/command.js'
import type { TaskFact } from '../task/event.js'
import type { TaskState } from '../task/state.js'

/**
 * The event that the phase's evidence was accepted; none if it does not hold, was not required, or is already known.
 */
export function makeCheckpointFacts(
  state: TaskState,
  given: { readonly facts: GateFacts; readonly agentId: string; readonly asked: number },
): readonly TaskFact[] {
  const { facts, agentId, asked } = given
  const isOpen = facts.evidenceProblems.length > 0 || (facts.evidenceOpen ?? []).length > 0
  if (asked === 0 || isOpen || facts.visit !== state.visit) return []
  const { evidence, evidenceRef, proofs } = facts
  const before = state.checkpoints.get(state.phase)
  const isSame =
    evidenceRef !== undefined &&
    before?.visit === state.visit &&
    before.sha256 === evidenceRef.sha256 &&
    JSON.stringify(before.proofs) === JSON.stringify(proofs ?? {})
  return isSame
    ? []
    : [{ type: 'checkpoint_passed', agentId, evidence, ...evidenceRef, ...(proofs === undefined ? {} : { proofs }) }]
}
