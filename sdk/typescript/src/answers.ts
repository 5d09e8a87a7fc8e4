import type { ApprovalCheck, Diff, SinceLast } from './diff-answers.js'
import type { Blocker, PendingApproval, Retry } from './errors.js'
import type { Json, JsonObject } from './json.js'

/** The contract of a task, as it was when the task was added. */
export type ContractRef = { readonly name: string; readonly version: string; readonly hash: string }

/** The separate work tree of a task. */
export type Worktree = { readonly branch: string; readonly status: string; readonly commit: string | null }

/** A task as the server shows it; it may have more fields than those named here. */
export interface Task extends JsonObject {
  readonly id: string
  readonly title: string
  readonly description: string
  readonly status: string
  readonly phase: string
  readonly epoch: number
  readonly agent_id: string | null
  readonly contract: ContractRef
  readonly depends_on: readonly string[]
  readonly requires: readonly string[]
  readonly workspace: string
  readonly worktree?: Worktree
  readonly completed_phases: readonly string[]
  readonly lease_expires_at: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly mode: string | null
  readonly visit: number
  readonly refusals: number
  readonly parked_reason: string | null
  readonly pending_approval: PendingApproval | null
  readonly open_questions: number
  readonly reviewers_wanted: readonly { readonly name: string; readonly status: string }[]
  readonly claimable_at: string | null
  readonly alerts: readonly Alert[]
}

/** A condition of the contract's monitoring that is currently met. */
export type Alert = {
  readonly alert: string
  readonly condition: string
  readonly message: string
  readonly since: string
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
  /** The call opened a gate with `auto_advance`; this is the new phase of the task. */
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

/** What to do now. If a claim led to a transition, also its result. */
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
  readonly task_id: string
  readonly task_title: string
  readonly agent_id: string | null
  readonly workspace: string
  readonly gate: string
  readonly phase: string
  readonly target_phase: string
  readonly status: string
  readonly digest: string
  readonly approvers: readonly string[]
  readonly min_approvals: number
  readonly decisions: readonly Decision[]
  readonly artifacts: readonly Artifact[]
  /** The contents of the artifacts, by type. Only when a single approval is requested. */
  readonly contents?: JsonObject
  readonly evidence: JsonObject
  readonly warnings: readonly JsonObject[]
  readonly expires_at: string
  /** The rest only for operators and reviewers, when a single approval is requested. */
  readonly waiting_seconds?: number
  /** The work tree is not the one any more that was asked about. */
  readonly outdated?: boolean
  readonly diff?: Diff
  readonly checks?: readonly ApprovalCheck[]
  readonly refusals?: readonly JsonObject[]
  readonly since_last?: SinceLast | null
}

export type Decision = {
  readonly by: string
  readonly decision: string
  readonly comment: string | null
  readonly at: string
  /** Where the person decided; null: over the API. Absent in answers of older servers. */
  readonly channel?: string | null
}

/** An artifact without its content. */
export type Artifact = {
  readonly type: string
  readonly sha256: string
  readonly bytes: number
  readonly grade: string
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

/** The result of a response in a council. A refused one says in `message` what is required instead. */
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
