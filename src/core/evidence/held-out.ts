import type { TaskEvent } from '../task/event.js'
import { type Decision, makeDecision } from '../task/refusal.js'
import type { TaskState } from '../task/state.js'

/** Held-out examples of a task: how many, and where they are stored. The store is salted: nobody can guess them by the hash. */
export interface HeldOutRef {
  readonly sha256: string
  readonly count: number
}

export interface HeldOut extends HeldOutRef {
  /** How often they failed since an operator last looked at the task. */
  readonly failures: number
  /** Where the outcome of the last failure is stored. */
  readonly run: string | null
}

/** Each failure tells the agent a little: after so many a person looks at the task. */
export const HELD_OUT_FAILURES_MAX = 5

export function applyHeldOutFailed(state: TaskState, event: TaskEvent & { type: 'held_out_failed' }): TaskState {
  if (state.heldOut === undefined) return state
  return { ...state, heldOut: { ...state.heldOut, failures: event.failures, run: event.run } }
}

/** An operator took the task up again. */
export function resetHeldOutFailures({ heldOut }: TaskState): Pick<TaskState, 'heldOut'> {
  return heldOut === undefined ? {} : { heldOut: { ...heldOut, failures: 0 } }
}

/** Recorded before the answer, whatever becomes of the request: what the agent learns counts. */
export function recordHeldOut(state: TaskState, run: string): Decision {
  if (state.heldOut === undefined) return makeDecision([])
  return makeDecision([{ type: 'held_out_failed', run, failures: state.heldOut.failures + 1 }])
}

/** Whether a person has to look at the task before they are run again. */
export function needsReview({ heldOut }: TaskState): boolean {
  return (heldOut?.failures ?? 0) >= HELD_OUT_FAILURES_MAX
}

/** Parks a task whose gate was blocked when its held-out examples had failed too often. */
export function parkAfterHeldOutFailures(state: TaskState, decision: Decision): Decision {
  if (decision.kind !== 'decided' || decision.facts.some((fact) => fact.type === 'task_parked')) return decision
  if (!needsReview(state)) return decision
  const reason = `Held-out examples failed ${HELD_OUT_FAILURES_MAX} times: look at them with \`phaselock task show ${state.id}\` and resume the task`
  return { ...decision, facts: [...decision.facts, { type: 'task_parked', reason, code: 'check_failed' }] }
}
