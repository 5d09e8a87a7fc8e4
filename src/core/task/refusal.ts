import { CODES, type Code } from '../codes.js'
import type { Contract, Mode } from '../contract/contract.js'
import type { TaskFact } from './event.js'
import type { Retry } from './fact-parts.js'
import type { TaskState } from './state.js'

/** A refusal as the caller sees it. A refusal is a normal answer, never an exception. */
export interface Refusal {
  readonly code: Code
  readonly detail: string
  readonly retry?: Retry
  /** Instead of the remedy of the code. */
  readonly remedy?: string
}

/**
 * The core's answer to a command: events to append (including refusals), or a refusal that leaves no trace in the
 * task's stream.
 */
export type Decision =
  | { readonly kind: 'decided'; readonly facts: readonly TaskFact[]; readonly refusal: Refusal | null }
  | { readonly kind: 'unrecorded'; readonly refusal: Refusal }

export function makeDecision(facts: readonly TaskFact[], refusal: Refusal | null = null): Decision {
  return { kind: 'decided', facts, refusal }
}

export function refuseUnrecorded(code: Code, detail: string, more: Pick<Refusal, 'remedy'> = {}): Decision {
  return { kind: 'unrecorded', refusal: { code, detail, ...more } }
}

/** The mode of the task: its own, else the contract's. */
export function getMode(contract: Contract, state: TaskState): Mode {
  return state.mode ?? contract.enforcement.mode
}

interface RefusalText {
  readonly code: Code
  /** One sentence: what was refused and what is allowed instead. */
  readonly detail: string
}

/** Numbers a refusal within its visit and kind, and says what to do when no tries are left. */
export function numberRefusal(contract: Contract, state: TaskState, refusal: RefusalText): RefusedFact {
  const max = contract.enforcement.maxAttempts
  const counted = !COUNTED_NOT.has(refusal.code)
  const before = counted ? (state.refusals.get(refusal.code) ?? 0) : 0
  const attempt = Math.min(before + 1, max)
  const advice = counted && before + 1 >= max ? ` ${formatUsedUp(before + 1 > max)}` : ''
  const stop = advice === '' || /[.!?]$/.test(refusal.detail) ? '' : '.'
  return {
    code: refusal.code,
    detail: refusal.detail,
    success: false,
    retry: { attempt, max, text: `Retry (${attempt}/${max}): ${refusal.detail}${stop}${advice}` },
    counted,
  }
}

export interface RefusedFact {
  readonly code: Code
  readonly detail: string
  readonly success: false
  readonly retry: Retry
  readonly counted: boolean
}

function formatUsedUp(again: boolean): string {
  return again
    ? 'The tries for this are used up: do something else that the phase allows, ask the operator, or release the task.'
    : 'That was the last try of this kind: do something else that the phase allows.'
}

const COUNTED_NOT: ReadonlySet<Code> = new Set<Code>([
  'approval_pending',
  'consensus_pending',
  'token_invalid',
  'token_stale',
  'token_mismatch',
  'token_missing',
])

/**
 * Whether a closed gate refused the agent, or only makes it wait for people or reviewers. A violation reported before
 * is a refusal too, but does not use the denial budget again.
 */
export function isRefusal(gate: { readonly counted: boolean; readonly code: string }): boolean {
  return gate.counted || gate.code === 'rule_interrupt'
}

/** The refusal, and the parking that follows when the denial budget is used up. Advisory mode never parks. */
export function refuseWithinBudget(contract: Contract, state: TaskState, fact: TaskFact & RefusedFact): Decision {
  const facts: TaskFact[] = [fact]
  const spent = state.denialsInARow + (fact.counted ? 1 : 0)
  const budget = contract.enforcement.denialBudget
  if (fact.counted && spent >= budget && getMode(contract, state) !== 'advisory') {
    const reason = `${spent} refusals in a row without progress (denial_budget ${budget}); the last: ${fact.detail}`
    facts.push({ type: 'task_parked', reason, code: fact.code })
  }
  return makeDecision(facts, { code: fact.code, detail: fact.detail, retry: fact.retry })
}

/** The remedy of a code, as the problem document gives it. */
export function getRemedy(code: Code): string {
  return CODES[code].remedy
}

/** Says that a task is parked, and why. */
export function describeParked(id: string, reason: string | null | undefined): string {
  return reason == null || reason === ''
    ? `Task ${id} is parked.`
    : `Task ${id} is parked: ${reason.replace(/\.$/, '')}.`
}
