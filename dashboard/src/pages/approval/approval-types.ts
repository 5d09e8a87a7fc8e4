import type { Schema } from '../../api/answers.js'

/** An approval with everything to decide on, as `GET /approvals/{id}` answers it. */
export type Approval = Schema<'ApprovalDetails'>

export type ApprovalCheck = Schema<'ApprovalCheck'>

/** What the diff begins with: the newest approval that was given, or the start of the task. */
export type DiffStart = Schema<'ApprovalDiff'>['from']

/** What changed since the approval before this one. */
export type SinceLast = Schema<'SinceLastApproval'>
