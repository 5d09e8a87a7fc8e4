import type { FastifyInstance } from 'fastify'
import { computeCsrfToken, logIn } from '../app/identity/sessions.js'
import type { Orchestrator } from '../app/orchestrator.js'
import { toIsoTime } from '../app/wire.js'
import type { Gatekeeper } from './gatekeeper.js'
import { LOGIN } from './routes/sessions.js'
import { formatSessionCookie } from './session-cookie.js'
import { requestValidator } from './validate-request.js'

/** `POST /login`: the only call of the API without a token. It is limited like every request without a principal. */
export function addLogin(
  server: FastifyInstance,
  parts: { readonly app: Orchestrator; readonly gate: Gatekeeper; readonly prefix: string },
): void {
  const { app, gate, prefix } = parts
  const validate = requestValidator(LOGIN)
  server.post(`${prefix}${LOGIN.path}`, async (request, reply) => {
    const limited = gate.findStrangerLimit(request)
    if (limited !== null) return gate.refuse(request, reply, limited)
    const wrong = validate(request)
    if (wrong !== null) return gate.refuse(request, reply, wrong)
    const body = request.body as { readonly code?: string; readonly operator_token?: string }
    const given = body.code === undefined ? { operatorToken: body.operator_token ?? '' } : { code: body.code }
    const opened = await logIn(app, given, request.headers['user-agent'] ?? '')
    if (!opened.ok) return gate.refuse(request, reply, opened.problem)
    const { session, operator, cookie } = opened.value
    return reply.header('set-cookie', formatSessionCookie(request.raw, cookie)).send({
      operator: { name: operator.name, role: operator.role },
      csrf_token: computeCsrfToken(cookie),
      expires_at: toIsoTime(session.expiresAt),
    })
  })
}
