import type { Contract, Gate } from '../contract/contract.js'
import { makeBlocker } from '../gates/blockers.js'
import { isMachineRole } from '../identity/permissions.js'
import { formatApproverName, isReviewerApprover, numberReviewerRefusal, refuseReviewer } from '../reviews/review.js'
import type { Approver, Command, Context, GateFacts } from '../task/command.js'
import type { TaskFact } from '../task/event.js'
import type { ArtifactRef, BlockerFound } from '../task/fact-parts.js'
import { type Decision, makeDecision, numberRefusal, refuseUnrecorded, refuseWithinBudget } from '../task/refusal.js'
import type { Approval, TaskState } from '../task/state.js'
import { formatEndedApproval } from './ended-approval.js'

/** The result of a transition's approval gates. */
type ApprovalAnswer =
  | { readonly kind: 'open'; readonly approvalId: string | null }
  | {
      readonly kind: 'blocked'
      readonly blocker: BlockerFound
      readonly facts: readonly TaskFact[]
      /** The content changed while people were reviewing it, so this is more than waiting. */
      readonly isReplaced: boolean
    }

interface ApprovalInputs {
  readonly gates: readonly Gate[]
  readonly to: string
  readonly facts: GateFacts
  readonly artifacts: readonly ArtifactRef[]
  readonly warnings: readonly BlockerFound[]
  readonly now: number
}

/** True when Phaselock approves automatically once every blocking check passes. */
export function isAutomatic(gate: Gate): boolean {
  return gate.type !== 'approval' || gate.approvers.every((name) => name === 'orchestrator')
}

/** Finds an approval of exactly this content, or opens a request for one. */
export function findOrRequestApproval(state: TaskState, asked: ApprovalInputs): ApprovalAnswer {
  let approvalId: string | null = null
  for (const gate of asked.gates.filter((one) => !isAutomatic(one))) {
    const ofGate = [...state.approvals.values()].filter((one) => one.gate === gate.id && one.visit === state.visit)
    // Bound to the approved content and the target phase: an approval for one transition opens no other.
    const isSame = (one: Approval): boolean => one.digest === asked.facts.digest && one.to === asked.to
    const same = ofGate.filter(isSame).at(-1)
    if (same?.status === 'approved' && same.expiresAt > asked.now && !isByHolder(state, same)) {
      approvalId = same.id
      continue
    }
    if (same?.status === 'rejected' || (same?.status === 'expired' && gate.onTimeout === 'reject'))
      return { kind: 'blocked', blocker: blockRejectedApproval(gate, same), facts: [], isReplaced: false }
    const others = ofGate.filter((one) => isLive(one) && !isSame(one))
    const withdrawn = others
      .filter(isUnanswered)
      .map((one) => makeVoidedFact(one, 'the agent asked about other content'))
    if (same?.status === 'pending' && same.expiresAt > asked.now)
      return {
        kind: 'blocked',
        blocker: blockPendingApproval(gate, same),
        facts: withdrawn,
        isReplaced: withdrawn.length > 0,
      }
    const outdated = ofGate.filter((one) => isLive(one) && isSame(one))
    const why = 'it expired, or its approver now works on the task'
    return request(state, gate, {
      ...asked,
      voided: [...withdrawn, ...outdated.map((one) => makeVoidedFact(one, why))],
      isReplaced: others.length + outdated.length > 0,
    })
  }
  return { kind: 'open', approvalId }
}

function isLive({ status }: Approval): boolean {
  return status === 'pending' || status === 'approved'
}

// Given approvals stay valid for their content. An unanswered request ends when the next one opens, so that nobody is
// asked about outdated content.
function isUnanswered({ status, decisions }: Approval): boolean {
  return status === 'pending' && decisions.length === 0
}

function makeVoidedFact({ id }: Approval, reason: string): TaskFact {
  return { type: 'approval_voided', approvalId: id, reason }
}

// A reviewer that approved and then took over the task would pass its own gate.
export function isByHolder(state: TaskState, approval: Approval): boolean {
  return approval.decisions.some(({ by }) => state.holders.some((holder) => formatApproverName(holder) === by))
}

function request(
  state: TaskState,
  gate: Gate,
  asked: ApprovalInputs & { readonly voided: readonly TaskFact[]; readonly isReplaced: boolean },
): ApprovalAnswer {
  const approvalId = `apr-${state.version}-${state.id}`
  const expiresAt = asked.now + gate.timeoutSeconds * 1000
  const requested: TaskFact = {
    type: 'approval_requested',
    approvalId,
    gate: gate.id,
    to: asked.to,
    digest: asked.facts.digest,
    approvers: gate.approvers,
    minApprovals: gate.minApprovals,
    expiresAt,
    artifacts: asked.artifacts,
    evidence: asked.facts.evidence,
    warnings: asked.warnings,
    ...(typeof asked.facts.treeHash === 'string' ? { treeHash: asked.facts.treeHash } : {}),
  }
  return {
    kind: 'blocked',
    blocker: blockPendingApproval(gate, { id: approvalId, approvers: gate.approvers }),
    facts: [...asked.voided, requested],
    isReplaced: asked.isReplaced,
  }
}

function blockPendingApproval(gate: Gate, approval: Pick<Approval, 'id' | 'approvers'>): BlockerFound {
  return makeBlocker('approval_pending', {
    gate: gate.id,
    approvalId: approval.id,
    message: `Approval ${approval.id} is pending (approvers: ${approval.approvers.join(', ')})`,
  })
}

function blockRejectedApproval(gate: Gate, approval: Approval): BlockerFound {
  const last = approval.decisions.at(-1)
  const why =
    approval.status === 'expired'
      ? 'nobody answered in time'
      : last === undefined || last.comment === ''
        ? 'no comment was given'
        : last.comment
  const message = `Approval ${approval.id} was rejected: ${why}`
  const isUnexplained = approval.status === 'rejected' && (last?.comment ?? '') === ''
  const remedy = isUnexplained ? { remedy: 'Ask the person what must change, change it, then request again.' } : {}
  return makeBlocker('approval_rejected', { gate: gate.id, message, ...remedy })
}

type DecideApproval = Command & { type: 'decide_approval' }

/** Takes an approver's answer. Bound to the digest of the request; an agent never approves. */
export function decideApproval(
  contract: Contract,
  state: TaskState,
  command: DecideApproval,
  context: Context,
): Decision {
  const approval = state.approvals.get(command.approvalId)
  if (approval === undefined)
    return refuseUnrecorded('not_found', `There is no approval ${JSON.stringify(command.approvalId)}.`)
  if (command.by.kind === 'agent')
    return refuseWithinBudget(contract, state, {
      type: 'approval_refused',
      approvalId: approval.id,
      by: command.by.name,
      ...numberRefusal(contract, state, {
        code: 'not_permitted',
        detail: `Agent ${command.by.name} may not answer an approval; approvers are ${approval.approvers.join(', ')}`,
      }),
    })
  const forbidden = findAnswerProblem(state, approval, command.by)
  if (forbidden !== null) return refuseAnswer(contract, state, command.by, forbidden)
  if (approval.status !== 'pending' || approval.expiresAt <= context.now)
    return refuseUnrecorded('conflict', `Approval ${approval.id} ${formatEndedApproval(approval, context.now)}.`, {
      remedy: 'List the approvals that wait, if you want to answer another one.',
    })
  if (approval.digest !== command.digest)
    return refuseUnrecorded(
      'conflict',
      `The digest does not belong to approval ${approval.id}: its content is not what you looked at.`,
    )
  const name = command.by.kind === 'reviewer' ? formatApproverName(command.by.name) : command.by.name
  if (approval.decisions.some((decision) => decision.by === name))
    return refuseUnrecorded('conflict', `${formatAnswerer(command.by)} has answered approval ${approval.id} already.`)
  return makeDecision([
    {
      type: 'approval_decided',
      approvalId: approval.id,
      decision: command.decision,
      by: name,
      comment: command.comment,
      digest: approval.digest,
      ...(command.channel === undefined ? {} : { channel: command.channel }),
    },
  ])
}

type Answerer = Exclude<Approver, { kind: 'agent' }>

function findAnswerProblem(state: TaskState, approval: Approval, by: Answerer): string | null {
  const listed = approval.approvers.join(', ')
  if (by.kind === 'operator')
    return mayAnswer(approval, by) ? null : `Operator ${by.name} is not among the approvers (${listed}).`
  if (state.holders.includes(by.name) || state.reservedFor === by.name)
    return `Agent ${by.name} works or worked on task ${state.id}, and cannot approve it`
  return isReviewerApprover(approval.approvers, by.name) && approval.visit === state.visit
    ? null
    : `Reviewer ${by.name} is not among the approvers (${listed})`
}

// An operator's refusal is not recorded; a reviewer's counts against its token.
function refuseAnswer(contract: Contract, state: TaskState, by: Answerer, detail: string): Decision {
  if (by.kind === 'operator') return refuseUnrecorded('not_permitted', detail)
  const refused = numberReviewerRefusal(contract, state, by.name, { code: 'not_permitted', detail })
  return refuseReviewer(contract, state, { type: 'review_refused', reviewer: by.name, ...refused })
}

function formatAnswerer(by: Answerer): string {
  return `${by.kind === 'operator' ? 'Operator' : 'Reviewer'} ${by.name}`
}

function mayAnswer(approval: Approval, by: Approver & { kind: 'operator' }): boolean {
  return approval.approvers.some((name) =>
    name === 'human' ? !isMachineRole(by.role) : name === by.name || name === by.role,
  )
}

/** Closes an approval that was not answered in time, as its gate says. */
export function expireApproval(contract: Contract, state: TaskState, context: Context): Decision {
  const facts: TaskFact[] = []
  for (const approval of state.approvals.values()) {
    if (approval.status !== 'pending' || approval.expiresAt > context.now) continue
    if (isReplacedByNewer(state, approval)) {
      facts.push(makeVoidedFact(approval, 'too few approved in time, and the agent asked about other content since'))
      continue
    }
    const gate = contract.phases.get(state.phase)?.gates.find((one) => one.id === approval.gate)
    const action = gate?.onTimeout ?? 'park'
    facts.push({ type: 'approval_expired', approvalId: approval.id, action })
    if (action === 'park')
      facts.push({
        type: 'task_parked',
        reason: `Approval ${approval.id} was not answered in time`,
        code: 'approval_pending',
      })
  }
  return makeDecision(facts)
}

// The timeout of an older request must not park a task whose agent waits for a newer one.
function isReplacedByNewer(state: TaskState, approval: Approval): boolean {
  const ofGate = [...state.approvals.values()].filter(
    (one) => isLive(one) && one.gate === approval.gate && one.visit === approval.visit,
  )
  return ofGate.at(-1)?.id !== approval.id
}
