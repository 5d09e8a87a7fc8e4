import type { FastifyReply, FastifyRequest } from 'fastify'
import { findPrincipal, formatActor, formatCaller, type Principal } from '../app/identity/identity.js'
import { findSessionPrincipal } from '../app/identity/sessions.js'
import type { Orchestrator } from '../app/orchestrator.js'
import { type Problem, refuse } from '../app/result.js'
import { DOOR_HOSTS } from '../gateway/gateway-ports.js'
import type { AgentSockets } from './agent-socket.js'
import { findHostProblem } from './allowed-hosts.js'
import { DASHBOARD_ROUTES } from './dashboard.js'
import type { Forwarder } from './forward.js'
import { buildProblemDocument, getStatus } from './problem.js'
import { RateLimit } from './rate-limit.js'
import type { Route } from './route.js'
import { findForgeryProblem, readSessionCookie } from './session-cookie.js'

const STRANGERS_PER_SECOND = 20
const AGENT_PER_SECOND = 500

export interface GateOptions {
  readonly agentPerSecond?: number
  /** Names and addresses that the server accepts; known once it listens. */
  readonly hosts: () => ReadonlySet<string>
}

/** Runs before every route: authentication, origin and rate limits. */
export class Gatekeeper {
  readonly #strangers: RateLimit
  readonly #agents: RateLimit
  /** An authenticated caller that used the wrong socket or port. */
  readonly #senders = new WeakMap<FastifyRequest, string>()
  #isStopping = false
  #isDraining = false

  constructor(
    private readonly app: Orchestrator,
    private readonly options: GateOptions,
    private readonly sockets: AgentSockets,
    private readonly forwarder: Forwarder,
  ) {
    this.#strangers = new RateLimit(STRANGERS_PER_SECOND, app.now)
    this.#agents = new RateLimit(options.agentPerSecond ?? AGENT_PER_SECOND, app.now)
  }

  /** True from the moment the server was told to stop. It goes on answering until it drains. */
  get isStopping(): boolean {
    return this.#isStopping
  }

  announceStop(): void {
    this.#isStopping = true
  }

  drain(): void {
    this.#isStopping = true
    this.#isDraining = true
  }

  /** Refusals that do not depend on the sender. */
  findFirstProblem(request: FastifyRequest): Problem | null {
    const owner = this.sockets.findOwner(request.raw)
    const arrival = this.forwarder.findArrival(request.raw)
    if (typeof arrival !== 'boolean') return arrival
    if (arrival && owner !== null) return refuse('not_permitted', 'No node uses the socket of an agent.').problem
    // The node that got it first has checked the Host, which names that node.
    const host = arrival ? null : findHostProblem(request.raw, owner === null ? this.options.hosts() : DOOR_HOSTS)
    if (host !== null) return refuse('host_not_allowed', host).problem
    if (owner !== null && FOR_OPERATORS.has(request.routeOptions.url ?? ''))
      return refuse('not_permitted', `The socket of agent ${owner} does not serve this path.`).problem
    return this.#isDraining ? refuse('shutting_down', 'The server is stopping.').problem : null
  }

  /** The principal of the request, or why there is none. */
  identify(request: FastifyRequest, how: { readonly allowsCookie?: true } = {}): Principal | Problem {
    const token = readToken(request)
    const cookie = token === null && how.allowsCookie === true ? this.#readCookie(request) : null
    if (cookie !== null) return this.#identifySession(request, cookie)
    if (token === null) return this.#stranger(request, refuse('token_missing', 'The request carries no token.').problem)
    const principal = findPrincipal(token, {
      registry: this.app.ledger.registry,
      tokens: this.app.tokens,
      now: this.app.now(),
    })
    if (principal === null) return this.#stranger(request, refuse('token_invalid', explainInvalidToken(token)).problem)
    const elsewhere = this.sockets.findProblem(request.raw, principal)
    if (elsewhere !== null) {
      this.#senders.set(request, formatActor(principal))
      return elsewhere
    }
    if (principal.kind === 'operator') return principal
    const wait = this.#agents.take(formatCaller(principal))
    return wait === 0 ? principal : refuseLimited(wait)
  }

  /** Answers from another node, if the request is about something there. False: it is for this one. */
  async forward(request: FastifyRequest, reply: FastifyReply, principal: Principal): Promise<boolean> {
    const forwarded = await this.forwarder.forward(request, reply, principal)
    if (typeof forwarded === 'boolean') return forwarded
    answerProblem(reply, forwarded)
    return true
  }

  /** Whether the request came through the socket of a sandboxed agent. */
  isConfined(request: FastifyRequest): boolean {
    return this.sockets.findOwner(request.raw) !== null
  }

  /** Why a request without a principal has to wait; null when it does not. */
  findStrangerLimit(request: FastifyRequest): Problem | null {
    const wait = this.#strangers.take(this.sockets.findOwner(request.raw) ?? request.ip)
    return wait === 0 ? null : refuseLimited(wait)
  }

  /** Formats a refusal, and records it if no event of a task does. */
  async refuse(
    request: FastifyRequest,
    reply: FastifyReply,
    problem: Problem,
    principal?: Principal,
  ): Promise<FastifyReply> {
    // An operator's mistakes are not recorded; calls without permission or confirmation are.
    if (principal?.kind !== 'operator' || RECORDED_OF_OPERATORS.has(problem.code)) {
      const at = { method: request.method, path: request.url.split('?')[0] ?? '' }
      await this.record(problem, at, this.#actorOf(request, principal))
    }
    return answerProblem(reply, problem)
  }

  /** Records a refusal that no event of a task records. */
  async record(problem: Problem, at: { readonly method: string; readonly path: string }, actor: string): Promise<void> {
    if (problem.recorded || UNRECORDED.has(problem.code)) return
    await this.app.refusals.record({ code: problem.code, detail: problem.detail, ...at, actor })
  }

  // Everything that comes through the socket of an agent is attributed to that agent, whatever token it carries.
  #actorOf(request: FastifyRequest, principal: Principal | undefined): string {
    if (principal !== undefined) return formatActor(principal)
    const owner = this.sockets.findOwner(request.raw)
    return owner === null ? (this.#senders.get(request) ?? 'stranger') : `agent:${owner}`
  }

  #stranger(request: FastifyRequest, problem: Problem): Problem {
    return this.findStrangerLimit(request) ?? problem
  }

  // Browsers never use the sockets of agents.
  #readCookie(request: FastifyRequest): string | null {
    return this.isConfined(request) ? null : readSessionCookie(request.raw)
  }

  #identifySession(request: FastifyRequest, cookie: string): Principal | Problem {
    const now = this.app.now()
    const principal = findSessionPrincipal(this.app.ledger.registry, cookie, now)
    if (principal?.session === undefined)
      return this.#stranger(request, refuse('session_ended', 'The session expired, was revoked or was ended.').problem)
    const forged = findForgeryProblem(request.raw, cookie)
    if (forged !== null) {
      this.#senders.set(request, formatActor(principal))
      return forged
    }
    this.app.operators.sessionUses.set(principal.session.id, now)
    return principal
  }
}

// The dashboard is for people. Without a token, the metrics would reveal how the whole server is used.
const FOR_OPERATORS: ReadonlySet<string> = new Set([...DASHBOARD_ROUTES, '/metrics', '/api/v1/login'])

const RECORDED_OF_OPERATORS: ReadonlySet<string> = new Set([
  'not_permitted',
  'confirmation_required',
  'confirmation_invalid',
])

// Polling for work, waiting and a broken store are not refusals that should fill the ledger.
const UNRECORDED: ReadonlySet<string> = new Set([
  'no_task_available',
  'rate_limited',
  'store_unavailable',
  'state_unreadable',
  'wrong_node',
  'shutting_down',
  'internal_error',
  'not_found',
  'agents_paused',
  'no_active_task',
])

function refuseLimited(wait: number): Problem {
  return refuse('rate_limited', `Too many requests; wait ${wait} s.`, { retry_after: wait }).problem
}

function readToken(request: FastifyRequest): string | null {
  const { authorization } = request.headers
  if (authorization !== undefined) return /^Bearer ([^\s]+)$/.exec(authorization)?.[1] ?? ''
  const body = request.body as { phase_token?: unknown } | null | undefined
  return typeof body?.phase_token === 'string' ? body.phase_token : null
}

function explainInvalidToken(token: string): string {
  return token.startsWith('plop_') ? 'Invalid or revoked operator token' : 'Invalid or expired phase token'
}

/** Answers with an RFC 9457 problem document, unless the route has its own format. */
export function answerProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  const { request } = reply
  const own = (request?.routeOptions?.config as Pick<Route, 'refusal'> | undefined)?.refusal?.(problem, request.body)
  if (own !== undefined && own !== null) return reply.code(200).type('application/json').send(JSON.stringify(own))
  const status = getStatus(problem.code)
  const wait = problem.extra.retry_after
  if (typeof wait === 'number') reply.header('retry-after', String(wait))
  return reply
    .code(status)
    .type('application/problem+json')
    .send(JSON.stringify(buildProblemDocument(problem)))
}
