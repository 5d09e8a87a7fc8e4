import {
  applyApprovalDecided,
  applyApprovalRequested,
  applyTestsPinned,
  computeStatusAfterAnswer,
  dropPending,
  updateApproval,
  voidPendingApprovals,
} from '../approvals/evolve-approval.js'
import { applyQuestionEvent } from '../approvals/evolve-question.js'
import { applyInstallFinished } from '../dependencies/finish-install.js'
import { addDoubtToState } from '../doubted-tests.js'
import { addBytes, applyCheckpointPassed } from '../evidence/evolve-checkpoint.js'
import { applyHeldOutFailed } from '../evidence/held-out.js'
import { isObserved } from '../evidence/inverted-run.js'
import { countWayBack } from '../gates/ways-back.js'
import { applyConsensusRequested } from '../reviews/evolve-consensus.js'
import { addHolder, chargeReviewer, reviewChanged } from '../reviews/evolve-review.js'
import { assertUnreachable } from '../unreachable.js'
import { applyWatchEvent, consumeBypass, recordCall, recordProgress, startVisit } from '../watch/evolve-watch.js'
import type { TaskEvent } from './event.js'
import { applyTaskCreated } from './evolve-created.js'
import {
  addPhase,
  applyTaskReassigned,
  applyTaskResumed,
  applyTaskRewound,
  leaseLost,
  stashAfter,
  takePhasesBefore,
  updateAlerts,
} from './evolve-lifecycle.js'
import type { ArtifactRef } from './fact-parts.js'
import { isRefusal } from './refusal.js'
import type { KeptArtifact, TaskState } from './state.js'
import { findUnexplained } from './unexplained.js'
import { applyWorktreeEvent } from './worktree.js'

/** Folds one event into the state. The first event of a stream must be `task_created`; anything else before it is a fault. */
export function evolve(state: TaskState | null, event: TaskEvent): TaskState {
  if (event.type === 'task_created') return applyTaskCreated(event)
  if (state === null) throw new Error(`the stream starts with ${event.type} instead of task_created`)
  const next = applyEvent(state, event)
  // The result of `changed` is not shared yet, so the two fields that every event sets are assigned without another
  // copy.
  const own: { -readonly [K in keyof TaskState]: TaskState[K] } = next === state ? { ...state } : next
  own.version = state.version + 1
  own.updatedAt = event.at
  if (own.lapsed !== null && own.status !== 'interrupted') own.lapsed = null
  const unexplained = findUnexplained(state.unexplained, event)
  // Deleting a field makes the object slow, so only where it is set.
  if (unexplained !== undefined) own.unexplained = unexplained
  else if (own.unexplained !== undefined) delete own.unexplained
  return own
}

function applyEvent(state: TaskState, event: Exclude<TaskEvent, { type: 'task_created' }>): TaskState {
  switch (event.type) {
    case 'task_updated':
      return {
        ...state,
        title: event.title,
        description: event.description,
        metadata: event.metadata,
        priority: event.priority,
      }
    case 'task_claimed':
      return applyTaskClaimed(state, event)
    case 'lease_extended':
    case 'token_renewed':
      return extendLease(state, event)
    case 'tool_allowed':
      return event.reviewer === undefined ? recordCall(extendLease(state, event), event) : state
    case 'tool_denied':
      return event.reviewer === undefined ? addRefusal(extendLease(state, event), event) : chargeReviewer(state, event)
    case 'changes_dropped':
    case 'transition_refused':
      return addRefusal(extendLease(state, event), event)
    case 'gate_blocked':
      // Waiting for people or reviewers is not a refusal.
      return isRefusal(event)
        ? addDoubtToState(addRefusal(consumeBypass(countGate(state, 'blocked')), event), event)
        : state
    case 'approval_refused':
    case 'question_refused':
      return addRefusal(state, event)
    case 'tool_finished':
      return applyToolFinished(state, event)
    case 'token_refused':
      return state
    case 'unledgered_change_found':
      return event.counted === undefined ? state : addRefusal(state, { code: event.code, counted: event.counted })
    case 'transition_requested':
      return applyTransitionRequested(state, event)
    case 'gate_passed':
      return countGate(
        event.approvalId === null ? state : updateApproval(state, event.approvalId, { status: 'used' }),
        'passed',
      )
    case 'tests_pinned':
      return applyTestsPinned(state, event)
    case 'baseline_recorded':
      return { ...state, baseline: event.run }
    case 'held_out_failed':
      return applyHeldOutFailed(state, event)
    case 'checkpoint_passed':
      return applyCheckpointPassed(state, event)
    case 'checkpoint_refused':
      return addRefusal(consumeBypass(countGate(addBytes(extendLease(state, event), event.bytes), 'blocked')), event)
    case 'phase_task_finished':
      return { ...extendLease(state, event), tasksDone: [...state.tasksDone, event.task] }
    case 'phase_entered':
      return applyPhaseEntered(state, event)
    case 'lease_lapsed':
    case 'agent_dropped':
      return leaseLost(state, event)
    case 'task_released':
      return { ...state, status: 'queued', held: null }
    case 'task_reassigned':
      return applyTaskReassigned(state, event)
    case 'task_parked':
      return { ...state, status: 'parked', parkedReason: event.reason, stash: stashAfter(state, event) }
    case 'task_resumed':
      return { ...applyTaskResumed(state, event), waysBack: {} }
    case 'install_finished':
      return applyInstallFinished(state, event)
    case 'tree_accepted':
    case 'tree_reverted':
      return state
    case 'worktree_merged':
    case 'worktree_handed_over':
    case 'worktree_discarded':
      return applyWorktreeEvent(state, event)
    case 'tools_accepted':
      return { ...state, upstream: event.upstream }
    case 'task_cancelled':
      return { ...voidPendingApprovals(state), status: 'cancelled', held: null, alerts: new Map() }
    case 'task_completed':
      return {
        ...state,
        status: 'completed',
        held: null,
        alerts: new Map(),
        completedPhases: addPhase(state.completedPhases, state.phase),
      }
    case 'task_rewound':
      return applyTaskRewound(state, event)
    case 'consensus_requested':
      return applyConsensusRequested(state, event)
    case 'approval_requested':
      return applyApprovalRequested(state, event)
    case 'approval_decided':
      return applyApprovalDecided(state, event)
    case 'approval_expired':
      return {
        ...updateApproval(state, event.approvalId, { status: 'expired' }),
        status: computeStatusAfterAnswer(state, event.approvalId),
      }
    case 'approval_voided':
      return {
        ...updateApproval(state, event.approvalId, { status: 'void' }),
        status: computeStatusAfterAnswer(state, event.approvalId),
      }
    case 'question_asked':
    case 'question_answered':
    case 'question_withdrawn':
      return applyQuestionEvent(state, event)
    case 'reviewers_wanted':
      return {
        ...state,
        wanted: event.names.map((name) => ({ name, isAwaited: event.awaited.includes(name) })),
      }
    case 'alert_raised':
    case 'alert_cleared':
      return { ...state, alerts: updateAlerts(state, event) }
    case 'rule_violated':
    case 'rule_acknowledged':
    case 'rule_cleared':
    case 'usage_recorded':
    case 'fact_recorded':
      return applyWatchEvent(state, event)
    case 'reviewer_added':
    case 'reviewer_revoked':
    case 'review_submitted':
    case 'review_refused':
      return reviewChanged(state, event)
    default:
      return assertUnreachable(event)
  }
}

function applyTaskClaimed(state: TaskState, event: TaskEvent & { type: 'task_claimed' }): TaskState {
  const waiting = [...state.approvals.values()].some((approval) => approval.status === 'pending')
  return {
    ...state,
    status: waiting ? 'awaiting_approval' : 'active',
    epoch: event.epoch,
    reservedFor: null,
    claimableAt: null,
    advancedTo: null,
    holders: addHolder(state.holders, event.agentId),
    held: {
      agentId: event.agentId,
      instance: event.instance,
      capabilities: event.capabilities,
      leaseExpiresAt: event.at + event.leaseSeconds * 1000,
      ...(event.isSpawned === true ? { isSpawned: true } : {}),
    },
  }
}

// A clock that is set back must not shorten a granted lease.
function extendLease(state: TaskState, event: { readonly at: number; readonly leaseSeconds: number }): TaskState {
  if (state.held === null) return state
  if (!Number.isFinite(event.leaseSeconds)) throw new Error('an event extends a lease without saying for how long')
  const leaseExpiresAt = Math.max(state.held.leaseExpiresAt, event.at + event.leaseSeconds * 1000)
  return { ...state, held: { ...state.held, leaseExpiresAt } }
}

// A call that changed the tree is progress: earlier refusals no longer count toward the budget.
function applyToolFinished(state: TaskState, event: TaskEvent & { type: 'tool_finished' }): TaskState {
  const { leaseSeconds, addedBytes = 0 } = event
  const leased = leaseSeconds === undefined ? state : extendLease(state, { at: event.at, leaseSeconds })
  const next = recordProgress({ ...leased, bytesAdded: state.bytesAdded + addedBytes }, event)
  return (event.changeCount ?? 0) > 0 && next.denialsInARow > 0 ? { ...next, denialsInARow: 0 } : next
}

function addRefusal(state: TaskState, event: { readonly code: string; readonly counted: boolean }): TaskState {
  return {
    ...state,
    refusals: new Map(state.refusals).set(event.code, (state.refusals.get(event.code) ?? 0) + 1),
    denialsInARow: state.denialsInARow + (event.counted ? 1 : 0),
    refusalsTotal: state.refusalsTotal + 1,
  }
}

function countGate(state: TaskState, outcome: 'passed' | 'blocked'): TaskState {
  return { ...state, gates: { ...state.gates, [outcome]: state.gates[outcome] + 1 } }
}

/** Only what the agent sent: Phaselock's own artifacts have other limits. */
export function sumBytesHandedIn(artifacts: readonly ArtifactRef[]): number {
  return artifacts.reduce((sum, artifact) => sum + (isObserved(artifact.grade) ? 0 : artifact.bytes), 0)
}

function applyTransitionRequested(state: TaskState, event: TaskEvent & { type: 'transition_requested' }): TaskState {
  const bytes = sumBytesHandedIn(event.artifacts) + (event.evidenceBytes ?? 0)
  return {
    ...extendLease(state, event),
    artifacts: keepArtifacts(state, event.artifacts),
    checksSeen: event.checks ?? [],
    visitBytes: state.visitBytes + bytes,
  }
}

function keepArtifacts(state: TaskState, refs: readonly ArtifactRef[]): ReadonlyMap<string, KeptArtifact> {
  const artifacts = new Map(state.artifacts)
  for (const ref of refs) artifacts.set(ref.type, { ...ref, phase: state.phase, visit: state.visit })
  return artifacts
}

function applyPhaseEntered(state: TaskState, event: TaskEvent & { type: 'phase_entered' }): TaskState {
  const left = event.from === null ? state.completedPhases : addPhase(state.completedPhases, event.from)
  const completedPhases = event.back ? takePhasesBefore(state.completedPhases, event.to) : left
  return {
    ...state,
    phase: event.to,
    epoch: event.epoch,
    visit: event.visit,
    ...startVisit(state, event.at),
    completedPhases,
    refusals: new Map(),
    denialsInARow: 0,
    visitBytes: 0,
    approvals: dropPending(state.approvals),
    status: state.status === 'awaiting_approval' ? 'active' : state.status,
    wanted: [],
    crashes: 0,
    advancedTo: event.auto === true ? event.epoch : null,
    ...(event.back && event.from !== null ? { waysBack: countWayBack(state, event.from, event.to) } : {}),
  }
}
