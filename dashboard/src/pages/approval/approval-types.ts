import type { Json } from '../../ui/artifact/artifact-view.js'
import type { CheckStatus } from '../../ui/checks.js'
import type { TreeDiff } from '../../ui/diff/diff-types.js'

export type ApprovalStatus = 'pending' | 'approved' | 'rejected' | 'expired' | 'used' | 'void'

export interface Decision {
  readonly by: string
  readonly decision: 'approve' | 'reject'
  readonly comment: string
  readonly at: string
}

/** An approval with everything to decide on, as `GET /approvals/{id}` answers it. */
export interface Approval {
  readonly id: string
  readonly task_id: string
  readonly task_title: string
  readonly agent_id: string | null
  readonly gate: string
  readonly phase: string
  readonly target_phase: string
  readonly status: ApprovalStatus
  readonly digest: string
  readonly approvers: readonly string[]
  readonly min_approvals: number
  readonly decisions: readonly Decision[]
  readonly artifacts: readonly { readonly type: string; readonly sha256: string; readonly grade: string }[]
  readonly warnings: readonly { readonly check: string | null; readonly message: string }[]
  readonly contents: Readonly<Record<string, Json>>
  readonly requested_at: string
  readonly expires_at: string
  /** The tree changed since the request: the diff still shows what was asked about. */
  readonly outdated?: boolean
  readonly diff?: (TreeDiff & { readonly from?: DiffStart }) | null
  readonly checks?: readonly ApprovalCheck[]
  readonly refusals?: readonly PastRefusal[]
  readonly since_last?: SinceLast | null
  readonly covers?: { readonly artifacts: readonly { readonly type: string }[]; readonly tree_hash: string | null }
}

/** What the diff begins with: the newest approval that was given, or the start of the task. */
export interface DiffStart {
  readonly kind: 'approval' | 'start'
  readonly phase: string | null
  readonly at: string | null
}

export interface ApprovalCheck {
  readonly gate: string | null
  readonly check: string
  readonly status: CheckStatus
  readonly grade: string | null
  readonly message: string
}

export interface PastRefusal {
  readonly seq: number
  readonly at: string
  readonly phase: string | null
  readonly code: string
  readonly detail: string
}

/** What changed since the approval before this one. */
export interface SinceLast {
  readonly approval_id: string
  readonly decision: string
  readonly comment: string
  readonly by: string
  readonly at: string
  readonly changed_artifacts: readonly string[]
  /** Null: the tree of that time was not recorded. */
  readonly changed_paths: readonly string[] | null
}
