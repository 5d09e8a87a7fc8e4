import type { Contract } from '../contract/contract.js'
import { makeCheckpointFacts } from '../evidence/checkpoint.js'
import type { Command, Context, GateFacts } from '../task/command.js'
import type { TaskFact } from '../task/event.js'
import { type Decision, getMode, numberRefusal, refuseWithinBudget } from '../task/refusal.js'
import type { TaskState } from '../task/state.js'
import { requirePhase } from '../tool-calls/offered-tools.js'
import { findHoldingViolation } from '../watch/watch.js'
import { makeBlocker } from './blockers.js'
import { decideTransition, findHandedInLimit, refuseInterrupted, refuseTransition } from './transition.js'
import { isFinal } from './transition-rules.js'

const PROBLEMS_KEPT_MAX = 200
const PROBLEMS_IN_TEXT_MAX = 3

/** How a completed phase is left. */
type WayOn =
  /**
   * The only legal transition, or the phase itself when it is the last; with the statement that completing it makes.
   */
  | { readonly kind: 'one'; readonly target: string; readonly claims: readonly string[] }
  /** Completing the phase does not determine the target. */
  | { readonly kind: 'choice'; readonly ways: readonly string[] }

/**
 * The target of completing the phase. Ways back do not count, and only the statement that the phase is complete is made
 * for the agent.
 */
export function decideWayOn(contract: Contract, state: TaskState): WayOn {
  if (isFinal(contract, requirePhase(contract, state.phase))) return { kind: 'one', target: state.phase, claims: [] }
  const claims = [`${state.phase}_complete`, `${state.phase.toLowerCase()}_complete`]
  const ways = contract.transitions.filter(
    (transition) =>
      transition.from === state.phase &&
      transition.to !== state.phase &&
      !state.completedPhases.includes(transition.to),
  )
  const open = ways.filter((way) => way.when === null || claims.includes(way.when))
  const [first] = open
  if (first !== undefined && open.every((transition) => transition.to === first.to))
    return { kind: 'one', target: first.to, claims }
  const all = contract.transitions.filter((transition) => transition.from === state.phase)
  const told = all.map((transition) =>
    transition.when === null ? transition.to : `${transition.to} (with the claim ${transition.when})`,
  )
  return { kind: 'choice', ways: [...new Set(told)] }
}

type Request = Command & { type: 'transition' }

/** A request to leave the phase, by completing it or by naming a target. */
export function leavePhase(contract: Contract, state: TaskState, request: Request, context: Context): Decision {
  const decides = request.completes === true ? completePhase : decideTransition
  return decides(contract, state, request, context)
}

/**
 * Judges the phase's evidence first; if it holds, it is stored, and the only legal transition is made or its blockers
 * reported.
 */
function completePhase(contract: Contract, state: TaskState, request: Request, context: Context): Decision {
  if (request.currentPhase !== state.phase) return decideTransition(contract, state, request, context)
  const way = decideWayOn(contract, state)
  const to = way.kind === 'one' ? way.target : state.phase
  const { now, matches } = context
  const held = findHoldingViolation(contract, state, { now, matches, committedAt: request.committedAt ?? null })
  const agentId = state.held?.agentId ?? ''
  if (held !== null) return refuseInterrupted(contract, state, { request: { ...request, target: to }, held, agentId })
  const { facts } = request
  const tooMuch = findHandedInLimit(state, facts)
  if (tooMuch !== null) return refuseTransition(contract, state, { to, code: 'payload_too_large', detail: tooMuch })
  if (facts === null || facts.visit !== state.visit)
    return refuseTransition(contract, state, {
      to,
      code: 'evidence_stale',
      detail:
        'The evidence was checked in an earlier visit to this phase, or while a rule still blocked the request: send it again',
    })
  if (facts.evidenceProblems.length > 0 && getMode(contract, state) === 'strict')
    return refuseCheckpoint(contract, state, facts)
  return way.kind === 'one'
    ? decideTransition(contract, state, { ...request, target: way.target, claims: way.claims }, context)
    : refuseUndecidedWay(contract, state, { facts, ways: way.ways })
}

function refuseCheckpoint(contract: Contract, state: TaskState, facts: GateFacts): Decision {
  const { evidenceProblems: problems, evidence, evidenceRef } = facts
  const shown = problems.slice(0, PROBLEMS_IN_TEXT_MAX)
  const more = problems.length - shown.length
  const detail = `Cannot complete ${state.phase}: ${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}`
  return refuseWithinBudget(contract, state, {
    type: 'checkpoint_refused',
    agentId: state.held?.agentId ?? '',
    evidence,
    ...evidenceRef,
    problems: problems.slice(0, PROBLEMS_KEPT_MAX),
    problemCount: problems.length,
    leaseSeconds: contract.enforcement.leaseSeconds,
    ...numberRefusal(contract, state, { code: 'incomplete_checkpoint', detail }),
  })
}

// The evidence is stored, so that a request for one of the targets need not send it again.
function refuseUndecidedWay(
  contract: Contract,
  state: TaskState,
  one: { readonly facts: GateFacts; readonly ways: readonly string[] },
): Decision {
  const agentId = state.held?.agentId ?? ''
  const evidence = contract.phases.get(state.phase)?.evidence ?? new Map()
  const kept: readonly TaskFact[] = makeCheckpointFacts(state, { facts: one.facts, agentId, asked: evidence.size })
  const message = `${state.phase} can be left for ${one.ways.join(' or ')}: say which`
  const open = (one.facts.evidenceOpen ?? []).map((text) => makeBlocker('incomplete_checkpoint', { message: text }))
  const found = makeBlocker('claim_missing', { message, remedy: 'Ask for one of the listed transitions.' })
  const decision = refuseWithinBudget(contract, state, {
    type: 'gate_blocked',
    agentId,
    to: state.phase,
    gate: null,
    blockers: [...open, found],
    warnings: [],
    ...numberRefusal(contract, state, { code: 'claim_missing', detail: message }),
  })
  return decision.kind === 'decided' ? { ...decision, facts: [...kept, ...decision.facts] } : decision
}
