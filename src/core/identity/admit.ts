import type { Refusal } from '../task/refusal.js'
import type { TaskState } from '../task/state.js'

/** The content of a verified agent token. It names no phase: it stands for the task that its instance holds. */
export type AgentBearer =
  | {
      readonly kind: 'phase'
      readonly agentId: string
      readonly taskId: string
      readonly phase: string
      readonly epoch: number
      readonly contract: string
    }
  | { readonly kind: 'agent'; readonly agentId: string; readonly instance: string }

/** The content of a verified review token. It is for one visit: the agent's claims and leases do not affect it. */
export interface ReviewBearer {
  readonly kind: 'review'
  readonly reviewer: string
  readonly taskId: string
  readonly phase: string
  readonly visit: number
  readonly contract: string
  /** The number of this reviewer's token: only the newest is valid. */
  readonly grant: string
}

/** The content of a verified participant token. It is only for that council. */
export interface ParticipantBearer {
  readonly kind: 'participant'
  readonly runId: string
  readonly agentId: string
}

/** The content of a verified token that gives access to a task. */
export type Bearer = AgentBearer | ReviewBearer

/** How the ledger names the bearer. */
export function formatBearerName(bearer: Bearer): string {
  return bearer.kind === 'review' ? `reviewer:${bearer.reviewer}` : `agent:${bearer.agentId}`
}

/** Checks a verified token against stored state: the task's agent, phase and epoch must match. (REQ-TOKEN-2) */
export function admit(state: TaskState, bearer: Bearer): Refusal | null {
  if (bearer.kind === 'review') return checkReviewToken(state, bearer)
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

const REVIEWABLE: ReadonlySet<TaskState['status']> = new Set<TaskState['status']>([
  ...(['active', 'awaiting_approval', 'queued', 'interrupted'] as const),
])

/** False once the task is parked or over: then reviewers are refused. */
export function mayBeReviewed({ status }: TaskState): boolean {
  return REVIEWABLE.has(status)
}

// The visit decides, not the epoch: an expired lease of the agent does not end its reviewers' access. (REQ-REVIEW-2)
function checkReviewToken(state: TaskState, bearer: ReviewBearer): Refusal | null {
  const stale = (detail: string): Refusal => ({ code: 'token_stale', detail })
  if (bearer.taskId !== state.id)
    return { code: 'token_mismatch', detail: `The token was issued for task ${bearer.taskId}, not for ${state.id}.` }
  if (bearer.visit !== state.visit || bearer.phase !== state.phase || bearer.contract !== state.contract.hash)
    return stale('The visit of the phase that the review token was issued for is over.')
  if (!mayBeReviewed(state))
    return { code: 'task_not_active', detail: `Task ${state.id} is ${state.status} and cannot be reviewed now.` }
  const reviewer = state.reviewers.get(bearer.reviewer)
  if (reviewer === undefined || reviewer.visit !== state.visit || reviewer.grant !== bearer.grant)
    return stale(`The token of reviewer ${bearer.reviewer} was superseded.`)
  if (reviewer.status === 'revoked') return stale(`The token of reviewer ${bearer.reviewer} was revoked.`)
  if (reviewer.status === 'finished')
    return stale(`Reviewer ${bearer.reviewer} has finished with this token: another review needs a new token.`)
  if (state.holders.includes(bearer.reviewer))
    return { code: 'not_permitted', detail: `Agent ${bearer.reviewer} works on task ${state.id} and cannot review it.` }
  return null
}
