import { computeCsrfToken, endSession, listSessions } from '../../app/identity/sessions.js'
import { ok, type Result, refuse } from '../../app/result.js'
import { toIsoTime } from '../../app/wire.js'
import { hasCredential, listPasskeysOf } from '../../core/identity/operator-access.js'
import type { JsonObject } from '../../core/json.js'
import { makeList, makeObject, TRUE } from '../answers/schema-parts.js'
import { LOGGED_IN, LOGIN_CODE, OWN_SESSION, REVOKED, SESSION } from '../answers/session-answers.js'
import { shape } from '../fields.js'
import { type Call, type Route, type RouteDescription, requireOperatorPrincipal } from '../route.js'

/** The server adds it itself: it needs no token. */
export const LOGIN: RouteDescription = {
  method: 'POST',
  path: '/login',
  id: 'login',
  summary: 'Log in with a one-time code or an operator token; the answer sets the session cookie',
  body: {
    ...shape({
      code: { type: 'string', minLength: 1, maxLength: 200, description: 'The code of a printed link.' },
      operator_token: { type: 'string', minLength: 1, maxLength: 8192 },
    }),
    minProperties: 1,
    maxProperties: 1,
  },
  answer: '`{operator: {name, role}, csrf_token, expires_at}`, and the cookie `phaselock_PORT`',
  response: LOGGED_IN,
}

/** Sessions of operators in the browser. */
export const SESSION_ROUTES: readonly Route[] = [
  {
    method: 'POST',
    path: '/login/codes',
    id: 'createLoginCode',
    summary: 'A one-time code for the login page, valid for 10 minutes; only with an operator token',
    success: 201,
    body: shape({}),
    answer: '`{code, expires_at, url}`',
    response: LOGIN_CODE,
    // A stored answer would hold the code.
    isRepeatable: true,
    handle: async (call) => {
      const principal = requireOperatorPrincipal(call)
      if (principal.session !== undefined)
        return refuse('not_permitted', 'A session cannot make a login code.', {
          remedy: 'Run `phaselock login`, or call this with the operator token.',
        })
      const { code, expiresAt } = call.app.operators.codes.make(principal.name)
      return ok({ code, expires_at: toIsoTime(expiresAt), url: formatLoginUrl(call.origin, code) })
    },
  },
  {
    method: 'GET',
    path: '/session',
    id: 'getSession',
    summary: 'The session of the cookie',
    answer:
      '`{session_id, operator, csrf_token, expires_at, came_from, confirm, passkeys, has_passphrase, may_register_passkey}`',
    response: OWN_SESSION,
    handle: async (call) => showSession(call),
  },
  {
    method: 'POST',
    path: '/logout',
    id: 'logout',
    summary: 'End the session of the cookie',
    body: shape({}),
    answer: '`{logged_out: true}`, and the cookie is cleared',
    response: makeObject({ logged_out: TRUE }),
    isRepeatable: true,
    clearsCookie: true,
    handle: async (call) => {
      const principal = requireOperatorPrincipal(call)
      if (principal.session === undefined) return refuseWithoutSession()
      const ended = await endSession(call.app, principal, { id: principal.session.id, reason: 'logout' })
      return ended.ok ? ok({ logged_out: true }) : ended
    },
  },
  {
    method: 'GET',
    path: '/sessions',
    id: 'listSessions',
    summary: 'Open sessions; an operator with the role ci sees its own',
    answer: '`{sessions}`',
    response: makeObject({ sessions: makeList(SESSION) }),
    handle: async (call) => ok(listSessions(call.app, requireOperatorPrincipal(call))),
  },
  {
    method: 'POST',
    path: '/sessions/:id/revoke',
    id: 'revokeSession',
    summary: 'End a session immediately',
    body: shape({}),
    answer: '`{id, revoked: true}`',
    response: REVOKED,
    handle: async (call) => {
      const id = call.params.id ?? ''
      const ended = await endSession(call.app, requireOperatorPrincipal(call), { id, reason: 'revoked' })
      return ended.ok ? ok({ id, revoked: true }) : ended
    },
  },
]

function showSession(call: Call): Result<JsonObject> {
  const { app, cookie } = call
  const { name, role, session } = requireOperatorPrincipal(call)
  if (session === undefined || cookie === null) return refuseWithoutSession()
  const { access } = app.ledger.registry
  return ok({
    session_id: session.id,
    operator: { name, role },
    csrf_token: computeCsrfToken(cookie),
    expires_at: toIsoTime(session.expiresAt),
    came_from: session.cameFrom,
    confirm: app.operators.confirm,
    passkeys: listPasskeysOf(access, name).length,
    has_passphrase: access.passphrases.has(name),
    may_register_passkey: session.cameFrom === 'first_code' || hasCredential(access, name),
  })
}

function refuseWithoutSession() {
  return refuse('token_missing', 'The request carries no session cookie.', { remedy: 'Log in with POST /login.' })
}

// WebAuthn refuses addresses, and the cookie of one name is not sent to another: links say `localhost`.
function formatLoginUrl(origin: string, code: string): string {
  const url = new URL(origin)
  if (url.hostname === '127.0.0.1' || url.hostname === '[::1]') url.hostname = 'localhost'
  return `${url.origin}/login#code=${code}`
}
