import type { ReviewBearer } from '../core/identity/admit.js'
import type { JsonObject } from '../core/json.js'
import type { Refusal } from '../core/task/refusal.js'
import type { TaskState } from '../core/task/state.js'
import type { Remembered } from '../store/store.js'
import type { Problem } from './result.js'

/** Under which key the answer of an unsafe call is kept, so that sending it twice acts once. */
export interface Once {
  readonly principal: string
  readonly key: string
  readonly bodyHash: string
}

/** What a phase token is minted from. Kept with an answer, so that the token can be minted again and is never stored. */
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

/** What the token of an operator is made from. */
export type AddedOperator = { readonly name: string; readonly role: string | null; readonly seed: string }

/** The answer to a completion without tokens and contents. */
export type Completion = {
  readonly body: JsonObject
  /** The phase whose content belongs to the answer, and the visit it was given in. */
  readonly phase: string
  readonly visit: number
  readonly task: string
  readonly grant?: Grant
}

/** The answer to a transition without its token and its prompt; `prompt_of`: it came through `next`. */
export type Moved = {
  readonly body: JsonObject
  readonly grant?: Grant
  readonly entered?: boolean
  readonly prompt_of?: string
}

export type Refused = { readonly problem: Problem }

/** What is kept of an answer under the key of its call. Tokens and contents are made again when it is given again. */
export type KeptAnswer =
  /** The call is made again, and does nothing twice by itself. */
  | { readonly again: true }
  | { readonly claim: Grant; readonly resumed: boolean }
  | { readonly renewed: Grant }
  | { readonly operator: AddedOperator }
  | { readonly agent: AgentGrant }
  | { readonly reviewer: ReviewGrant }
  | { readonly spawn: { readonly agent_id: string; readonly task_id: string } }
  | { readonly coordination: string }
  /** `ran`: where the task was when the tool had run; the answer says where Phaselock took it since. */
  | { readonly body: JsonObject; readonly ran: Grant }
  | Refused
  | { readonly completion: Completion }
  | Moved

/** An answer as the store keeps it. */
export type Kept = Remembered & { readonly answer: KeptAnswer }

/** The answer to be kept under the key of the call; undefined where it has none. */
export function keepUnder(once: Once | undefined, status: number, answer: () => KeptAnswer): Kept | undefined {
  return once === undefined ? undefined : { ...once, status, answer: answer() }
}

/** Keeps the answer that is made of the new state, unless the command was refused. */
export function keepBody(once: Once | undefined, status: number, bodyOf: (state: TaskState) => JsonObject) {
  return (done: { readonly refusal: Refusal | null; readonly state: TaskState }): Kept | undefined =>
    done.refusal === null ? keepUnder(once, status, () => ({ body: bodyOf(done.state) })) : undefined
}
