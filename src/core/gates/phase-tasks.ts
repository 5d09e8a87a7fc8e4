import type { Contract, Phase } from '../contract/contract.js'
import type { PhaseTask } from '../contract/phase-document.js'
import type { TaskFact } from '../task/event.js'
import { type Decision, makeDecision, numberRefusal, refuseWithinBudget } from '../task/refusal.js'
import type { TaskState } from '../task/state.js'
import { requirePhase } from '../tool-calls/offered-tools.js'

/** The tasks that a phase hands out one at a time; empty where it hands out all at once, or has none. */
export function listOrderedTasks(phase: Phase): readonly PhaseTask[] {
  return phase.tasksInOrder === true ? (phase.document?.tasks ?? []) : []
}

/** The tasks that are still to be done in this visit; the first of them is the one that is handed out. */
export function openTasks(phase: Phase, state: TaskState): readonly PhaseTask[] {
  return listOrderedTasks(phase).filter((task) => !state.tasksDone.includes(task.id))
}

/** The tasks whose text may be shown with the phase: all, or of those that are handed out in order the one at hand. */
export function listShownTasks(phase: Phase, state: TaskState): readonly PhaseTask[] {
  if (listOrderedTasks(phase).length === 0 || phase.id !== state.phase) return phase.document?.tasks ?? []
  return openTasks(phase, state).slice(0, 1)
}

/** Which of the claims name tasks of the phase, in the order of the phase. */
export function listClaimedTasks(phase: Phase, claims: readonly string[]): readonly string[] {
  return listOrderedTasks(phase)
    .map((task) => task.id)
    .filter((id) => claims.includes(id))
}

/** Takes the task that is handed out as done, and no other. */
export function finishTask(contract: Contract, state: TaskState, command: { readonly task: string }): Decision {
  const [current] = openTasks(requirePhase(contract, state.phase), state)
  const agentId = state.held?.agentId ?? ''
  const { leaseSeconds } = contract.enforcement
  if (state.tasksDone.includes(command.task)) return makeDecision([])
  if (current?.id === command.task) {
    const done: TaskFact = { type: 'phase_task_finished', agentId, task: command.task, leaseSeconds }
    return makeDecision([done])
  }
  const detail = `Cannot finish ${command.task}: the task at hand is ${current?.id ?? 'none'}`
  return refuseWithinBudget(contract, state, {
    type: 'transition_refused',
    agentId,
    to: state.phase,
    leaseSeconds,
    ...numberRefusal(contract, state, { code: 'phase_sequence_violation', detail }),
  })
}
