import { randomUUID } from 'node:crypto'
import { type Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import type { App } from '../app/app.js'
import { formatOwner, isAgent, type McpBearer } from './caller.js'
import type { Changes } from './changes.js'
import { addSubscriptions, makeServer, type ServerParts } from './server.js'

const IDLE_MS_MAX = 30 * 60_000
const SWEEP_MS = 60_000
const SESSIONS_MAX = 500
const SESSIONS_PER_AGENT_MAX = 8

/**
 * One client of a 2025 revision: from its `initialize` until it disconnects, is idle too long or its token is replaced.
 */
interface Session {
  readonly agentId: string
  readonly transport: WebStandardStreamableHTTPServerTransport
  /** While a client listens, the session is in use: an agent may wait long for a human. */
  readonly listenUntil: (gone: AbortSignal) => void
  readonly close: () => void
}

interface KeptSession extends Session {
  seenAt: number
  listening: number
}

/** The sessions of all clients. A session belongs to its agent: with another token it does not exist. */
export class Sessions {
  readonly #kept = new Map<string, KeptSession>()
  readonly #sweep: NodeJS.Timeout

  constructor(
    private readonly parts: ServerParts,
    private readonly changes: Changes,
  ) {
    this.#sweep = setInterval(() => this.#dropIdle(), SWEEP_MS)
    this.#sweep.unref()
  }

  get size(): number {
    return this.#kept.size
  }

  find(id: string, bearer: McpBearer): Session | null {
    this.#dropIdle()
    const session = this.#kept.get(id)
    if (session === undefined || session.agentId !== formatOwner(bearer)) return null
    session.seenAt = this.#app.now()
    return session
  }

  /** A new session, or null when there is no room. The agent's own oldest one is dropped for it. */
  async open(bearer: McpBearer): Promise<Session | null> {
    this.#dropIdle()
    const agentId = formatOwner(bearer)
    const own = [...this.#kept.values()].filter((one) => one.agentId === agentId).sort((a, b) => a.seenAt - b.seenAt)
    if (own.length >= SESSIONS_PER_AGENT_MAX) own[0]?.close()
    if (this.#kept.size >= SESSIONS_MAX || !this.changes.hasRoom(agentId)) return null
    const id = randomUUID()
    const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => id })
    const server = makeServer(this.parts, bearer)
    const subscribed = isAgent(bearer) ? addSubscriptions(server) : new Set<string>()
    if (isAgent(bearer)) this.parts.extend?.(server)
    const close = (): void => void server.close().catch(this.parts.onFault)
    const forget = this.changes.add({
      agentId,
      changed: () => void tell(server, subscribed).catch(this.parts.onFault),
      end: close,
    })
    const session: KeptSession = {
      ...{ agentId, transport, close, seenAt: this.#app.now(), listening: 0 },
      listenUntil: (gone) => {
        session.listening += 1
        gone.addEventListener('abort', () => {
          session.listening -= 1
          session.seenAt = this.#app.now()
        })
      },
    }
    server.onclose = () => {
      forget()
      this.#kept.delete(id)
    }
    this.#kept.set(id, session)
    await server.connect(transport)
    return session
  }

  close(): void {
    clearInterval(this.#sweep)
    for (const session of [...this.#kept.values()]) session.close()
  }

  get #app(): App {
    return this.parts.app
  }

  // A map keeps the order of insertion, not of use: all are looked at, and there are few.
  #dropIdle(): void {
    const since = this.#app.now() - IDLE_MS_MAX
    for (const session of [...this.#kept.values()])
      if (session.listening === 0 && session.seenAt < since) session.close()
  }
}

async function tell(server: Server, subscribed: ReadonlySet<string>): Promise<void> {
  await server.sendToolListChanged()
  await server.sendPromptListChanged()
  for (const uri of subscribed) await server.sendResourceUpdated({ uri })
}
