import type { TaskEvent } from '../task/event.js'
import { type Decision, makeDecision } from '../task/refusal.js'
import type { TaskState } from '../task/state.js'

/** Each failure reveals a little to the agent: after this many, an operator looks at the task. */
const HELD_OUT_FAILURES_MAX = 5

export function applyHeldOutFailed(state: TaskState, event: TaskEvent & { type: 'held_out_failed' }): TaskState {
  if (state.heldOut === undefined) return state
  return { ...state, heldOut: { ...state.heldOut, failures: event.failures, run: event.run } }
}

/** Sets the failures to 0, because an operator resumed the task. */
export function resetHeldOutFailures({ heldOut }: TaskState): Pick<TaskState, 'heldOut'> {
  return heldOut === undefined ? {} : { heldOut: { ...heldOut, failures: 0 } }
}

/** Recorded before the answer, whatever the result of the request, because the agent learns from it. */
export function recordHeldOut(state: TaskState, run: string): Decision {
  if (state.heldOut === undefined) return makeDecision([])
  return makeDecision([{ type: 'held_out_failed', run, failures: state.heldOut.failures + 1 }])
}

/** Whether an operator has to look at the task before its held-out examples run again. */
export function needsReview({ heldOut }: TaskState): boolean {
  return (heldOut?.failures ?? 0) >= HELD_OUT_FAILURES_MAX
}

/** Parks a task that is blocked after its held-out examples failed too often. */
export function parkAfterHeldOutFailures(state: TaskState, decision: Decision): Decision {
  if (decision.kind !== 'decided' || decision.facts.some((fact) => fact.type === 'task_parked')) return decision
  if (!needsReview(state)) return decision
  const reason = `Held-out examples failed ${HELD_OUT_FAILURES_MAX} times: look at them with \`phaselock task show ${state.id}\` and resume the task`
  return { ...decision, facts: [...decision.facts, { type: 'task_parked', reason, code: 'check_failed' }] }
}
