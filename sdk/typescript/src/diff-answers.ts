/** A part of a file that changed; each line begins with a space, `-`, `+` or a backslash (no newline at the end). */
export type DiffHunk = {
  readonly old_start: number
  readonly old_lines: number
  readonly new_start: number
  readonly new_lines: number
  readonly lines: readonly string[]
}

export type FileDiff = {
  readonly path: string
  readonly status: string
  readonly binary: boolean
  readonly additions: number
  readonly deletions: number
  /** No allowed call explains the change. */
  readonly unexplained: boolean
  /** The other task that changed it since work on this one began, where this one did not; absent from older servers. */
  readonly other_task?: string | null
  readonly pinned: boolean
  readonly hunks: readonly DiffHunk[]
  /** Why it has no hunks; null: it has. */
  readonly omitted: string | null
}

export type Diff = {
  readonly files: readonly FileDiff[]
  readonly totals: { readonly files: number; readonly additions: number; readonly deletions: number }
  readonly truncated: boolean
  readonly available: boolean
  readonly unavailable_reason: string | null
}

export type TaskDiff = Diff & {
  readonly task_id: string
  readonly from: { readonly kind: string; readonly visit: number; readonly phase: string; readonly at: string | null }
}

export type ApprovalCheck = {
  readonly gate: string | null
  readonly check: string
  readonly status: string
  readonly grade: string | null
  readonly message: string
}

/** A check of a known gate. */
export type GateCheck = Omit<ApprovalCheck, 'gate'>

/** What is new since the same gate was last asked about. */
export type SinceLast = {
  readonly approval_id: string
  readonly decision: string
  readonly comment: string
  readonly by: string | null
  readonly at: string
  readonly changed_artifacts: readonly string[]
  readonly changed_paths: readonly string[] | null
}

/** A task at an event of the ledger, with its gates. */
export interface TaskStateAt {
  readonly task_id: string
  readonly gates: readonly PassedGate[]
}

/** A gate of a task and what the newest request found of it. */
export interface PassedGate {
  readonly id: string
  readonly phase: string
  readonly status: string
  readonly checks: readonly GateCheck[]
}
