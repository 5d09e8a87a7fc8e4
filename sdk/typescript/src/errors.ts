import type { Blocker, PendingApproval, Retry } from './api.js'
import { isObject, type JsonObject, textOf, toObjects, toTexts } from './json.js'

export type { Blocker, Grade, PendingApproval, Retry } from './api.js'

/** Base class of all errors that this package throws on purpose. No message and no property contains a token. */
export class PhaselockError extends Error {
  override readonly name: string = 'PhaselockError'
}

/** The client was given an address, a token or an environment that it cannot use. */
export class InvalidOptions extends PhaselockError {
  override readonly name: string = 'InvalidOptions'
}

/** A call that needs a task came before a claim, or after the task was completed or given back. */
export class NotClaimed extends PhaselockError {
  override readonly name: string = 'NotClaimed'

  constructor() {
    super('claim a task first')
  }
}

/** The server could not be reached, or did not answer, in all attempts. The request may have had an effect. */
export class Unreachable extends PhaselockError {
  override readonly name: string = 'Unreachable'

  constructor(
    readonly attempts: number,
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super(`the server did not answer (${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}): ${reason}`, options)
  }
}

/** The event that was waited for did not happen in time. */
export class WaitTimeout extends PhaselockError {
  override readonly name: string = 'WaitTimeout'
}

/** The server refused. `code` is stable and explained in docs/errors.md of Phaselock. */
export class ApiError extends PhaselockError {
  override readonly name: string = 'ApiError'
  readonly code: string
  readonly detail: string
  readonly remedy: string | null
  readonly allowedTools: readonly string[]
  readonly nextStep: string | null
  readonly retry: Retry | null

  constructor(
    readonly status: number,
    /** The whole answer, as it was sent. */
    readonly problem: JsonObject,
  ) {
    const code = textOf(problem.code) ?? 'unreadable_answer'
    const detail = textOf(problem.detail) ?? `The server answered with status ${status}.`
    super(`${detail} [${code}]`)
    this.code = code
    this.detail = detail
    this.remedy = textOf(problem.remedy)
    this.allowedTools = toTexts(problem.allowed_tools)
    this.nextStep = textOf(problem.next_step)
    this.retry = retryOf(problem.retry)
  }
}

/** The token does not permit the call: it is missing, expired, superseded or for another task. */
export class TokenRefused extends ApiError {
  override readonly name: string = 'TokenRefused'
}

/** The phase does not allow this use of the tool. The call had no effect. */
export class ToolDenied extends ApiError {
  override readonly name: string = 'ToolDenied'
}

/** The tool was allowed but failed. */
export class ToolFailed extends ApiError {
  override readonly name: string = 'ToolFailed'
}

/** The phase cannot be left now; lists all blockers. */
export class TransitionBlocked extends PhaselockError {
  override readonly name: string = 'TransitionBlocked'
  readonly phase: string
  readonly blockers: readonly Blocker[]
  readonly warnings: readonly Blocker[]
  readonly retry: Retry | null
  readonly pendingApproval: PendingApproval | null
  readonly allowedTools: readonly string[]
  readonly nextStep: string | null

  constructor(
    target: string,
    /** The whole answer, as it was sent. */
    readonly answer: JsonObject,
  ) {
    const blockers = toObjects(answer.blockers) as unknown as readonly Blocker[]
    super(`${target} is blocked: ${blockers.map((one) => `${one.message} [${one.code}]`).join('; ')}`)
    this.phase = textOf(answer.phase) ?? ''
    this.blockers = blockers
    this.warnings = toObjects(answer.warnings) as unknown as readonly Blocker[]
    this.retry = retryOf(answer.retry)
    this.pendingApproval = isObject(answer.pending_approval)
      ? (answer.pending_approval as unknown as PendingApproval)
      : null
    this.allowedTools = toTexts(answer.allowed_tools)
    this.nextStep = textOf(answer.next_step)
  }
}

const TOKEN_CODES: ReadonlySet<string> = new Set(['token_missing', 'token_invalid', 'token_stale', 'token_mismatch'])
const DENIAL_CODES: ReadonlySet<string> = new Set([
  ...['forbidden_tool', 'unknown_tool', 'constraint_violation', 'invalid_request', 'not_permitted', 'rule_interrupt'],
])
const FAILURE_CODES: ReadonlySet<string> = new Set(['tool_failed', 'sandbox_unavailable', 'invalid_regex'])

export function makeApiError(status: number, problem: JsonObject): ApiError {
  return TOKEN_CODES.has(textOf(problem.code) ?? '') ? new TokenRefused(status, problem) : new ApiError(status, problem)
}

/** The same refusal, worded for a tool call. */
export function toolError(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error
  if (DENIAL_CODES.has(error.code)) return new ToolDenied(error.status, error.problem)
  return FAILURE_CODES.has(error.code) ? new ToolFailed(error.status, error.problem) : error
}

function retryOf(value: unknown): Retry | null {
  return isObject(value) ? (value as unknown as Retry) : null
}
