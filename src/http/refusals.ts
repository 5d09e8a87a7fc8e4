import type { Code } from '../core/codes.js'
import { type CallId, mayCall } from '../core/identity/permissions.js'
import { isSensitiveId } from '../core/identity/sensitive-acts.js'
import type { RouteDescription } from './route.js'

interface Rule {
  readonly codes: readonly Code[]
  readonly applies: (route: RouteDescription) => boolean
}

const isUnsafe = ({ method }: RouteDescription): boolean => method !== 'GET'
const needsToken = ({ id }: RouteDescription): boolean => id !== 'login'
const isOfTasks = ({ path }: RouteDescription): boolean => path.startsWith('/tasks/')
const isForOperators = (route: RouteDescription): boolean => needsToken(route) && mayCall(route.id, 'human')
const isForAgents = (route: RouteDescription): boolean =>
  needsToken(route) && (['agent', 'phase', 'reviewer'] as const).some((caller) => mayCall(route.id, caller))

const RULES: readonly Rule[] = [
  {
    // The request cannot be read, its sender is refused, or the server cannot answer.
    codes: [
      ...(['invalid_request', 'host_not_allowed', 'not_permitted', 'rate_limited'] as const),
      ...(['internal_error', 'store_unavailable', 'state_unreadable', 'wrong_node', 'shutting_down'] as const),
    ],
    applies: () => true,
  },
  { codes: ['token_missing', 'token_invalid', 'token_mismatch'], applies: needsToken },
  { codes: ['session_ended'], applies: isForOperators },
  { codes: ['csrf_token_missing'], applies: (route) => isForOperators(route) && isUnsafe(route) },
  { codes: ['confirmation_required', 'confirmation_invalid'], applies: ({ id }) => isSensitiveId(id) },
  { codes: ['payload_too_large', 'unsupported_media_type', 'conflict'], applies: isUnsafe },
  { codes: ['idempotency_mismatch'], applies: (route) => isUnsafe(route) && needsToken(route) },
  { codes: ['token_stale', 'no_active_task', 'task_not_active', 'agents_paused'], applies: isForAgents },
  // Its work tree cannot be read.
  { codes: ['conflict', 'tree_missing'], applies: (route) => isForAgents(route) || isOfTasks(route) },
  { codes: ['task_not_active'], applies: (route) => isUnsafe(route) && isOfTasks(route) },
  { codes: ['not_found'], applies: ({ path }) => path.includes('/:') },
]

/** What some calls answer beside what `RULES` says. */
const OWN: Readonly<Partial<Record<CallId, readonly Code[]>>> = {
  login: ['login_failed'],
  claimTask: ['no_task_available', 'already_claimed', 'not_found', 'confinement_unavailable'],
  requestTransition: ['no_transition', 'phase_sequence_violation'],
  executeTool: [
    ...(['forbidden_tool', 'unknown_tool', 'constraint_violation', 'tool_failed', 'invalid_regex'] as const),
    ...(['sandbox_unavailable', 'confinement_unavailable', 'rule_interrupt', 'outcome_unknown'] as const),
  ],
  nextPrompt: ['phase_sequence_violation'],
  getPhase: ['unknown_phase', 'phase_sequence_violation'],
  completePhase: ['unknown_phase', 'phase_sequence_violation'],
  searchKnowledge: ['not_found', 'knowledge_unavailable'],
  getStatus: ['not_found'],
  getInsights: ['not_found'],
  createTask: ['not_found', 'contract.not_enforced_yet', 'tool_failed', 'confinement_unavailable'],
  rewindTask: ['unknown_phase'],
  installDependencies: ['tool_failed', 'constraint_violation', 'confinement_unavailable'],
  acceptTools: ['tool_failed', 'confinement_unavailable'],
  submitReview: ['tool_failed'],
  spawnAgent: [
    ...(['not_found', 'already_claimed', 'task_not_active', 'agents_paused', 'agent_unavailable'] as const),
    ...(['agent_cli_too_old', 'confinement_unavailable', 'contract.not_enforced_yet'] as const),
  ],
  addContract: ['contract.invalid'],
  adoptNode: ['trees_elsewhere'],
  respond: ['agents_paused'],
  agentScreen: ['conflict'],
  addPasskey: ['confirmation_required', 'confirmation_invalid'],
  revokePasskey: ['confirmation_required', 'confirmation_invalid'],
  setPassphrase: ['confirmation_required', 'confirmation_invalid'],
}

/** Every code with which a call can be refused, for the OpenAPI document. */
export function listRefusals(route: RouteDescription): readonly Code[] {
  if (isAnsweredInOwnWords(route)) return []
  const codes = RULES.flatMap(({ codes: added, applies }) => (applies(route) ? added : []))
  return [...new Set([...codes, ...(OWN[route.id] ?? [])])]
}

// A hook is refused with status 200: any other one could let the tool run. Claude Code has events that decide nothing.
function isAnsweredInOwnWords({ id, path }: RouteDescription): boolean {
  return path.startsWith('/hooks/') && id !== 'hookClaudeCode'
}
