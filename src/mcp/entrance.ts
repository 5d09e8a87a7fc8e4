import { setTimeout as sleep } from 'node:timers/promises'
import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  type McpHttpHandler,
  type Server,
  type ServerEvent,
} from '@modelcontextprotocol/server'
import { admitCall } from '../app/identity/agent-call.js'
import { type Problem, refuse } from '../app/result.js'
import type { ReviewBearer } from '../core/identity/admit.js'
import { formatOwner, isAgent, type McpBearer, toAuthInfo } from './caller.js'
import { Changes } from './changes.js'
import { RESOURCES } from './resources.js'
import { makeServer, type ServerParts } from './server.js'
import { Sessions } from './sessions.js'

const BATCH_MAX = 32
const FINISH_POLL_MS = 20

/** A request whose Host, size and caller have been checked. */
export interface Exchange {
  /** The request without its body. Its signal fires when the connection ends or no longer needs an answer. */
  readonly request: Request
  readonly body: unknown
  readonly bearer: McpBearer
}

/**
 * MCP over HTTP. Requests of the revision 2026-07-28 are independent; clients of the 2025 revisions get a session,
 * without which they could not be notified of changes.
 */
export class McpEntrance {
  readonly #changes: Changes
  readonly #sessions: Sessions
  #calls = 0

  constructor(private readonly parts: ServerParts) {
    this.#changes = new Changes(parts.app, parts.onFault)
    this.#sessions = new Sessions(parts, this.#changes)
  }

  async answer(exchange: Exchange): Promise<Response | Problem> {
    const { request, body, bearer } = exchange
    if (request.method === 'POST' && findMethod(body) !== 'subscriptions/listen') this.#callUntil(request.signal)
    if (Array.isArray(body) && body.length > BATCH_MAX) return makeRpcError(400, BATCH_TOO_LONG)
    const refused = bearer.kind === 'review' ? await this.#refusedToReviewer(exchange, bearer) : null
    if (refused !== null) return refused
    return (await isLegacyRequest(request, body)) ? this.#inSession(exchange) : this.#alone(exchange)
  }

  /** Ends the clients' streams once running calls are answered: a session takes its answers with it. */
  async finish(msMax: number): Promise<void> {
    const deadline = Date.now() + msMax
    while (this.#calls > 0 && Date.now() < deadline) await sleep(FINISH_POLL_MS)
    this.#sessions.close()
    this.#changes.close()
  }

  #callUntil(gone: AbortSignal): void {
    if (gone.aborted) return
    this.#calls += 1
    gone.addEventListener('abort', () => {
      this.#calls -= 1
    })
  }

  // Nothing that a reviewer sees changes, so it has nothing to listen to; and an invalid token opens no session.
  async #refusedToReviewer({ request, body }: Exchange, bearer: ReviewBearer): Promise<Response | Problem | null> {
    if (request.method === 'GET') return makeRpcError(405, NO_STREAM)
    if (findMethod(body) === 'subscriptions/listen') return makeRpcError(404, NO_STREAM)
    if (!isInitializeRequest(body)) return null
    const admitted = await admitCall(this.parts.app, bearer, undefined)
    return admitted.ok ? null : admitted.problem
  }

  async #inSession({ request, body, bearer }: Exchange): Promise<Response | Problem> {
    const options = { ...(body === undefined ? {} : { parsedBody: body }), authInfo: toAuthInfo(bearer) }
    const id = request.headers.get('mcp-session-id')
    if (id !== null) {
      const known = this.#sessions.find(id, bearer)
      if (known === null) return makeRpcError(404, NO_SESSION)
      const response = await known.transport.handleRequest(request, options)
      if (request.method === 'GET' && response.ok) known.listenUntil(request.signal)
      return response
    }
    if (request.method !== 'POST' || !isInitializeRequest(body)) return makeRpcError(400, SESSION_NEEDED)
    const session = await this.#sessions.open(bearer)
    if (session === null) return refuseTooMany()
    const response = await session.transport.handleRequest(request, options)
    if (!response.ok) session.close()
    return response
  }

  async #alone({ request, body, bearer }: Exchange): Promise<Response | Problem> {
    const agentId = formatOwner(bearer)
    const method = findMethod(body)
    if (method === 'subscriptions/listen' && !this.#changes.hasRoom(agentId)) return refuseTooMany()
    const handler: McpHttpHandler = createMcpHandler(() => this.#makeServer(bearer), {
      legacy: 'reject',
      // A stream is kept alive while a tool runs; a plain answer would look dead to proxies and timeouts.
      responseMode: method === 'tools/call' ? 'sse' : 'auto',
      bus: {
        publish: () => undefined,
        subscribe: (listener) =>
          this.#changes.add({
            agentId,
            changed: () => CHANGED.forEach(listener),
            end: () => void handler.close().catch(this.parts.onFault),
          }),
      },
    })
    return handler.fetch(request, {
      ...(body === undefined ? {} : { parsedBody: body }),
      authInfo: toAuthInfo(bearer),
    })
  }

  #makeServer(bearer: McpBearer): Server {
    const server = makeServer(this.parts, bearer)
    if (isAgent(bearer)) this.parts.extend?.(server)
    return server
  }
}

const CHANGED: readonly ServerEvent[] = [
  { kind: 'tools_list_changed' },
  { kind: 'prompts_list_changed' },
  ...RESOURCES.map(({ uri }) => ({ kind: 'resource_updated' as const, uri })),
]

function findMethod(body: unknown): string | null {
  const method = typeof body === 'object' && body !== null && 'method' in body ? body.method : null
  return typeof method === 'string' ? method : null
}

const BATCH_TOO_LONG = { code: -32600, message: `Invalid Request: at most ${BATCH_MAX} messages in one batch` }
const NO_SESSION = { code: -32001, message: 'Session not found' }
const NO_STREAM = { code: -32601, message: 'Method not found: reviewers get no notifications' }
const SESSION_NEEDED = { code: -32000, message: 'Bad Request: begin with initialize, then send Mcp-Session-Id' }

function makeRpcError(status: number, error: { readonly code: number; readonly message: string }): Response {
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status })
}

function refuseTooMany(): Problem {
  return refuse('rate_limited', 'Too many MCP connections are open; close one first.', { retry_after: 5 }).problem
}
