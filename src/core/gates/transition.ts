import { findOrRequestApproval } from '../approvals/approval.js'
import type { Code } from '../codes.js'
import type { Contract } from '../contract/contract.js'
import { parkIfDoubted } from '../doubted-tests.js'
import { makeCheckpointFacts } from '../evidence/checkpoint.js'
import { parkAfterHeldOutFailures } from '../evidence/held-out.js'
import { decideConsensus, isVoting } from '../reviews/consensus.js'
import type { ConsensusProof } from '../reviews/consensus-event.js'
import { isWaitingForReviews } from '../reviews/review.js'
import { makeSlotFacts } from '../reviews/reviewer-slots.js'
import type { Violation as RuleViolation } from '../rules/evaluate.js'
import type { Command, Context, GateFacts } from '../task/command.js'
import type { TaskFact } from '../task/event.js'
import { sumBytesHandedIn } from '../task/evolve.js'
import type { ArtifactRef, BlockerFound } from '../task/fact-parts.js'
import { type Decision, getMode, makeDecision, numberRefusal, refuseWithinBudget } from '../task/refusal.js'
import type { TaskState } from '../task/state.js'
import { findTreeBlockers } from '../task/tree-blockers.js'
import { requirePhase } from '../tool-calls/offered-tools.js'
import { findHoldingViolation, makeViolationFacts } from '../watch/watch.js'
import { findAutoTarget } from './auto-advance.js'
import { findBlockers, makeBlocker } from './blockers.js'
import { pickChecks } from './check-results.js'
import { type Needs, needs } from './needs.js'
import { addFacts, listAcceptedArtifacts, visitArtifacts } from './transition-facts.js'
import { completesOnEntry, isFinal, listTargets } from './transition-rules.js'
import { addParking, findLoop } from './ways-back.js'

type Request = Command & { type: 'transition' }

// Every submitted artifact is stored: without a limit one task could fill the disk.
const VISIT_BYTES_MAX = 64 * 1024 * 1024

/** Moves the task to the next phase, or reports all blockers. */
export function decideTransition(contract: Contract, state: TaskState, request: Request, context: Context): Decision {
  const agentId = state.held?.agentId ?? ''
  if (request.auto === true && (findAutoTarget(contract, state) !== request.target || request.claims.length > 0))
    return makeDecision([])
  // A request that the agent did not make does not count against it.
  const refuse = (code: Code, detail: string): Decision =>
    request.auto === true ? makeDecision([]) : refuseTransition(contract, state, { to: request.target, code, detail })
  if (request.currentPhase !== null && request.currentPhase !== state.phase)
    return refuse('phase_sequence_violation', `The task is in ${state.phase}, not in ${request.currentPhase}`)
  const needed = needs(contract, state, request)
  if (needed === null) return refuse('no_transition', formatNoTransition(contract, state, request.target))
  const tooMuch = findHandedInLimit(state, request.facts)
  if (tooMuch !== null) return refuse('payload_too_large', tooMuch)
  const held = findHoldingViolation(contract, state, {
    now: context.now,
    matches: context.matches,
    committedAt: request.committedAt ?? null,
  })
  if (held !== null)
    return request.auto === true ? makeDecision([]) : refuseInterrupted(contract, state, { request, held, agentId })
  // A rule blocked the earlier request, and no longer does.
  if (request.facts === null)
    return refuse(
      'evidence_stale',
      'A rule blocked the earlier request and no longer does: request the transition again',
    )
  return judge(contract, state, { request, needed, facts: request.facts, context, agentId })
}

/** A request refused without checking anything; it counts. */
export function refuseTransition(
  contract: Contract,
  state: TaskState,
  about: { readonly to: string; readonly code: Code; readonly detail: string },
): Decision {
  return refuseWithinBudget(contract, state, {
    type: 'transition_refused',
    agentId: state.held?.agentId ?? '',
    to: about.to,
    leaseSeconds: contract.enforcement.leaseSeconds,
    ...numberRefusal(contract, state, about),
  })
}

/** Why this visit accepts nothing more; null while there is room. */
export function findHandedInLimit(state: TaskState, facts: GateFacts | null): string | null {
  const bytes = state.visitBytes + sumBytesHandedIn(facts?.artifacts ?? []) + (facts?.evidenceRef?.bytes ?? 0)
  return bytes > VISIT_BYTES_MAX
    ? `More than ${VISIT_BYTES_MAX} bytes of artifacts and evidence in one visit of ${state.phase}`
    : null
}

// Nothing is gathered for a transition that a rule blocks: the artifacts have to be sent again.
export function refuseInterrupted(
  contract: Contract,
  state: TaskState,
  one: { readonly request: Request; readonly held: RuleViolation; readonly agentId: string },
): Decision {
  const found = makeBlocker('rule_interrupt', {
    message: one.held.diagnostic,
    remedy: 'Acknowledge the interrupt (continue), or ask for help.',
  })
  const decision = refuseWithinBudget(contract, state, {
    type: 'gate_blocked',
    agentId: one.agentId,
    to: one.request.target,
    gate: null,
    blockers: [found],
    warnings: [],
    ...numberRefusal(contract, state, {
      code: 'rule_interrupt',
      detail: `Cannot leave ${state.phase}: ${one.held.diagnostic}`,
    }),
    // A violation that was already reported does not use up the denial budget again.
    counted: !state.watch.reported.has(one.held.rule),
  })
  if (decision.kind !== 'decided') return decision
  const isParked = decision.facts.some((fact) => fact.type === 'task_parked')
  const told = makeViolationFacts(contract, state, one.held)
  return { ...decision, facts: [...told.slice(0, 1), ...decision.facts, ...(isParked ? [] : told.slice(1))] }
}

function pickAuto(request: Request): { readonly auto?: true } {
  return request.auto === true ? { auto: true } : {}
}

function formatNoTransition(contract: Contract, state: TaskState, target: string): string {
  const targets = listTargets(contract, state.phase)
  const legal =
    targets.length > 0
      ? targets.join(', ')
      : isFinal(contract, requirePhase(contract, state.phase))
        ? `${state.phase} (to complete)`
        : 'none'
  return `No transition from ${state.phase} to ${target}. Legal: ${legal}`
}

interface Case {
  readonly request: Request
  readonly needed: Needs
  readonly facts: GateFacts
  readonly context: Context
  readonly agentId: string
}

function judge(contract: Contract, state: TaskState, one: Case): Decision {
  const { request, needed, facts } = one
  const unledgered = findTreeBlockers(contract, state, facts, one.context)
  const voting = isVoting(needed.consensus, facts.consensus)
  const given = { facts, claims: request.claims, mode: getMode(contract, state), more: unledgered, isVoting: voting }
  const findings = findBlockers(state, needed, given)
  const accepted = listAcceptedArtifacts(needed, facts)
  const requested: TaskFact = {
    type: 'transition_requested',
    agentId: one.agentId,
    to: request.target,
    artifacts: accepted,
    claims: request.claims,
    leaseSeconds: contract.enforcement.leaseSeconds,
    observed: one.facts.observed ?? [],
    ...pickChecks(needed, facts),
    ...(facts.evidenceRef === undefined ? {} : { evidenceBytes: facts.evidenceRef.bytes }),
    ...pickAuto(request),
  }
  const checkpoint = makeCheckpointFacts(state, { facts, agentId: one.agentId, asked: needed.evidence.size })
  // A mode that lets an agent pass a closed gate does not let Phaselock advance the task automatically.
  if (request.auto === true && findings.blockers.length + findings.violations.length > 0) return makeDecision([])
  const blocked = (blockers: readonly BlockerFound[], isCounted?: boolean) =>
    refuseBlocked(contract, state, {
      ...one,
      requested: [requested, ...checkpoint],
      blockers,
      warnings: findings.warnings,
      isCounted,
    })
  const consensus = decideConsensus(state, { plan: needed.consensus, facts, to: request.target })
  if (findings.blockers.length > 0) {
    const isOver = consensus.kind === 'blocked' && !voting
    const all = isOver ? [...findings.blockers, consensus.blocker] : findings.blockers
    const refusal = blocked(all, isWaitingForReviews(state, all) ? false : undefined)
    return parkIfDoubted(contract, state, parkAfterHeldOutFailures(state, refusal))
  }
  const loop = findLoop(contract, state, needed.demand)
  if (loop !== null) return addParking(blocked([loop]), loop)
  if (consensus.kind === 'blocked') {
    if (request.auto === true) return makeDecision([])
    return addFacts(blocked([consensus.blocker], consensus.isReplaced ? true : undefined), {
      before: [requested, ...checkpoint],
      added: consensus.facts,
    })
  }

  const approval = findOrRequestApproval(state, {
    gates: needed.demand.gates,
    to: request.target,
    facts,
    artifacts: [...visitArtifacts(state, accepted), ...(facts.shown ?? [])],
    warnings: findings.warnings,
    now: one.context.now,
  })
  if (approval.kind === 'blocked') {
    return addFacts(blocked([approval.blocker], approval.isReplaced ? true : undefined), {
      before: [requested, ...checkpoint],
      added: approval.facts,
    })
  }
  return makeDecision([
    requested,
    ...checkpoint,
    ...makePassedFacts(contract, state, {
      ...one,
      warnings: findings.warnings,
      violations: findings.violations,
      approvalId: approval.approvalId,
      consensus: consensus.proof,
      accepted,
    }),
  ])
}

interface BlockedCase extends Case {
  /** Events recorded whether the gate opens or not. */
  readonly requested: readonly TaskFact[]
  readonly blockers: readonly BlockerFound[]
  readonly warnings: readonly BlockerFound[]
  /** Whether it counts toward the denial budget, if not the default of its kind. */
  readonly isCounted: boolean | undefined
}

const BLOCKERS_IN_TEXT_MAX = 3

function refuseBlocked(contract: Contract, state: TaskState, one: BlockedCase): Decision {
  const shown = one.blockers.slice(0, BLOCKERS_IN_TEXT_MAX).map((blocker) => blocker.message)
  const more = one.blockers.length - shown.length
  const where =
    one.needed.demand.transition === null ? `complete ${state.phase}` : `leave ${state.phase} for ${one.request.target}`
  const detail = `Cannot ${where}: ${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}`
  const refused = numberRefusal(contract, state, { code: pickRefusalCode(one.blockers), detail })
  const decision = refuseWithinBudget(contract, state, {
    type: 'gate_blocked',
    agentId: one.agentId,
    to: one.request.target,
    gate: one.blockers.find((blocker) => blocker.gate !== null)?.gate ?? null,
    blockers: one.blockers,
    warnings: one.warnings,
    ...refused,
    counted: one.isCounted ?? refused.counted,
  })
  return decision.kind === 'decided' ? { ...decision, facts: [...one.requested, ...decision.facts] } : decision
}

const KINDS: readonly Code[] = [
  'evidence_stale',
  'claim_missing',
  'missing_artifact',
  'invalid_artifact',
  'incomplete_checkpoint',
  'consensus_pending',
  'approval_pending',
  'approval_rejected',
]

// One request is one refusal: its kind is the first thing the agent has to fix.
function pickRefusalCode(blockers: readonly BlockerFound[]): Code {
  return KINDS.find((code) => blockers.some((blocker) => blocker.code === code)) ?? 'gate_blocked'
}

interface PassedCase extends Case {
  readonly warnings: readonly BlockerFound[]
  readonly violations: readonly BlockerFound[]
  readonly approvalId: string | null
  readonly consensus: ConsensusProof | null
  readonly accepted: readonly ArtifactRef[]
}

function makePassedFacts(contract: Contract, state: TaskState, one: PassedCase): readonly TaskFact[] {
  const { agentId, facts, needed, request } = one
  const out: TaskFact[] = []
  if (needed.pinsTests && facts.testFiles !== null)
    out.push({ type: 'tests_pinned', files: facts.testFiles, run: facts.pinnedRun ?? null })
  out.push({
    type: 'gate_passed',
    agentId,
    to: request.target,
    gate: needed.demand.gates[0]?.id ?? null,
    warnings: one.warnings,
    violations: one.violations,
    approvalId: one.approvalId,
    digest: facts.digest,
    success: true,
    ...(one.consensus === null ? {} : { consensus: one.consensus }),
  })
  if (needed.demand.transition === null) return [...out, { type: 'task_completed' }]
  out.push({
    type: 'phase_entered',
    from: state.phase,
    to: request.target,
    visit: state.visit + 1,
    artifacts: visitArtifacts(state, one.accepted),
    back: state.completedPhases.includes(request.target) || request.target === state.phase,
    ...pickAuto(request),
  })
  out.push(...makeSlotFacts(contract, request.target, needed.demand.transition.opensReviews === true))
  if (completesOnEntry(contract, requirePhase(contract, request.target))) out.push({ type: 'task_completed' })
  return out
}
