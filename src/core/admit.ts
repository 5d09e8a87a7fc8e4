import type { Refusal } from './refusal.js'
import type { TaskState } from './state.js'

/** What a verified token says of its bearer. An agent token names no phase: it stands for whatever its instance holds. */
export type Bearer =
  | {
      readonly kind: 'phase'
      readonly agentId: string
      readonly taskId: string
      readonly phase: string
      readonly epoch: number
      readonly contract: string
    }
  | { readonly kind: 'agent'; readonly agentId: string; readonly instance: string }

/** Holds a verified token against stored state: the task's agent, phase and epoch must be the token's. (REQ-TOKEN-2) */
export function admit(state: TaskState, bearer: Bearer): Refusal | null {
  if (bearer.kind === 'phase') {
    if (bearer.taskId !== state.id)
      return { code: 'token_mismatch', detail: `The token was issued for task ${bearer.taskId}, not for ${state.id}.` }
    if (bearer.epoch !== state.epoch || bearer.phase !== state.phase || bearer.contract !== state.contract.hash)
      return {
        code: 'token_stale',
        detail: `The token was superseded: the task is in ${state.phase} at epoch ${state.epoch}.`,
      }
  }
  if (state.status !== 'active' && state.status !== 'awaiting_approval') {
    const why = state.parkedReason === null ? '' : ` (${state.parkedReason})`
    return { code: 'task_not_active', detail: `Task ${state.id} is ${state.status}${why}.` }
  }
  if (state.held === null || state.held.agentId !== bearer.agentId)
    return { code: 'token_stale', detail: `Task ${state.id} is not held by agent ${bearer.agentId}.` }
  if (bearer.kind === 'agent' && state.held.instance !== bearer.instance)
    return {
      code: 'token_stale',
      detail: `Task ${state.id} is held by another instance of agent ${bearer.agentId}: claim it to resume.`,
    }
  return null
}
