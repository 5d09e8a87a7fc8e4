import { randomBytes } from 'node:crypto'
import { sha256Hex } from '../../base/sha256.js'
import type { Session, SessionOrigin } from '../../core/identity/operator-access.js'
import { isMachineRole } from '../../core/identity/permissions.js'
import type { Registry } from '../../core/identity/registry.js'
import type { JsonObject } from '../../core/json.js'
import { plainLine } from '../../core/plain-text.js'
import type { App } from '../app.js'
import { ok, type Result, refuse, toProblem } from '../result.js'
import { toIsoTime } from '../wire.js'
import { findPrincipal, type OperatorPrincipal } from './identity.js'

const SESSION_MS = 12 * 3600 * 1000
const COOKIE_PREFIX = 'plse_'
const COOKIE = /^plse_[A-Za-z0-9_-]{43}$/
const USER_AGENT_CHARS_MAX = 200

export interface OpenedSession {
  readonly session: Session
  readonly operator: { readonly name: string; readonly role: string | null }
  /** The value of the cookie. It is sent once and never kept. */
  readonly cookie: string
}

/** Opens a session for a one-time code or an operator token. */
export async function logIn(
  app: App,
  given: { readonly code?: string; readonly operatorToken?: string },
  userAgent: string,
): Promise<Result<OpenedSession>> {
  const found = findLogin(app, given)
  if (found === null) return refuse('login_failed', describeFailedLogin(given))
  const { operator, cameFrom } = found
  const cookie = COOKIE_PREFIX + randomBytes(32).toString('base64url')
  const now = app.now()
  const session: Session = {
    id: `ses-${randomBytes(9).toString('hex')}`,
    operator: operator.name,
    cameFrom,
    verifier: sha256Hex(cookie),
    openedAt: now,
    expiresAt: now + SESSION_MS,
    userAgent: app.redact(plainLine(userAgent).slice(0, USER_AGENT_CHARS_MAX)) as string,
  }
  const { id: sessionId, openedAt: _, ...rest } = session
  const by = { now, actor: `operator:${operator.name}` }
  const refusal = await app.ledger.record({ type: 'session_opened', sessionId, ...rest }, by)
  return refusal === null ? ok({ session, operator, cookie }) : toProblem(refusal)
}

interface Login {
  readonly operator: { readonly name: string; readonly role: string | null }
  readonly cameFrom: SessionOrigin
}

function findLogin(app: App, given: { readonly code?: string; readonly operatorToken?: string }): Login | null {
  const { registry } = app.ledger
  if (given.code !== undefined) {
    const code = app.operators.codes.take(given.code)
    const operator = code === null ? undefined : findActiveOperator(registry, code.operator)
    return code === null || operator === undefined ? null : { operator, cameFrom: code.isFirst ? 'first_code' : 'code' }
  }
  const { tokens } = app
  const principal = findPrincipal(given.operatorToken ?? '', { registry, tokens, now: app.now() })
  return principal?.kind === 'operator' ? { operator: principal, cameFrom: 'token' } : null
}

function describeFailedLogin({ code }: { readonly code?: string }): string {
  return code === undefined
    ? 'The operator token is wrong or revoked.'
    : 'The code is wrong, was used already, or is older than 10 minutes.'
}

function findActiveOperator(registry: Registry, name: string) {
  const operator = registry.operators.get(name)
  return operator === undefined || operator.revokedAt !== null ? undefined : operator
}

/** The operator of a session cookie; null when the session expired, ended or never was. */
export function findSessionPrincipal(registry: Registry, cookie: string, now: number): OperatorPrincipal | null {
  if (!COOKIE.test(cookie)) return null
  // Hashes are compared, so that timing reveals nothing about the cookie.
  const verifier = sha256Hex(cookie)
  for (const session of registry.access.sessions.values()) {
    if (session.verifier !== verifier) continue
    const operator = findActiveOperator(registry, session.operator)
    if (operator === undefined || session.expiresAt <= now) return null
    return { kind: 'operator', name: operator.name, role: operator.role, session }
  }
  return null
}

/** The token that changes made with this cookie have to carry in a header, which no other web page can read. */
export function computeCsrfToken(cookie: string): string {
  return Buffer.from(sha256Hex(`csrf token of ${cookie}`), 'hex').toString('base64url')
}

/** Open sessions; an operator with the role ci sees its own only. */
export function listSessions(app: App, principal: OperatorPrincipal): JsonObject {
  const now = app.now()
  const sessions = [...app.ledger.registry.access.sessions.values()]
    .filter((session) => session.expiresAt > now && maySee(principal, session))
    .map((session) => ({
      id: session.id,
      operator: session.operator,
      came_from: session.cameFrom,
      created_at: toIsoTime(session.openedAt),
      last_used_at: toIsoTime(app.operators.sessionUses.get(session.id) ?? session.openedAt),
      expires_at: toIsoTime(session.expiresAt),
      user_agent: session.userAgent,
      current: session.id === principal.session?.id,
    }))
  return { sessions }
}

export async function endSession(
  app: App,
  principal: OperatorPrincipal,
  ending: { readonly id: string; readonly reason: 'logout' | 'revoked' },
): Promise<Result<null>> {
  const session = app.ledger.registry.access.sessions.get(ending.id)
  if (session === undefined || session.expiresAt <= app.now() || !maySee(principal, session))
    return refuse('not_found', `There is no session ${JSON.stringify(ending.id)}.`)
  const fact = { type: 'session_ended', sessionId: session.id, operator: session.operator } as const
  const by = { now: app.now(), actor: `operator:${principal.name}` }
  const refusal = await app.ledger.record({ ...fact, reason: ending.reason }, by)
  app.operators.sessionUses.delete(session.id)
  return refusal === null ? ok(null) : toProblem(refusal)
}

function maySee(principal: OperatorPrincipal, session: Session): boolean {
  return !isMachineRole(principal.role) || session.operator === principal.name
}
