import type { TaskEvent } from '../task/event.js'
import type { Approval, TaskState } from '../task/state.js'

// The ledger keeps older approvals; the state keeps those that can still be queried.
const APPROVALS_KEPT_MAX = 50

export function applyApprovalRequested(state: TaskState, event: TaskEvent & { type: 'approval_requested' }): TaskState {
  const approval: Approval = {
    id: event.approvalId,
    agentId: state.held?.agentId ?? null,
    phase: state.phase,
    gate: event.gate,
    to: event.to,
    visit: state.visit,
    digest: event.digest,
    approvers: event.approvers,
    minApprovals: event.minApprovals,
    requestedAt: event.at,
    expiresAt: event.expiresAt,
    artifacts: event.artifacts,
    evidence: event.evidence,
    warnings: event.warnings,
    ...(event.treeHash === undefined ? {} : { treeHash: event.treeHash }),
    // The request to leave the phase was recorded right before it, unless a tool asks.
    ...(isOfGate(event) && state.checksSeen !== undefined ? { checks: state.checksSeen } : {}),
    decisions: [],
    status: 'pending',
  }
  const older = [...state.approvals].slice(-APPROVALS_KEPT_MAX)
  return { ...state, status: 'awaiting_approval', approvals: new Map(older).set(approval.id, approval) }
}

function isOfGate({ gate }: { readonly gate: string }): boolean {
  return gate !== 'request_setup_change' && gate !== 'request_dependency'
}

export function applyApprovalDecided(state: TaskState, event: TaskEvent & { type: 'approval_decided' }): TaskState {
  const approval = state.approvals.get(event.approvalId)
  if (approval === undefined) return state
  const { by, comment, at, channel = null } = event
  const decision = { by, decision: event.decision, comment, at, channel }
  const decisions = [...approval.decisions, decision]
  const approvals = decisions.filter((one) => one.decision === 'approve').length
  const status = event.decision === 'reject' ? 'rejected' : approvals >= approval.minApprovals ? 'approved' : 'pending'
  const next = updateApproval(state, event.approvalId, { decisions, status })
  return status === 'pending' ? next : { ...next, status: computeStatusAfterAnswer(state, event.approvalId) }
}

// The task keeps waiting while another approval is pending.
export function computeStatusAfterAnswer(state: TaskState, answered: string): TaskState['status'] {
  if (state.status !== 'awaiting_approval') return state.status
  const others = [...state.approvals.values()].some(
    (approval) => approval.status === 'pending' && approval.id !== answered,
  )
  return others ? 'awaiting_approval' : 'active'
}

export function updateApproval(state: TaskState, id: string, change: Partial<Approval>): TaskState {
  const approval = state.approvals.get(id)
  if (approval === undefined) return state
  return { ...state, approvals: new Map(state.approvals).set(id, { ...approval, ...change }) }
}

export function voidPendingApprovals(state: TaskState): TaskState {
  return { ...state, approvals: dropPending(state.approvals) }
}

export function dropPending(approvals: ReadonlyMap<string, Approval>): ReadonlyMap<string, Approval> {
  const next = new Map(approvals)
  for (const [id, approval] of approvals) {
    if (approval.status === 'pending' || approval.status === 'approved' || approval.status === 'rejected')
      next.set(id, { ...approval, status: 'void' })
  }
  return next
}

/** The tests as they failed. This uses up an approval of their setup. */
export function applyTestsPinned(state: TaskState, event: TaskEvent & { type: 'tests_pinned' }): TaskState {
  const { files, run = null, setup } = event
  const used = setup === undefined ? state : updateApproval(state, setup.approvalId, { status: 'used' })
  return { ...used, pinnedTests: new Map(Object.entries(files)), pinnedRun: run, wasRed: true }
}
