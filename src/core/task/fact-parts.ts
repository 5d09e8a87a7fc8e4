import type { Code } from '../codes.js'
import type { Mode, Severity } from '../contract/contract.js'
import type { JsonObject } from '../json.js'
import type { NewWorktree } from './tree-event.js'

/** The grade of a fact: reported by the agent, read from a file, or observed in a run. */
export type Grade = 'reported' | 'artifact' | 'observed' | 'proved'

/** A blocker of a gate or, among warnings, a finding that does not block. */
export interface BlockerFound {
  readonly code: Code
  readonly gate: string | null
  readonly check: string | null
  readonly artifact: string | null
  readonly message: string
  readonly remedy: string
  readonly severity: Severity
  readonly grade: Grade | null
  /** The request that `approval_pending` waits for. */
  readonly approvalId?: string
  /** For an unusable run: `cause`, `mended_by`, `remedy` and `last_lines`. */
  readonly run?: JsonObject
}

/** The outcome of one check of a request, whether it blocked or not. */
export interface CheckSeen {
  readonly gate: string | null
  /** The artifact whose `validation` requires it; null for a check of a gate. */
  readonly artifact: string | null
  readonly check: string
  readonly severity: Severity
  /** `not_run`: something else blocked before it was its turn. */
  readonly result: 'holds' | 'fails' | 'error' | 'not_run'
  readonly grade: Grade | null
  /** What the check found; the beginning of it. */
  readonly found: string
}

/** A stored artifact; its content is stored under `sha256`. */
export interface ArtifactRef {
  readonly type: string
  readonly sha256: string
  readonly bytes: number
  readonly grade: Grade
  /** A review by the agent of its own work. */
  readonly selfReview?: true
}

export interface Retry {
  readonly attempt: number
  readonly max: number
  readonly text: string
}

/** What a mode other than strict allowed. */
export interface Violation {
  readonly code: Code
  readonly detail: string
}

export interface Refused {
  readonly code: Code
  readonly detail: string
  readonly success: false
  readonly retry: Retry
  /** Whether it counts toward the denial budget. */
  readonly counted: boolean
}

/** A changed path with the hash of its new content. */
export interface ChangeRef {
  readonly path: string
  readonly kind: 'created' | 'modified' | 'deleted'
  readonly sha256: string | null
}

/** The status of a review. `completed` and `approved` finish it. */
export const REVIEW_STATUSES = ['in_progress', 'changes_requested', 'completed', 'approved'] as const
export type ReviewStatus = (typeof REVIEW_STATUSES)[number]

/** The accepted upstream tools of a task: where their definitions are stored, and their hashes. */
export interface UpstreamRef {
  readonly sha256: string
  readonly tools: Readonly<Record<string, string>>
}

/**
 * Held-out examples of a task: how many, and where they are stored. Salted, so that nobody can guess them from the
 * hash.
 */
export interface HeldOutRef {
  readonly sha256: string
  readonly count: number
}

/** One path that a call changed or would change. */
export interface ChangedPath {
  readonly path: string
  readonly kind: 'created' | 'modified' | 'deleted'
  readonly type: 'file' | 'directory' | 'link'
  /** Why it can never reach the tree, whatever the contract says; null otherwise. */
  readonly problem: string | null
}

/** How a tool may use the git directory, which is exempt from `writable` and reserved for the git tools. */
export type GitAccess = 'none' | 'tool'

export interface NewTask {
  readonly id: string
  readonly title: string
  readonly description: string
  readonly workspace: string
  readonly dependsOn: readonly string[]
  readonly requires: readonly string[]
  readonly metadata: JsonObject
  readonly mode: Mode | null
  readonly priority: number
  readonly upstream?: UpstreamRef | null
  readonly worktree?: NewWorktree
  /** Only this agent may claim it. */
  readonly reservedFor?: string | null
  readonly heldOut?: HeldOutRef
}

/** Tokens that were used. */
export interface UsageSaid {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly model: string | null
  /** Usage with the same id counts once. */
  readonly usageId: string | null
  readonly grade: 'observed' | 'reported'
  readonly occurredAt: number
}

/** Where a person decided: in the chat of an agent CLI, on the command line or in the dashboard. */
export const DECISION_CHANNELS = ['in_chat', 'cli', 'dashboard'] as const
export type DecisionChannel = (typeof DECISION_CHANNELS)[number]
