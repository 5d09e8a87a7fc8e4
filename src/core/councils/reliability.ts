import type { Retry } from '../task/fact-parts.js'
import { countChars, takeFirstChars } from './code-points.js'
import { formatToolName } from './messages.js'
import { type RetryHandling, WORKFLOW_ERRORS } from './reason.js'

/** One enforcement event of an agent, as `status.json` shows it. */
type EnforcementAttempt = {
  readonly round: number
  readonly attempt: number
  readonly max_attempts: number
  readonly reason: string
  readonly tool_calls: readonly string[]
  readonly error_message: string | null
  readonly buffer_preview: string
  readonly buffer_chars: number
  readonly handled: RetryHandling
  /** Unix seconds, with a fraction. */
  readonly timestamp: number
}

type RoundTally = {
  readonly count: number
  readonly reasons: readonly string[]
}

/** The stored enforcement record of one agent, bounded in size. */
export interface Reliability {
  /** The first ones; `count` has the total. */
  readonly attempts: readonly EnforcementAttempt[]
  readonly count: number
  readonly rounds: ReadonlyMap<number, RoundTally>
  readonly unknownTools: readonly string[]
  readonly workflowErrors: readonly string[]
  readonly bufferCharsLost: number
}

export type ReliabilityOutcome = 'ok' | 'non_compliant' | 'dropped'

/** The record in `status.json`. */
export type ReliabilityRecord = {
  readonly enforcement_attempts: readonly EnforcementAttempt[]
  readonly by_round: Readonly<Record<string, RoundTally>>
  readonly unknown_tools: readonly string[]
  readonly workflow_errors: readonly string[]
  readonly total_enforcement_retries: number
  readonly total_buffer_chars_lost: number
  readonly outcome: ReliabilityOutcome
}

const BUFFER_PREVIEW_CHARS = 500
export const ATTEMPTS_KEPT_MAX = 1000
export const TOOL_CALLS_KEPT_MAX = 100
export const UNKNOWN_TOOLS_KEPT_MAX = 100
const ROUNDS_KEPT_MAX = 1000

export const NO_RELIABILITY: Reliability = {
  attempts: [],
  count: 0,
  rounds: new Map(),
  unknownTools: [],
  workflowErrors: [],
  bufferCharsLost: 0,
}

/** The agent entered a round, even if nothing happens in it. */
export function addRound(record: Reliability, round: number): Reliability {
  if (record.rounds.has(round) || record.rounds.size >= ROUNDS_KEPT_MAX) return record
  return { ...record, rounds: new Map(record.rounds).set(round, { count: 0, reasons: [] }) }
}

/** The record after one more attempt. */
export function addAttempt(
  before: Reliability,
  attempt: EnforcementAttempt,
  unknownTools: readonly string[],
): Reliability {
  const { round, reason } = attempt
  const record = addRound(before, round)
  const tally = record.rounds.get(round)
  const rounds =
    tally === undefined
      ? record.rounds
      : new Map(record.rounds).set(round, { count: tally.count + 1, reasons: mergeDistinct(tally.reasons, [reason]) })
  return {
    attempts: record.attempts.length < ATTEMPTS_KEPT_MAX ? [...record.attempts, attempt] : record.attempts,
    count: record.count + 1,
    rounds,
    unknownTools: mergeDistinct(record.unknownTools, unknownTools.map(formatToolName)).slice(0, UNKNOWN_TOOLS_KEPT_MAX),
    workflowErrors: WORKFLOW_ERRORS.has(reason)
      ? mergeDistinct(record.workflowErrors, [reason])
      : record.workflowErrors,
    bufferCharsLost: record.bufferCharsLost + (attempt.handled === 'restart' ? attempt.buffer_chars : 0),
  }
}

/** The record for `status.json`; null for an agent without events. */
export function buildReliabilityRecord(record: Reliability, outcome: ReliabilityOutcome): ReliabilityRecord | null {
  if (record.count === 0) return null
  return {
    enforcement_attempts: record.attempts,
    by_round: Object.fromEntries([...record.rounds].map(([round, tally]) => [String(round), tally])),
    unknown_tools: record.unknownTools,
    workflow_errors: record.workflowErrors,
    total_enforcement_retries: record.count,
    total_buffer_chars_lost: record.bufferCharsLost,
    outcome,
  }
}

/** The beginning and the size of a response's stream. */
export function cutBuffer(
  buffer: string,
  charsSaid = 0,
): { readonly bufferPreview: string; readonly bufferChars: number } {
  const bufferChars = Math.max(countChars(buffer), Number.isSafeInteger(charsSaid) ? charsSaid : 0)
  return { bufferPreview: takeFirstChars(buffer, BUFFER_PREVIEW_CHARS), bufferChars }
}

/** A refusal in the stream of a task: every event with a code and a detail. */
export interface RefusalSeen {
  readonly at: number
  readonly code: string
  readonly detail: string
  /** Refusals of tokens are not numbered. */
  readonly retry?: Retry
  readonly toolName?: string
}

/**
 * The record after a refusal in a phase workflow: the round is the visit, the reason is the code, and the agent is told
 * at once.
 */
export function addRefusal(record: Reliability, refusal: RefusalSeen, visit: number): Reliability {
  const { code, toolName: tool } = refusal
  const called = tool === undefined ? [] : [formatToolName(tool)]
  const isUnknown = code === 'unknown_tool'
  const attempt: EnforcementAttempt = {
    round: visit,
    attempt: refusal.retry?.attempt ?? 1,
    max_attempts: refusal.retry?.max ?? 1,
    reason: code,
    tool_calls: called,
    error_message: isUnknown ? null : refusal.detail,
    buffer_preview: '',
    buffer_chars: 0,
    handled: 'inline',
    timestamp: refusal.at / 1000,
  }
  return addAttempt(record, attempt, isUnknown ? called : [])
}

function mergeDistinct(known: readonly string[], more: readonly string[]): readonly string[] {
  return [...new Set([...known, ...more])]
}
