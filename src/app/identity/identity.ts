import { createHmac, randomBytes } from 'node:crypto'
import { sha256Hex } from '../../base/sha256.js'
import {
  type AgentBearer,
  formatBearerName,
  type ParticipantBearer,
  type ReviewBearer,
} from '../../core/identity/admit.js'
import type { Session } from '../../core/identity/operator-access.js'
import { type Caller, isMachineRole } from '../../core/identity/permissions.js'
import type { Registry } from '../../core/identity/registry.js'
import type { Tokens } from './tokens.js'

/** Who is calling, proven by a token. */
export type Principal =
  | OperatorPrincipal
  | { readonly kind: 'agent'; readonly bearer: AgentBearer }
  | { readonly kind: 'reviewer'; readonly bearer: ReviewBearer }
  | { readonly kind: 'participant'; readonly bearer: ParticipantBearer }

export interface OperatorPrincipal {
  readonly kind: 'operator'
  readonly name: string
  readonly role: string | null
  /** Set if a session cookie proved it, and not the operator's token. */
  readonly session?: Session
}

/** Principals that may view tasks. */
export type TaskPrincipal = Exclude<Principal, { kind: 'participant' }>

/** Principals that work on tasks. */
export type Party = Exclude<Principal, { kind: 'reviewer' | 'participant' }>

const OPERATOR_PREFIX = 'plop_'
const OPERATOR_TOKEN = /^plop_[A-Za-z0-9_-]{43}$/

export function generateOperatorToken(): string {
  return OPERATOR_PREFIX + randomBytes(32).toString('base64url')
}

/** With the signing secret, this gives the operator token again. */
export function generateSeed(): string {
  return randomBytes(32).toString('base64url')
}

/** The operator token of a seed. Making it requires both the seed and the secret. */
export function deriveOperatorToken(secret: string, seed: string): string {
  return OPERATOR_PREFIX + createHmac('sha256', secret).update(`operator token ${seed}`).digest('base64url')
}

/** What the ledger keeps of an operator token. The token has 256 random bits, so its hash does not reveal it. */
export function hashToken(token: string): string {
  return sha256Hex(token)
}

/** The principal of a token; null when the token is not ours, expired, revoked or of an older instance. */
export function findPrincipal(
  token: string,
  known: { readonly registry: Registry; readonly tokens: Tokens; readonly now: number },
): Principal | null {
  if (token.startsWith(OPERATOR_PREFIX)) {
    if (!OPERATOR_TOKEN.test(token)) return null
    // Hashes are compared, so that timing reveals nothing about the token.
    const verifier = hashToken(token)
    for (const operator of known.registry.operators.values())
      if (operator.verifier === verifier && operator.revokedAt === null)
        return { kind: 'operator', name: operator.name, role: operator.role }
    return null
  }
  const bearer = known.tokens.bearer(token, known.now)
  if (bearer === null) return null
  // The state of the task says whether a review token is still valid.
  if (bearer.kind === 'review') return { kind: 'reviewer', bearer }
  // The state of the council says whether it is open and has this participant.
  if (bearer.kind === 'participant') return { kind: 'participant', bearer }
  const agent = known.registry.agents.get(bearer.agentId)
  if (agent === undefined || agent.revokedAt !== null) return null
  if (bearer.kind === 'agent' && agent.instance !== bearer.instance) return null
  return { kind: 'agent', bearer }
}

/** Whether a session cookie proved the principal, and not a token. */
export function isBySession(principal: Principal): boolean {
  return principal.kind === 'operator' && principal.session !== undefined
}

/** The role that permissions are granted to. */
export function toCallerKind(principal: Principal): Caller {
  if (principal.kind === 'operator') return isMachineRole(principal.role) ? 'ci' : 'human'
  if (principal.kind === 'agent') return principal.bearer.kind
  return principal.kind
}

/** How the ledger names the principal. */
export function formatActor(principal: Principal): string {
  if (principal.kind === 'operator') return `operator:${principal.name}`
  if (principal.kind === 'participant') return `participant:${principal.bearer.agentId}`
  return formatBearerName(principal.bearer)
}

/**
 * Key under which a caller is counted: reviewers of the same name on two tasks are two callers, and so are participants
 * of two councils.
 */
export function formatCaller(principal: Principal): string {
  const name = formatActor(principal)
  if (principal.kind === 'participant') return `${name}@${principal.bearer.runId}`
  return principal.kind === 'reviewer' ? `${name}@${principal.bearer.taskId}` : name
}
