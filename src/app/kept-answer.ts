import type { ReviewBearer } from '../core/identity/admit.js'
import type { JsonObject } from '../core/json.js'
import type { Refusal } from '../core/task/refusal.js'
import type { TaskState } from '../core/task/state.js'
import type { Remembered } from '../store/store.js'
import type { Problem } from './result.js'

/** The key under which the answer of an unsafe call is stored, so that sending it twice acts once. */
export interface Once {
  readonly principal: string
  readonly key: string
  readonly bodyHash: string
  /** The call has stored that it began; its answer takes that place. */
  readonly replaces?: true
}

/**
 * What a phase token is minted from. Stored with an answer, so that the token can be minted again and is never stored.
 */
export type Grant = {
  readonly agentId: string
  readonly taskId: string
  readonly phase: string
  readonly epoch: number
  readonly contract: string
}

/** What an agent token is minted from. */
export type AgentGrant = { readonly id: string; readonly instance: string; readonly expiresAt: number }

/** What a review token is minted from. */
export type ReviewGrant = Omit<ReviewBearer, 'kind'> & { readonly expiresAt: number }

/** What an operator token is made from. */
export type AddedOperator = { readonly name: string; readonly role: string | null; readonly seed: string }

/** The answer to a completion without tokens and contents. */
export type Completion = {
  readonly body: JsonObject
  /** The phase whose content belongs to the answer, and its visit. */
  readonly phase: string
  readonly visit: number
  readonly task: string
  readonly grant?: Grant
}

/** The answer to a transition without its token and prompt; `prompt_of`: the request came through `next`. */
export type Moved = {
  readonly body: JsonObject
  readonly grant?: Grant
  readonly entered?: boolean
  readonly prompt_of?: string
}

export type Refused = { readonly problem: Problem }

/** What is stored of an answer under the key of its call. Tokens and contents are rebuilt when it is sent again. */
export type KeptAnswer =
  /** The call is made again, which is safe: it is idempotent. */
  | { readonly again: true }
  | { readonly claim: Grant; readonly resumed: boolean }
  | { readonly renewed: Grant }
  | { readonly operator: AddedOperator }
  | { readonly agent: AgentGrant }
  | { readonly reviewer: ReviewGrant }
  | { readonly spawn: { readonly agent_id: string; readonly task_id: string } }
  | { readonly coordination: string }
  /** `ran`: the task's phase when the tool had run; the answer also says where Phaselock moved the task since. */
  | { readonly body: JsonObject; readonly ran: Grant }
  | Refused
  /** The call may act outside the work tree, and has begun. Replaced when it is done. */
  | { readonly began: { readonly task: string; readonly tool: string } }
  | { readonly completion: Completion }
  | Moved

/** An answer as stored. */
export type Kept = Remembered & { readonly answer: KeptAnswer }

/** The answer to store under the key of the call; undefined if the call has no key. */
export function keepUnder(once: Once | undefined, status: number, answer: () => KeptAnswer): Kept | undefined {
  return once === undefined ? undefined : { ...once, status, answer: answer() }
}

/** Stores the answer built from the new state, unless the command was refused. */
export function keepBody(once: Once | undefined, status: number, bodyOf: (state: TaskState) => JsonObject) {
  return (done: { readonly refusal: Refusal | null; readonly state: TaskState }): Kept | undefined =>
    done.refusal === null ? keepUnder(once, status, () => ({ body: bodyOf(done.state) })) : undefined
}
