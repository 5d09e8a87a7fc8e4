import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { AgentGateways, AgentSocketOptions } from '../app/agent-gateway.js'
import { formatActor, type Principal } from '../app/identity/identity.js'
import { type Problem, refuse } from '../app/result.js'
import { isConfinedReviewer } from '../app/reviews/reviews.js'
import type { GatewaySocket } from '../gateway/gateway-ports.js'
import { listenAt, makeSocketPath, openSocketDir, removeSocketDir } from '../gateway/socket-paths.js'

const CONNECTIONS_MAX = 128
const SOCKETS_MAX = 1000
const CLOSE_MS_MAX = 10_000

/**
 * The sockets of sandboxed agents. The same server answers on each of them, but only to the agent that it was opened
 * for; and that agent is answered nowhere else.
 */
export class AgentSockets implements AgentGateways {
  readonly #open = new Set<Server>()
  readonly #owners = new WeakMap<Socket, AgentSocketOptions>()
  readonly #bound = new Map<string, number>()
  #dir: string | null = null
  #lacking: unknown = null
  #handler: Handler | null = null

  constructor(private readonly stateDir: string) {}

  /** Call once, with the listening server. Removes sockets of a killed server. */
  attach(server: FastifyInstance, handler: Omit<Handler, 'answer'>): void {
    // A server that starts no agents needs no such folder, and starts without one.
    try {
      this.#dir = openSocketDir(this.stateDir)
    } catch (error) {
      this.#lacking = error
    }
    this.#handler = { ...handler, answer: (request, response) => server.routing(request, response) }
    let closing: readonly Promise<void>[] = []
    server.addHook('preClose', (done) => {
      closing = [...this.#open].map((one) => endServer(one))
      done()
    })
    server.addHook('onClose', async () => {
      await Promise.all(closing)
      if (this.#dir !== null) removeSocketDir(this.#dir)
    })
  }

  get dir(): string {
    if (this.#dir === null) throw new Error('there is no place for the sockets of agents', { cause: this.#lacking })
    return this.#dir
  }

  async open(options: AgentSocketOptions): Promise<GatewaySocket> {
    const { dir } = this
    if (this.#open.size >= SOCKETS_MAX) throw new Error(`there are ${SOCKETS_MAX} sockets of agents already`)
    const server = this.#serverFor(options)
    const path = makeSocketPath(dir)
    this.#open.add(server)
    const unbind = this.bind(options.agentId)
    try {
      await listenAt(server, path)
    } catch (error) {
      this.#open.delete(server)
      unbind()
      throw error
    }
    return {
      path,
      close: async () => {
        if (!this.#open.delete(server)) return
        await closeServer(server)
        unbind()
      },
    }
  }

  /** Ends all connections, whatever they are doing. */
  endConnections(): void {
    for (const server of this.#open) server.closeAllConnections()
  }

  bind(agentId: string): () => void {
    this.#bound.set(agentId, (this.#bound.get(agentId) ?? 0) + 1)
    let isBound = true
    return () => {
      if (!isBound) return
      isBound = false
      const left = (this.#bound.get(agentId) ?? 1) - 1
      if (left === 0) this.#bound.delete(agentId)
      else this.#bound.set(agentId, left)
    }
  }

  /** The agent whose socket a request came through; null when it came over the port. */
  findOwner(request: IncomingMessage): string | null {
    return this.#owners.get(request.socket)?.agentId ?? null
  }

  /** Why the sender of the request is not answered through this socket or port; null when it is. */
  findProblem(request: IncomingMessage, principal: Principal): Problem | null {
    const owner = this.#owners.get(request.socket)
    if (owner === undefined) return this.#problemOnPort(principal)
    if (principal.kind === 'operator')
      return refuse('not_permitted', `The socket of agent ${owner.agentId} is not for operators.`).problem
    const isOwn = principal.kind === 'agent' && principal.bearer.agentId === owner.agentId
    if (isOwn || owner.allowed?.(principal) === true) return null
    return refuse(
      'token_mismatch',
      `The token of ${formatActor(principal)} came through the socket of agent ${owner.agentId}.`,
    ).problem
  }

  #problemOnPort(principal: Principal): Problem | null {
    if (principal.kind === 'reviewer' && isConfinedReviewer(principal.bearer))
      return refuse('token_mismatch', `Reviewer ${principal.bearer.reviewer} is confined: ${OWN_SOCKET}`).problem
    if (principal.kind !== 'agent' || !this.#bound.has(principal.bearer.agentId)) return null
    const { agentId } = principal.bearer
    return refuse('token_mismatch', `Agent ${agentId} is confined: ${OWN_SOCKET}`).problem
  }

  #serverFor(options: AgentSocketOptions): Server {
    const handler = this.#handler
    if (handler === null) throw new Error('the sockets of agents have no server yet')
    const { headersMs, requestMs } = handler
    const server = createServer(
      { headersTimeout: headersMs, requestTimeout: requestMs, connectionsCheckingInterval: 5000 },
      handler.answer,
    )
    server.maxConnections = CONNECTIONS_MAX
    server.timeout = requestMs
    server.on('connection', (socket: Socket) => this.#owners.set(socket, options))
    server.on('clientError', handler.clientError)
    return server
  }
}

const OWN_SOCKET = 'its tokens count only through its own socket.'

interface Handler {
  readonly answer: (request: IncomingMessage, response: ServerResponse) => void
  readonly clientError: (error: Error, socket: Socket) => void
  readonly headersMs: number
  readonly requestMs: number
}

// Running requests are answered first.
async function endServer(server: Server): Promise<void> {
  const deadline = setTimeout(() => server.closeAllConnections(), CLOSE_MS_MAX)
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
  clearTimeout(deadline)
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
