import { createHmac } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Server as McpServer } from '@modelcontextprotocol/server'
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { requireConfirmation } from '../app/identity/confirm-act.js'
import { formatCaller, isBySession } from '../app/identity/identity.js'
import { runConfirmed } from '../app/ledger/confirmed-act.js'
import { recall } from '../app/ledger/idempotency.js'
import { keepAnswer } from '../app/ledger/keep-answer.js'
import type { Orchestrator } from '../app/orchestrator.js'
import { ok, type Result, refuse } from '../app/result.js'
import { isChecking } from '../app/transitions/long-gates.js'
import { sha256Hex } from '../base/sha256.js'
import { runInSpan } from '../base/spans.js'
import type { JsonObject } from '../core/json.js'
import type { SpawnLimits } from '../spawn/spawn-limits.js'
import type { Supervisor } from '../spawn/supervisor.js'
import { findAccessProblem, limitBody } from './access.js'
import { AgentSockets } from './agent-socket.js'
import { NODE_UNTAKEN } from './ask-node.js'
import { ClientErrors } from './client-error.js'
import { takeConfirmation } from './confirmation-field.js'
import { addDashboard, asksForPage } from './dashboard.js'
import { addExport } from './export-route.js'
import { Forwarder } from './forward.js'
import { answerProblem, Gatekeeper, type GateOptions } from './gatekeeper.js'
import { parseBody } from './json-body.js'
import { addLogin } from './login-route.js'
import { addMcp } from './mcp-route.js'
import { Metrics } from './metrics.js'
import { PathMethods } from './path-methods.js'
import { isFault, toErrorProblem } from './problem-of-error.js'
import { addProcessRoutes } from './process-routes.js'
import { readUnsentBodies } from './read-unsent.js'
import { type Call, describeCall, type Route } from './route.js'
import { METRICS_SUMMARY, ROUTES } from './routes/all.js'
import { findOrigin, formatEndedCookie, readSessionCookie } from './session-cookie.js'
import { EventStreams } from './streams/event-streams.js'
import { addStreams } from './streams/stream-routes.js'
import { startSupervision } from './supervision.js'
import { requestValidator } from './validate-request.js'

const API = '/api/v1'
const BODY_BYTES_MAX = 10 * 1024 * 1024
const HEADERS_MS_MAX = 10_000
const REQUEST_MS_MAX = 60_000
const CLOSE_MS_MAX = 10_000
const CLOSE_POLL_MS = 20

interface ServerOptions extends GateOptions {
  readonly bodyBytesMax?: number
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer }
  readonly onFault: (error: unknown) => void
  /** The proof that this is the server of its state directory; null for an invalid nonce. */
  readonly prove?: (nonce: string) => string | null
  /** Adds to each MCP server of an agent. */
  readonly extendMcp?: (server: McpServer) => void
  /** For agents that the server starts. */
  readonly spawnLimits?: Partial<SpawnLimits>
}

/**
 * The REST server. It reads requests, authenticates the caller, calls the app and formats the answer; it contains no
 * rule.
 */
export interface Entrance {
  readonly server: FastifyInstance
  /** From now on `/ready` says that the server is stopping; everything else is answered as before. */
  readonly announceStop: () => void
  /** From now on every request is answered with 503 `shutting_down`. */
  readonly drain: () => void
  /** Gateways of agents that Phaselock runs in the sandbox. */
  readonly agentSockets: AgentSockets
}

export function buildServer(app: Orchestrator, options: ServerOptions): Entrance {
  const clientErrors = new ClientErrors()
  const server = Fastify({
    logger: false,
    bodyLimit: options.bodyBytesMax ?? BODY_BYTES_MAX,
    // Tools may run for minutes without a byte on the wire: only a client that is slow to send is cut off.
    connectionTimeout: 0,
    // Requests that arrive while the server stops are answered by the gatekeeper, like every other refusal.
    return503OnClosing: false,
    requestTimeout: REQUEST_MS_MAX,
    routerOptions: { maxParamLength: 128 },
    http: { headersTimeout: HEADERS_MS_MAX, connectionsCheckingInterval: 5000 },
    ...(options.tls === undefined ? {} : { https: options.tls }),
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) =>
      answerProblem(reply, toErrorProblem(error, request, app)),
    clientErrorHandler: (error: Error, socket: Socket) => clientErrors.answer(error, socket),
  } as Parameters<typeof Fastify>[0]) as unknown as FastifyInstance
  const metrics = new Metrics(app)
  const agentSockets = new AgentSockets(app.stateDir)
  const forwarder = new Forwarder(app)
  const gate = new Gatekeeper(app, options, agentSockets, forwarder)

  const pathMethods = new PathMethods(server)

  readUnsentBodies(server)
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    forwarder.keepBody(request.raw, body as string)
    try {
      done(null, parseBody(body as string))
    } catch (error) {
      done(error as Error)
    }
  })
  server.setValidatorCompiler(() => () => true)
  server.addHook('onRequest', (request, reply, done) => {
    clientErrors.recordRequest(request.raw, reply.raw)
    reply.headers(SECURITY_HEADERS)
    // After a refused upgrade, Node no longer reports malformed data on that connection.
    if (request.headers.upgrade !== undefined) reply.header('connection', 'close')
    // The client's next request goes to a server that stays.
    if (gate.isStopping) reply.raw.shouldKeepAlive = false
    const problem = gate.findFirstProblem(request)
    if (problem?.code === 'shutting_down') reply.header(NODE_UNTAKEN, '1')
    // Without the catch, a refusal that cannot be recorded would never be answered.
    if (problem !== null) return void gate.refuse(request, reply, problem).catch((error: unknown) => reply.send(error))
    const methods = request.is404 ? pathMethods.find(request.url) : []
    if (methods.length === 0) done()
    else refuseMethod(request, reply, methods)
  })
  addRefresh(server, app)
  server.addHook('onResponse', (request, reply, done) => {
    metrics.request(request.routeOptions.url ?? 'none', reply.statusCode, reply.elapsedTime / 1000)
    done()
  })
  server.setErrorHandler(async (error: FastifyError, request, reply) => {
    const problem = toErrorProblem(error, request, app)
    if (isFault(problem)) options.onFault(error)
    return answerProblem(reply, problem)
  })
  addProcessRoutes(server, { app, gate, metrics, prove: options.prove })
  const dashboard = addDashboard(server)
  server.setNotFoundHandler(async (request, reply) => {
    if (asksForPage(request) && !gate.isConfined(request)) return dashboard.sendUnknownPage(reply)
    const detail = `There is nothing at ${request.method} ${request.url.slice(0, 200)}.`
    return answerProblem(reply, refuse('not_found', detail).problem)
  })
  const extension = options.extendMcp === undefined ? {} : { extend: options.extendMcp }
  addMcp(server, { app, gate, onFault: options.onFault, ...extension })
  const scheme = options.tls === undefined ? 'http' : 'https'
  const limits = options.spawnLimits === undefined ? {} : { limits: options.spawnLimits }
  const supervisor = startSupervision(server, { app, agentSockets, scheme, onFault: options.onFault, ...limits })
  for (const route of [...ROUTES, { ...METRICS_SUMMARY, handle: async () => ok(await metrics.buildSummary()) }])
    addRoute(server, route, { app, gate, supervisor })
  const streams = new EventStreams()
  server.addHook('preClose', (done) => {
    gate.drain()
    done()
  })
  closeWithoutWaitingForIdle(server, streams, agentSockets)
  agentSockets.attach(server, {
    clientError: (error, socket) => clientErrors.answer(error, socket),
    headersMs: HEADERS_MS_MAX,
    requestMs: REQUEST_MS_MAX,
  })
  addLogin(server, { app, gate, prefix: API })
  addExport(server, { app, gate, prefix: API })
  addStreams(server, { app, gate, streams, prefix: API, scheme })
  return { server, announceStop: () => gate.announceStop(), drain: () => gate.drain(), agentSockets }
}

// Before the body is read: it is of no interest.
function refuseMethod({ method }: FastifyRequest, reply: FastifyReply, methods: readonly string[]): void {
  const allowed = methods.join(', ')
  answerProblem(
    reply.header('allow', allowed),
    refuse('method_not_allowed', `${method} is not for this path; it takes ${allowed}.`).problem,
  )
}

// Tokens, sessions and pauses are read from memory: where other nodes change them too, memory is brought up to date
// before every call. A node that cannot do so refuses.
function addRefresh(server: FastifyInstance, { ledger: { cluster } }: Orchestrator): void {
  if (cluster === undefined) return
  server.addHook('preHandler', async ({ routeOptions: { url = '' } }) => {
    const isAboutProcess = url === `${API}/health` || url === `${API}/openapi.json`
    if (url === '/mcp' || (url.startsWith(API) && !isAboutProcess)) await cluster.refresh()
  })
}

// A connection that never sent a request keeps `close` waiting: once no request is running, all connections are ended.
function closeWithoutWaitingForIdle(server: FastifyInstance, streams: EventStreams, sockets: AgentSockets): void {
  let running = 0
  server.addHook('onRequest', (_request, reply, done) => {
    running += 1
    reply.raw.once('close', () => {
      running -= 1
    })
    done()
  })
  server.addHook('preClose', (done) => {
    streams.end()
    const deadline = Date.now() + CLOSE_MS_MAX
    const timer = setInterval(() => {
      if (running > 0 && Date.now() < deadline) return
      clearInterval(timer)
      server.server.closeAllConnections()
      sockets.endConnections()
    }, CLOSE_POLL_MS)
    done()
  })
}

const SECURITY_HEADERS = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' } as const

function addRoute(
  server: FastifyInstance,
  route: Route,
  parts: { readonly app: Orchestrator; readonly gate: Gatekeeper; readonly supervisor: Supervisor },
): void {
  const { app, gate, supervisor } = parts
  const validate = requestValidator(route)
  server.route({
    method: route.method,
    url: `${API}${route.path}`,
    config: { refusal: route.refusal },
    handler: async (request, reply) => {
      const principal = gate.identify(request, { allowsCookie: true })
      if ('code' in principal) return gate.refuse(request, reply, principal)
      if (await gate.forward(request, reply, principal)) return reply
      const forbidden = findAccessProblem(route.id, principal)
      if (forbidden !== null) return gate.refuse(request, reply, forbidden, principal)
      const confirmation = takeConfirmation(route, request)
      if (!confirmation.ok) return gate.refuse(request, reply, confirmation.problem, principal)
      const wrong = validate(request)
      if (wrong !== null) return gate.refuse(request, reply, wrong, principal)
      const limited = await limitBody(route.id, principal, { app, body: (request.body ?? {}) as JsonObject })
      if (!limited.ok) return gate.refuse(request, reply, limited.problem, principal)
      const call: Call = {
        app,
        supervisor,
        principal,
        params: request.params as Record<string, string>,
        query: request.query as Record<string, string>,
        body: limited.value,
        once: undefined,
        cookie: isBySession(principal) ? readSessionCookie(request.raw) : null,
        origin: findOrigin(request.raw),
        isConfined: gate.isConfined(request),
      }
      const { status, result } = await runInSpan(route.id, describeCall(route, call, request.headers.traceparent), () =>
        handleCall(route, call, { request, confirmation: confirmation.value }),
      )
      if (!result.ok) return gate.refuse(request, reply, result.problem, principal)
      if (route.clearsCookie === true) reply.header('set-cookie', formatEndedCookie(request.raw))
      return reply.code(status).send(result.value)
    },
  })
}

// An answer that gates are being checked is not final. Calls that give tokens store their answers themselves, without
// the token.
function mayBeKept(value: JsonObject): boolean {
  return !isChecking(value) && typeof value.phase_token !== 'string'
}

interface Asked {
  readonly request: FastifyRequest
  readonly confirmation: JsonObject | undefined
}

// A call that was made before is answered again without a confirmation: that one was used then.
async function handleCall(route: Route, call: Call, { request, confirmation }: Asked) {
  const { app } = call
  const key = request.headers['idempotency-key'] ?? call.body.idempotency_key
  const fresh = async (one: Call) => ({
    status: route.success ?? 200,
    result: await handleConfirmed(route, one, confirmation),
  })
  if (route.method === 'GET' || typeof key !== 'string') return fresh(call)
  const { phase_token: _token, idempotency_key: _key, confirmation: _confirmation, ...said } = call.body
  const bodyHash = sha256Hex(JSON.stringify([route.method, request.url, hidePassphrase(app, said)]))
  // Stored as a hash, so that the store does not reveal the client's key.
  const once = { principal: formatCaller(call.principal), key: sha256Hex(key), bodyHash }
  return app.inFlight.run(once, async () => {
    const before = await recall(app, once)
    if (before !== null && before !== 'again') return before
    const done = await fresh({ ...call, once })
    // Most calls store their answer with what they append. A refusal that was not stored may succeed the next time.
    if (before === null && done.result.ok && mayBeKept(done.result.value))
      await keepAnswer(app, once, {
        status: done.status,
        answer: route.isRepeatable === true ? { again: true } : { body: done.result.value },
      })
    return done
  })
}

// The hash of the body is stored: without a key, the passphrase could be guessed from it.
function hidePassphrase({ secrets }: Orchestrator, body: JsonObject): JsonObject {
  if (typeof body.passphrase !== 'string') return body
  const key = secrets.signing()[0] ?? ''
  return { ...body, passphrase: createHmac('sha256', key).update(body.passphrase).digest('hex') }
}

// The one place that asks for confirmations. (REQ-CONFIRM-2)
async function handleConfirmed(
  route: Route,
  call: Call,
  confirmation: JsonObject | undefined,
): Promise<Result<JsonObject>> {
  const { app, principal, params, body, origin } = call
  const act = { id: route.id, params, body }
  const confirmed = await requireConfirmation(app, principal, act, { confirmation, origin })
  if (!confirmed.ok) return confirmed
  return confirmed.value === null ? route.handle(call) : runConfirmed(confirmed.value, () => route.handle(call))
}
