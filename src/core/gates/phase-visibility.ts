import type { Contract } from '../contract/contract.js'
import type { TaskState } from '../task/state.js'

/** Whether the task's agent may see the phase's content: the current phase, and completed ones for review. */
export function mayRead(state: TaskState, phase: string): boolean {
  return phase === state.phase || state.completedPhases.includes(phase)
}

/** The phase as answers name it: by its number where it has a document, by its id otherwise. */
export function formatPhaseName(contract: Contract, id: string): number | string {
  return contract.phases.get(id)?.document?.number ?? id
}
