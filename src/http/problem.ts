import { CODES, type Code } from '../core/codes.js'
import type { JsonObject } from '../core/json.js'

const STATUS: Readonly<Partial<Record<Code, number>>> = {
  invalid_request: 400,
  unknown_phase: 400,
  no_transition: 400,
  tool_failed: 400,
  sandbox_unavailable: 400,
  invalid_regex: 400,
  'contract.invalid': 400,
  token_missing: 401,
  token_invalid: 403,
  token_stale: 403,
  token_mismatch: 403,
  forbidden_tool: 403,
  unknown_tool: 403,
  constraint_violation: 403,
  not_permitted: 403,
  login_failed: 403,
  session_ended: 403,
  csrf_token_missing: 403,
  confirmation_required: 403,
  confirmation_invalid: 403,
  host_not_allowed: 403,
  not_found: 404,
  no_task_available: 404,
  method_not_allowed: 405,
  conflict: 409,
  outcome_unknown: 409,
  already_claimed: 409,
  phase_sequence_violation: 409,
  task_not_active: 409,
  no_active_task: 409,
  agents_paused: 409,
  'contract.not_enforced_yet': 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  idempotency_mismatch: 422,
  rate_limited: 429,
  internal_error: 500,
  store_unavailable: 503,
  wrong_node: 503,
  trees_elsewhere: 409,
  tree_missing: 409,
  state_unreadable: 503,
  shutting_down: 503,
  confinement_unavailable: 503,
  agent_unavailable: 422,
  agent_cli_too_old: 422,
  knowledge_unavailable: 503,
}

/** The HTTP status of a code. A code without one is only ever a blocker inside a 200 answer. */
export function getStatus(code: Code): number {
  return STATUS[code] ?? 409
}

/** A code that occurs only as a blocker or warning inside a 200 answer. */
export function isBlockerOnly(code: Code): boolean {
  return STATUS[code] === undefined
}

/** An RFC 9457 problem document. */
export function buildProblemDocument(problem: {
  readonly code: Code
  readonly detail: string
  readonly extra: JsonObject
}): JsonObject {
  const { title, remedy } = CODES[problem.code]
  return {
    type: `/docs/errors#${problem.code}`,
    title,
    status: getStatus(problem.code),
    detail: problem.detail,
    code: problem.code,
    remedy,
    ...problem.extra,
  }
}
