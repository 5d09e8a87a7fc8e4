import { openQuestions } from '../../core/approvals/question.js'
import type { Contract } from '../../core/contract/contract.js'
import type { Json, JsonObject } from '../../core/json.js'
import { listSlotStatuses } from '../../core/reviews/reviewer-slots.js'
import type { ArtifactRef, BlockerFound } from '../../core/task/fact-parts.js'
import type { Approval, Question, TaskState } from '../../core/task/state.js'
import { listOfferedTools, requirePhase } from '../../core/tool-calls/offered-tools.js'
import type { TaskRow } from '../../store/store.js'
import { toIsoTime, toIsoTimeOrNull } from '../wire.js'
import { toAlertsView } from './alert-board.js'

export function toTaskView(state: TaskState): JsonObject {
  return {
    id: state.id,
    title: state.title,
    description: state.description,
    status: state.status,
    phase: state.phase,
    epoch: state.epoch,
    agent_id: state.held?.agentId ?? null,
    capabilities: state.held?.capabilities ?? [],
    contract: { ...state.contract },
    depends_on: state.dependsOn,
    requires: state.requires,
    workspace: state.workspace,
    ...(state.worktree === null ? {} : { worktree: { ...state.worktree } }),
    completed_phases: state.completedPhases,
    lease_expires_at: toIsoTimeOrNull(state.held?.leaseExpiresAt ?? null),
    created_at: toIsoTime(state.createdAt),
    updated_at: toIsoTime(state.updatedAt),
    metadata: state.metadata,
    mode: state.mode,
    priority: state.priority,
    visit: state.visit,
    refusals: state.refusalsTotal,
    parked_reason: state.parkedReason,
    stash: state.stash,
    pending_approval: toPendingView(state),
    open_questions: openQuestions(state).length,
    reviewers_wanted: listSlotStatuses(state).map(({ name, isAwaited, status }) => ({
      name,
      status,
      awaited: isAwaited,
    })),
    claimable_at: toIsoTimeOrNull(state.claimableAt),
    alerts: toAlertsView(state),
  }
}

/** A task in a list; `isChecking`: its gates are being checked, which the row does not say. */
export function toTaskRowView(row: TaskRow, isChecking: boolean): JsonObject {
  return {
    id: row.id,
    title: row.title,
    status: row.status,
    checking: isChecking,
    phase: row.phase,
    agent_id: row.status === 'interrupted' ? null : row.agentId,
    contract: row.contract,
    depends_on: row.dependsOn,
    requires: row.requires,
    priority: row.priority,
    lease_expires_at: toIsoTimeOrNull(row.leaseExpiresAt),
    open_questions: row.openQuestions,
    created_at: toIsoTime(row.createdAt),
    updated_at: toIsoTime(row.updatedAt),
  }
}

/** The newest approval that waits for an answer. */
export function toPendingView(state: TaskState): Json {
  const pending = [...state.approvals.values()].filter((approval) => approval.status === 'pending').at(-1)
  return pending === undefined
    ? null
    : { id: pending.id, digest: pending.digest, expires_at: toIsoTime(pending.expiresAt) }
}

export function toApprovalView(state: TaskState, approval: Approval): JsonObject {
  return {
    id: approval.id,
    task_id: state.id,
    task_title: state.title,
    agent_id: approval.agentId,
    workspace: state.workspace,
    gate: approval.gate,
    phase: approval.phase,
    target_phase: approval.to,
    status: approval.status,
    digest: approval.digest,
    approvers: approval.approvers,
    min_approvals: approval.minApprovals,
    decisions: approval.decisions.map((decision) => ({
      by: decision.by,
      decision: decision.decision,
      comment: decision.comment,
      at: toIsoTime(decision.at),
      channel: decision.channel ?? null,
    })),
    artifacts: approval.artifacts.map(toArtifactView),
    evidence: approval.evidence,
    warnings: approval.warnings.map(toBlockerView),
    requested_at: toIsoTime(approval.requestedAt),
    expires_at: toIsoTime(approval.expiresAt),
  }
}

/** An artifact without its content. */
export function toArtifactView({ type, sha256, bytes, grade, selfReview }: ArtifactRef): JsonObject {
  return { type, sha256, bytes, grade, ...(selfReview === true ? { self_review: true } : {}) }
}

export function toQuestionView(state: TaskState, question: Question): JsonObject {
  return {
    id: question.id,
    task_id: state.id,
    task_title: state.title,
    agent_id: question.agentId,
    phase: question.phase,
    status: question.status,
    question: question.question,
    options: question.options,
    asked_at: toIsoTime(question.askedAt),
    answer: question.answer?.text ?? null,
    answered_by: question.answer?.by ?? null,
    answered_at: toIsoTimeOrNull(question.answer?.at ?? null),
  }
}

export function toBlockerView(found: BlockerFound): JsonObject {
  const { code, gate, check, artifact, message, remedy, severity, grade, run } = found
  return {
    ...{ code, gate, check, artifact, message, remedy, severity },
    ...(grade === null ? {} : { grade }),
    ...(run === undefined ? {} : { run }),
  }
}

/** The contract as an agent may see it: phases that are not open yet show only ids and names. */
export function toContractView(contract: Contract, state: TaskState): JsonObject {
  const phases = [...contract.phases.values()].map((phase) => {
    const isOpen = phase.id === state.phase || state.completedPhases.includes(phase.id)
    if (!isOpen) return { id: phase.id, name: phase.name }
    return {
      id: phase.id,
      name: phase.name,
      description: phase.description,
      allowed_tools: listOfferedTools(contract, phase),
      required_artifacts: phase.requiredArtifacts.map((artifact) => ({
        type: artifact.type,
        description: artifact.description,
      })),
      evidence: [...phase.evidence].map(([name, field]) => ({
        name,
        type: field.type,
        description: field.description,
        optional: field.optional,
      })),
      gates: phase.gates.map((gate) => ({
        id: gate.id,
        type: gate.type,
        checks: gate.blockers.map((blocker) => blocker.check),
      })),
    }
  })
  return { name: contract.name, version: contract.version, hash: contract.hash, phases }
}

export function listAllowedTools(contract: Contract, state: TaskState): readonly string[] {
  return listOfferedTools(contract, requirePhase(contract, state.phase))
}
