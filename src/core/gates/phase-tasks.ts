import type { Contract, Phase } from '../contract/contract.js'
import type { PhaseTask } from '../contract/phase-document.js'
import type { TaskFact } from '../task/event.js'
import { type Decision, makeDecision, numberRefusal, refuseWithinBudget } from '../task/refusal.js'
import type { TaskState } from '../task/state.js'
import { requirePhase } from '../tool-calls/offered-tools.js'

/** The tasks that a phase hands out one at a time; empty if it hands out all at once, or has none. */
export function listOrderedTasks(phase: Phase): readonly PhaseTask[] {
  return phase.tasksInOrder === true ? (phase.document?.tasks ?? []) : []
}

/** The unfinished tasks of this visit; the first one is handed out. */
export function openTasks(phase: Phase, state: TaskState): readonly PhaseTask[] {
  return listOrderedTasks(phase).filter((task) => !state.tasksDone.includes(task.id))
}

/** The tasks whose text may be shown with the phase: all, or only the current one if they are handed out in order. */
export function listShownTasks(phase: Phase, state: TaskState): readonly PhaseTask[] {
  if (listOrderedTasks(phase).length === 0 || phase.id !== state.phase) return phase.document?.tasks ?? []
  return openTasks(phase, state).slice(0, 1)
}

/** The statements that name tasks of the phase, in the order of the phase. */
export function listClaimedTasks(phase: Phase, claims: readonly string[]): readonly string[] {
  return listOrderedTasks(phase)
    .map((task) => task.id)
    .filter((id) => claims.includes(id))
}

/** Marks the current task as done, and no other. */
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
