import type { TaskEvent, TaskFact } from './event.js'
import type { Decision } from './refusal.js'
import type { TaskState } from './state.js'

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

export function heldOutFailed(state: TaskState, event: TaskEvent & { type: 'held_out_failed' }): TaskState {
  if (state.heldOut === undefined) return state
  return { ...state, heldOut: { ...state.heldOut, failures: event.failures, run: event.run } }
}

/** An operator took the task up again. */
export function heldOutLookedAt({ heldOut }: TaskState): Pick<TaskState, 'heldOut'> {
  return heldOut === undefined ? {} : { heldOut: { ...heldOut, failures: 0 } }
}

/** What is recorded when held-out examples failed. */
export function heldOutFacts(state: TaskState, run: string | null | undefined): readonly TaskFact[] {
  if (state.heldOut === undefined || run === null || run === undefined) return []
  return [{ type: 'held_out_failed', run, failures: state.heldOut.failures + 1 }]
}

/** Parks the task when they failed too often. */
export function parkedByHeldOut(decision: Decision): Decision {
  if (decision.kind !== 'decided' || decision.facts.some((fact) => fact.type === 'task_parked')) return decision
  const failures = decision.facts.flatMap((fact) => (fact.type === 'held_out_failed' ? [fact.failures] : []))
  if (!failures.some((count) => count >= HELD_OUT_FAILURES_MAX)) return decision
  const reason = `Held-out examples failed ${HELD_OUT_FAILURES_MAX} times: look at them with \`phaselock task show\` and resume the task`
  return { ...decision, facts: [...decision.facts, { type: 'task_parked', reason, code: 'check_failed' }] }
}
