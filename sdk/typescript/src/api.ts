// Generated from the routes and tools of the server by `npm run generate:api`; not to be edited.
import type { Json, JsonObject } from './json.js'

export type Advanced = {
  readonly phase: string
  readonly status: TaskStatus
  readonly warnings: readonly (Blocker)[]
  readonly expires_at: (string | null)
  readonly allowed_tools: readonly (string)[]
  readonly prompt: (string | null)
}

export type AgentContract = {
  readonly name: string
  readonly version: string
  readonly hash: string
  readonly phases: readonly ({
    readonly id: string
    readonly name: string
    readonly description?: string
    readonly allowed_tools?: readonly (string)[]
    readonly required_artifacts?: readonly ({
      readonly type: string
      readonly description: string
    })[]
    readonly evidence?: readonly ({
      readonly name: string
      readonly type: string
      readonly description: string
      readonly optional: boolean
    })[]
    readonly gates?: readonly ({
      readonly id: string
      readonly type: string
      readonly checks: readonly (string)[]
    })[]
  })[]
}

export type Alert = {
  readonly alert: string
  readonly condition: "gate_block_rate" | "task_stuck_in_phase" | "approval_waiting"
  readonly limit: number
  readonly message: string
  readonly since: string
}

export type AllowedViolation = {
  readonly code: string
  readonly detail: string
}

export type ApprovalAnswer = {
  readonly id: string
  readonly task_id: string
  readonly task_title: string
  readonly agent_id: (string | null)
  readonly workspace: string
  readonly gate: string
  readonly phase: string
  readonly target_phase: string
  readonly status: "pending" | "approved" | "rejected" | "expired" | "used" | "void"
  readonly digest: string
  readonly approvers: readonly (string)[]
  readonly min_approvals: number
  readonly decisions: readonly ({
    readonly by: string
    readonly decision: "approve" | "reject"
    readonly comment: (string | null)
    readonly at: string
    readonly channel: ("in_chat" | "cli" | "dashboard" | null)
  })[]
  readonly artifacts: readonly (Artifact)[]
  readonly evidence: JsonObject
  readonly warnings: readonly (Blocker)[]
  readonly requested_at: string
  readonly expires_at: string
  readonly contents: JsonObject
  readonly waiting_seconds?: number
  readonly covers?: {
    readonly artifacts: readonly ({
      readonly type: string
      readonly sha256: string
    })[]
    readonly tree_hash: (string | null)
  }
  readonly outdated?: boolean
  readonly diff?: ApprovalDiff
  readonly checks?: readonly (ApprovalCheck)[]
  readonly refusals?: readonly (PastRefusal)[]
  readonly since_last?: (SinceLastApproval | null)
}

export type ApprovalCheck = {
  readonly gate: (string | null)
  readonly artifact: (string | null)
  readonly check: string
  readonly severity: string
  readonly status: "passed" | "failed" | "warning" | "not_run"
  readonly grade: (Grade | null)
  readonly message: string
}

export type ApprovalDiff = {
  readonly from: {
    readonly kind: "approval" | "start"
    readonly approval_id: (string | null)
    readonly visit: number
    readonly phase: (string | null)
    readonly at: (string | null)
  }
  readonly files: readonly (FileDiff)[]
  readonly totals: {
    readonly files: number
    readonly additions: number
    readonly deletions: number
  }
  readonly truncated: boolean
  readonly available: boolean
  readonly unavailable_reason: (string | null)
}

export type Artifact = {
  readonly type: string
  readonly sha256: string
  readonly bytes: number
  readonly grade: Grade
  readonly self_review?: boolean
}

export type BatchAnswer = {
  readonly results: readonly ((BatchResult | BatchRunning | BatchError))[]
  readonly advanced?: Advanced
  readonly advancing?: true
  readonly expires_at?: (string | null)
  readonly allowed_tools?: readonly (string)[]
}

export type BatchError = {
  readonly tool_name: string
  readonly error: {
    readonly code: string
    readonly detail: string
  }
}

export type BatchResult = {
  readonly tool_name: string
  /** What the tool answers. */
  readonly result: Json
  readonly logged: true
  readonly decision: "allowed"
  readonly duration_ms: number
  readonly violation?: AllowedViolation
  readonly unenforced?: readonly (string)[]
  readonly interrupt?: Interrupt
  readonly advanced?: Advanced
  readonly advancing?: true
  readonly expires_at?: (string | null)
  readonly allowed_tools?: readonly (string)[]
}

export type BatchRunning = {
  readonly tool_name: string
  readonly checking: true
  readonly decision: "allowed"
  readonly result: null
  readonly logged: true
  readonly task_id: string
  readonly phase: string
  readonly allowed_tools?: readonly (string)[]
  readonly next_step: string
}

export type Blocker = {
  readonly code: string
  readonly gate: (string | null)
  readonly check: (string | null)
  readonly artifact: (string | null)
  readonly message: string
  readonly remedy: string
  readonly severity: "blocking" | "warning" | "info"
  readonly grade?: Grade
  readonly run?: {
    readonly cause: string
    readonly mended_by: string
    readonly remedy: string
    readonly last_lines: readonly (string)[]
  }
}

export type ClaimAnswer = {
  readonly task: Task
  readonly phase: string
  readonly expires_at: string
  readonly allowed_tools: readonly (string)[]
  readonly prompt: string
  readonly contract: AgentContract
  readonly warnings: readonly (Blocker)[]
}

export type CompletionAnswer = {
  readonly checkpoint_passed: boolean
  readonly missing_evidence?: readonly (string)[]
  readonly phase_completed?: (string | number)
  readonly status?: TaskStatus
  readonly warnings?: readonly (Blocker)[]
  readonly next_phase?: (string | number)
  readonly next_phase_content?: (PhaseContent | null)
  readonly tasks?: {
    readonly current: ({
      readonly id: string
      readonly title: string
      readonly content: string
    } | null)
    readonly done: readonly (string)[]
    readonly total: number
  }
  readonly artifacts_available?: { readonly [name: string]: JsonObject }
  readonly expires_at?: (string | (string | null))
  readonly allowed_tools: readonly (string)[]
  readonly workflow_complete?: true
  readonly message?: string
  readonly current_phase?: (string | number)
  readonly current_phase_content?: (PhaseContent | null)
  readonly retry?: Retry
  readonly task_id?: string
  readonly phase?: string
  readonly next_step?: string
  readonly error?: "incomplete_checkpoint" | "rule_interrupt"
  readonly required_format?: { readonly [name: string]: EvidenceField }
  readonly examples?: JsonObject
  readonly blockers?: readonly (Blocker)[]
  readonly interrupt?: Interrupt
  readonly pending_approval?: PendingApproval
}

export type ContractRef = {
  readonly name: string
  readonly version: string
  readonly hash: string
}

export type CouncilView = {
  readonly id: string
  readonly question: string
  readonly anonymous_id: string
  readonly round: number
  readonly attempt: number
  readonly max_attempts: number
  readonly answers: readonly ({
    readonly agent_id: string
    readonly label: string
    readonly content: string
    readonly verdict: ("approve" | "request_changes" | null)
  })[]
  readonly must: "new_answer" | "vote" | "new_answer_or_vote" | "present" | "wait" | "none"
  readonly valid_agents: readonly (string)[]
  readonly needs_verdict: boolean
  readonly is_complete: boolean
  readonly finish_reason: FinishReason
  readonly winner: (string | null)
}

export type DiffHunk = {
  readonly old_start: number
  readonly old_lines: number
  readonly new_start: number
  readonly new_lines: number
  readonly lines: readonly (string)[]
}

export type EvidenceField = {
  readonly type: string
  readonly description: string
  readonly required: boolean
  readonly grade: string
  readonly min?: number
  readonly max?: number
  readonly above?: number
  readonly min_length?: number
  readonly pattern?: string
  readonly enum?: readonly (Json)[]
  readonly must_be?: Json
  readonly may_be_false?: boolean
  readonly rules?: readonly (string)[]
  readonly source?: string
}

export type FileDiff = {
  readonly path: string
  readonly status: "added" | "modified" | "deleted"
  readonly binary: boolean
  readonly additions: number
  readonly deletions: number
  readonly unexplained: boolean
  readonly other_task: (string | null)
  readonly pinned: boolean
  readonly hunks: readonly (DiffHunk)[]
  readonly omitted: ("binary" | "too_large" | "too_many_files" | "secret" | "not_kept" | null)
}

export type FinishReason = "in_progress" | "completed" | "timeout" | "error" | "cancelled" | "parked"

export type Grade = "reported" | "artifact" | "observed" | "proved"

export type Interrupt = {
  readonly kind: "interrupt"
  readonly text: string
  readonly phase: string
  readonly violation: RuleViolation
}

export type KnowledgeAnswer = {
  readonly results: readonly ({
    readonly content: string
    readonly file: string
    readonly section: (string | null)
    readonly start_line: number
    readonly score: number
    readonly tokens: number
    readonly tags: readonly (string)[]
    readonly phase: (string | null)
  })[]
  readonly total_tokens: number
  readonly retrieval_method: "hybrid" | "lexical"
  readonly degraded?: true
  readonly hint?: string
  readonly query_time_ms: number
  readonly index_version: number
}

export type ParticipantView = {
  readonly id: string
  readonly question: string
  readonly anonymous_id: string
  readonly round: number
  readonly attempt: number
  readonly max_attempts: number
  readonly answers: readonly ({
    readonly agent_id: string
    readonly label: string
    readonly content: string
    readonly verdict: ("approve" | "request_changes" | null)
  })[]
  readonly must: "new_answer" | "vote" | "new_answer_or_vote" | "present" | "wait" | "none"
  readonly valid_agents: readonly (string)[]
  readonly needs_verdict: boolean
  readonly is_complete: boolean
  readonly finish_reason: FinishReason
  readonly winner: (string | null)
}

export type PastRefusal = {
  readonly seq: number
  readonly at: string
  readonly phase: string
  readonly code: string
  readonly detail: string
}

export type PendingApproval = {
  readonly id: string
  readonly digest: string
  readonly expires_at: string
}

export type PhaseAnswer = {
  readonly phase_number: (string | number)
  readonly phase_content: PhaseContent
  readonly tasks?: {
    readonly current: ({
      readonly id: string
      readonly title: string
      readonly content: string
    } | null)
    readonly done: readonly (string)[]
    readonly total: number
  }
  readonly artifacts_from_previous: { readonly [name: string]: JsonObject }
  readonly checkpoint_criteria: {
    readonly required_evidence: { readonly [name: string]: EvidenceField }
    readonly min_verified?: number
  }
}

export type PhaseContent = {
  readonly content: string
  readonly sources: readonly (string)[]
  readonly total_tokens: number
}

export type PromptAnswer = {
  readonly kind: "prompt" | "interrupt"
  readonly text: string
  readonly violation?: {
    readonly rule?: string
    readonly rule_type?: string
    readonly diagnostic?: string
    readonly suggestion?: string
    readonly metrics_snapshot?: JsonObject
    readonly recent_events?: readonly ({
      readonly at: string
      readonly text: string
    })[]
    readonly code?: string
    readonly detail?: string
  }
  readonly phase: string
  readonly task_id?: string
  readonly allowed_tools?: readonly (string)[]
  readonly next_step?: string
  readonly allowed?: (true | false)
  readonly status?: TaskStatus
  readonly expires_at?: (string | null)
  readonly prompt?: (string | null)
  readonly warnings?: readonly (Blocker)[]
  readonly artifacts?: readonly ({
    readonly type: string
    readonly sha256: string
    readonly bytes: number
    readonly grade: Grade
    readonly self_review?: boolean
    readonly phase: string
  })[]
  readonly completed?: true
  readonly blockers?: readonly (Blocker)[]
  readonly retry?: Retry
  readonly interrupt?: Interrupt
  readonly pending_approval?: PendingApproval
  readonly pending_consensus?: {
    readonly id: string
  }
}

export type ReleaseAnswer = {
  readonly task: Task
}

export type ResponseAnswer = {
  readonly accepted: boolean
  readonly action?: string
  readonly label?: string
  readonly reason?: string
  readonly message?: string
  readonly asked_again?: boolean
  readonly stopped?: string
  readonly attempt: number
  readonly max_attempts: number
  readonly round: number
  readonly view: ParticipantView
}

export type Retry = {
  readonly attempt: number
  readonly max: number
  readonly text: string
}

export type RuleViolation = {
  readonly rule: string
  readonly rule_type: string
  readonly diagnostic: string
  readonly suggestion: string
  readonly metrics_snapshot: JsonObject
  readonly recent_events: readonly ({
    readonly at: string
    readonly text: string
  })[]
}

export type SinceLastApproval = {
  readonly approval_id: string
  readonly decision: "approve" | "reject" | "pending" | "approved" | "rejected" | "expired" | "used" | "void"
  readonly comment: string
  readonly by: (string | null)
  readonly at: string
  readonly changed_artifacts: readonly (string)[]
  readonly changed_paths: (readonly (string)[] | null)
}

export type SnapshotTask = {
  readonly id: string
  readonly title: string
  readonly description: string
  readonly status: TaskStatus
  readonly phase: string
  readonly epoch: number
  readonly agent_id: (string | null)
  readonly capabilities: readonly (string)[]
  readonly contract: ContractRef
  readonly depends_on: readonly (string)[]
  readonly requires: readonly (string)[]
  readonly workspace: string
  readonly worktree?: Worktree
  readonly completed_phases: readonly (string)[]
  readonly lease_expires_at: (string | null)
  readonly created_at: string
  readonly updated_at: string
  readonly metadata: JsonObject
  readonly mode: ("strict" | "permissive" | "advisory" | null)
  readonly priority: number
  readonly visit: number
  readonly refusals: number
  readonly parked_reason: (string | null)
  readonly stash: (string | null)
  readonly pending_approval: (PendingApproval | null)
  readonly open_questions: number
  readonly reviewers_wanted: readonly ({
    readonly name: string
    readonly status: "wanted" | "registered" | "finished"
    readonly awaited: boolean
  })[]
  readonly claimable_at: (string | null)
  readonly alerts: readonly (Alert)[]
  readonly checking: boolean
}

export type StateSnapshot = {
  readonly task: (SnapshotTask | null)
  readonly current_phase: (string | null)
  readonly task_dependencies: readonly ({
    readonly id: string
    readonly status: string
  })[]
  readonly completed_tasks: readonly ({
    readonly id: string
    readonly title: string
    readonly completed_at: string
  })[]
  readonly blockers: readonly (Blocker)[]
  readonly phases: readonly ({
    readonly id: string
    readonly name: string
  })[]
  readonly agents: readonly ({
    readonly agent_id: (string | null)
    readonly task_id: string
    readonly phase: string
    readonly checking: boolean
    readonly binding: (string | null)
    readonly since: string
    readonly waiting_for_reviewers?: readonly (string)[]
    readonly refused_in_a_row?: number
  })[]
  readonly events: readonly ({
    readonly seq: number
    readonly type: string
    readonly at: string
    readonly phase: (string | null)
    readonly code: (string | null)
  })[]
  readonly next_step: string
  readonly counts: {
    readonly by_status: { readonly [name: string]: number }
    readonly active_by_phase: { readonly [name: string]: number }
  }
  readonly truncated: boolean
}

export type Task = {
  readonly id: string
  readonly title: string
  readonly description: string
  readonly status: TaskStatus
  readonly phase: string
  readonly epoch: number
  readonly agent_id: (string | null)
  readonly capabilities: readonly (string)[]
  readonly contract: ContractRef
  readonly depends_on: readonly (string)[]
  readonly requires: readonly (string)[]
  readonly workspace: string
  readonly worktree?: Worktree
  readonly completed_phases: readonly (string)[]
  readonly lease_expires_at: (string | null)
  readonly created_at: string
  readonly updated_at: string
  readonly metadata: JsonObject
  readonly mode: ("strict" | "permissive" | "advisory" | null)
  readonly priority: number
  readonly visit: number
  readonly refusals: number
  readonly parked_reason: (string | null)
  readonly stash: (string | null)
  readonly pending_approval: (PendingApproval | null)
  readonly open_questions: number
  readonly reviewers_wanted: readonly ({
    readonly name: string
    readonly status: "wanted" | "registered" | "finished"
    readonly awaited: boolean
  })[]
  readonly claimable_at: (string | null)
  readonly alerts: readonly (Alert)[]
}

export type TaskStatus = "queued" | "active" | "awaiting_approval" | "interrupted" | "parked" | "completed" | "cancelled"

export type ToolAnswer = {
  /** What the tool answers. */
  readonly result: Json
  readonly logged: true
  readonly decision: "allowed"
  readonly duration_ms: number
  readonly violation?: AllowedViolation
  readonly unenforced?: readonly (string)[]
  readonly interrupt?: Interrupt
  readonly advanced?: Advanced
  readonly advancing?: true
  readonly expires_at?: (string | null)
  readonly allowed_tools?: readonly (string)[]
}

export type ToolCheck = {
  readonly allowed: (true | false)
  readonly allowed_tools: readonly (string)[]
  readonly violation?: AllowedViolation
  readonly code?: string
  readonly detail?: string
  readonly retry?: Retry
}

export type TransitionAnswer = {
  readonly allowed: true
  readonly phase: string
  readonly status: TaskStatus
  readonly expires_at: (string | null)
  readonly allowed_tools: readonly (string)[]
  readonly prompt: (string | null)
  readonly warnings: readonly (Blocker)[]
  readonly artifacts: readonly ({
    readonly type: string
    readonly sha256: string
    readonly bytes: number
    readonly grade: Grade
    readonly self_review?: boolean
    readonly phase: string
  })[]
  readonly violation?: AllowedViolation
  readonly completed?: true
}

export type UsageAnswer = {
  readonly tokens: {
    readonly input: number
    readonly output: number
    readonly cache_read: number
    readonly cache_write: number
  }
  readonly usage: "observed" | "reported" | "none"
  readonly interrupt?: Interrupt
}

export type Worktree = {
  readonly repository: string
  readonly branch: string
  readonly base: string
  readonly into: (string | null)
  readonly status: "open" | "merged" | "handed_over" | "discarded"
  readonly commit: (string | null)
}

/** The arguments of the built-in tools. */
export interface ToolArguments {
  /** Read one or more files of the work tree. offset and limit count lines. */
  readonly read_files: {
    readonly path: string
    readonly offset?: number
    readonly limit?: number
    readonly paths?: undefined
  } | {
    readonly paths: readonly (string)[]
    readonly offset?: number
    readonly limit?: number
    readonly path?: undefined
  }
  /** Create, replace or append to one or more files. */
  readonly write_files: {
    readonly path: string
    readonly content?: string
    readonly mode?: "w" | "a"
    readonly files?: undefined
  } | {
    readonly content?: string
    readonly mode?: "w" | "a"
    readonly files: readonly ({
      readonly path: string
      readonly content: string
    })[]
    readonly path?: undefined
  }
  /** Replace exact text in a file. */
  readonly edit_files: {
    readonly path: string
    readonly edits: readonly ({
      readonly old: string
      readonly new: string
      readonly replace_all?: boolean
    })[]
  }
  /** List files by pattern. */
  readonly glob: {
    readonly pattern: string
    readonly path?: string
    readonly limit?: number
  }
  /** Search file contents by regular expression. */
  readonly grep: {
    readonly pattern: string
    readonly path?: string
    readonly glob?: string
    readonly ignore_case?: boolean
    readonly limit?: number
  }
  /** Find ranked snippets for a question. */
  readonly search_codebase: {
    readonly query: string
    readonly path?: string
    readonly limit?: number
  }
  /** Run a shell command in the sandbox. */
  readonly bash: {
    readonly command: string
    readonly timeout?: number
    readonly cwd?: string
  }
  /** Run the contract's test command. filter: the name of a test, or a file or package. */
  readonly run_tests: {
    readonly filter?: string
  }
  /** Show the state of the work tree. */
  readonly git_status: { readonly [name: string]: never }
  /** Show changes, new files too. */
  readonly git_diff: {
    readonly paths?: readonly (string)[]
    readonly staged?: boolean
  }
  /** Show commits. */
  readonly git_log: {
    readonly limit?: number
  }
  /** Commit what this task changed, and nothing else. paths limits it to some of these files. */
  readonly git_commit: {
    readonly message: string
    readonly paths?: readonly (string)[]
  }
  /** Ask the operator a question. */
  readonly ask_user_question: {
    readonly question: string
    readonly options?: readonly (string)[]
  }
  /** Ask a person to accept changed test setup (configuration, scripts, compiler options) after RED. */
  readonly request_setup_change: {
    readonly paths: readonly (string)[]
    readonly reason: string
  }
  /** Ask a person to let a package manager install dependencies, with network: {"command": ["npm", "install", "zod"], "reason": "…"}. Call it again with the same arguments once it was approved. */
  readonly request_dependency: {
    readonly command: readonly (string)[]
    readonly reason: string
    readonly cwd?: string
  }
  /** Fetch a page from an allowed host. */
  readonly web_fetch: {
    readonly url: string
  }
}

