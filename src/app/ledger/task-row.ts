import { openQuestions } from '../../core/approvals/question.js'
import type { TaskState } from '../../core/task/state.js'
import type { TaskRow } from '../../store/store.js'

// The row's lease only finds candidates; the state decides whether a lease has expired. So the row may lag a little.
const LEASE_LAG_MS_MAX = 15_000

export function toTaskRow(state: TaskState): TaskRow {
  const isHeld = state.status === 'active' || state.status === 'awaiting_approval'
  const pending = [...state.approvals.values()].filter((approval) => approval.status === 'pending')
  return {
    id: state.id,
    title: state.title,
    status: state.status,
    phase: state.phase,
    // Includes the agent that lost the task by lease expiry, because its next call looks for it.
    agentId: (state.held ?? state.lapsed)?.agentId ?? null,
    contract: state.contract.hash,
    priority: state.priority,
    requires: state.requires,
    dependsOn: state.dependsOn,
    leaseExpiresAt: isHeld ? (state.held?.leaseExpiresAt ?? null) : null,
    approvalExpiresAt:
      pending.length === 0 || state.status === 'parked'
        ? null
        : Math.min(...pending.map((approval) => approval.expiresAt)),
    openQuestions: openQuestions(state).length,
    questions: state.questions.size,
    createdAt: state.createdAt,
    updatedAt: state.updatedAt,
  }
}

/** Whether the row must be updated: not for every tool call, which would double the writes. */
export function needsRow(before: TaskState, after: TaskState, rowLease: number): boolean {
  return (
    before.status !== after.status ||
    before.phase !== after.phase ||
    before.epoch !== after.epoch ||
    before.approvals !== after.approvals ||
    before.questions !== after.questions ||
    before.title !== after.title ||
    before.priority !== after.priority ||
    before.held?.agentId !== after.held?.agentId ||
    (after.held?.leaseExpiresAt ?? 0) - rowLease > LEASE_LAG_MS_MAX
  )
}
