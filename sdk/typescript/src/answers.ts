import type { Blocker, PendingApproval, Retry } from './errors.js'
import type { Json, JsonObject } from './json.js'

/** A task, as the server shows it; fields that are not named here are there too. */
export interface Task extends JsonObject {
  readonly id: string
  readonly title: string
  readonly description: string
  readonly status: string
  readonly phase: string
  readonly epoch: number
  readonly workspace: string
  readonly lease_expires_at: string | null
  readonly updated_at: string
}

export interface ClaimAnswer extends JsonObject {
  readonly task: Task
  readonly phase: string
  readonly expires_at: string
  readonly allowed_tools: readonly string[]
  readonly prompt: string
  readonly contract: JsonObject
  /** A resumed claim: what changed in the work tree without an allowed call. Absent in answers of older servers. */
  readonly warnings?: readonly JsonObject[]
}

export interface TransitionAnswer extends JsonObject {
  readonly allowed: true
  readonly phase: string
  readonly status: string
  readonly prompt: string | null
  readonly allowed_tools: readonly string[]
}

export interface Interrupt {
  readonly kind: 'interrupt'
  readonly text: string
  readonly phase: string
  readonly violation: JsonObject
}

export interface ToolAnswer {
  readonly result: Json
  readonly logged: true
  readonly decision: string
  readonly duration_ms: number
  /** What a mode other than strict let through. */
  readonly violation?: JsonObject
  readonly unenforced?: readonly string[]
  /** A rule was violated: read it before you go on. */
  readonly interrupt?: Interrupt
  /** The call made a gate with `auto_advance` open, and this is the phase that the task is in now. */
  readonly advanced?: JsonObject
}

export interface ToolCheck {
  readonly allowed: boolean
  readonly code?: string
  readonly detail?: string
  readonly allowed_tools: readonly string[]
  readonly violation?: JsonObject
  readonly retry?: Retry
}

export interface ToolCall {
  readonly tool_name: string
  readonly args: JsonObject
}

export type BatchResult =
  | (ToolAnswer & { readonly tool_name: string; readonly error?: undefined })
  | { readonly tool_name: string; readonly error: JsonObject & { readonly code: string; readonly detail: string } }

export interface BatchAnswer {
  readonly results: readonly BatchResult[]
  readonly advanced?: JsonObject
}

/** What to do now. Where a claim led to a transition also what became of it. */
export interface PromptAnswer {
  readonly kind: 'prompt' | 'interrupt'
  readonly text: string
  readonly phase: string
  readonly violation?: JsonObject
  readonly allowed?: boolean
  readonly blockers?: readonly Blocker[]
  readonly pending_approval?: PendingApproval
  readonly completed?: boolean
}

export interface CompletionAnswer {
  readonly checkpoint_passed: boolean
  readonly phase_completed?: Json
  readonly next_phase?: Json
  readonly next_phase_content?: JsonObject
  readonly workflow_complete?: boolean
  readonly missing_evidence?: readonly string[]
  readonly required_format?: JsonObject
  readonly blockers?: readonly Blocker[]
  readonly pending_approval?: PendingApproval
  readonly message?: string
}

export interface Approval extends JsonObject {
  readonly id: string
  readonly status: string
  readonly digest: string
  readonly decisions: readonly JsonObject[]
}

export interface Usage {
  /** Without the cache. */
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens?: number
  readonly cacheCreationTokens?: number
  readonly model?: string
  /** One message counts once, with its largest numbers. */
  readonly messageId?: string
}

export interface SearchOptions {
  /** Its id or, in a workflow of documents, its number. */
  readonly phase?: string | number
  readonly tags?: readonly string[]
  readonly workflow?: string
  readonly nResults?: number
}

/** What became of a response in a coordination. A refused one says in `message` what is required instead. */
export interface ResponseAnswer {
  readonly accepted: boolean
  readonly action?: string
  readonly label?: string
  readonly reason?: string
  readonly message?: string
  readonly attempt: number
  readonly max_attempts: number
  readonly round: number
  readonly view: JsonObject
}
