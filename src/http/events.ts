import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { StoredEvent } from '../app/feed.js'
import type { Principal } from '../app/identity.js'
import type { Orchestrator } from '../app/orchestrator.js'
import { eventView } from '../app/wire.js'

const CATCH_UP_PAGE = 500
const PENDING_BYTES_MAX = 4 * 1024 * 1024
const KEEP_ALIVE_MS = 15_000

/** The open streams of a server, so that it can end them when it stops. */
export class EventStreams {
  readonly #open = new Set<ServerResponse>()

  add(response: ServerResponse): void {
    this.#open.add(response)
    response.on('close', () => this.#open.delete(response))
  }

  end(): void {
    // The connection goes with the stream: kept alive, it would hold the server back from closing.
    for (const response of this.#open) response.end(() => response.socket?.destroy())
  }
}

/** Server-sent events: what was missed since `Last-Event-ID`, then what happens. An agent sees its own task only. */
export async function streamEvents(
  to: { readonly app: Orchestrator; readonly streams: EventStreams; readonly principal: Principal },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { app, principal } = to
  const own = principal.kind === 'agent' ? await ownStream(app, principal) : null
  const isVisible = (event: StoredEvent): boolean => own === null || event.stream === own
  const since = startOf(request)
  reply.hijack()
  const { raw } = reply
  to.streams.add(raw)
  raw.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  raw.write(': phaselock\n\n')
  let last = since ?? (await app.ledger.store.lastSeq())
  let closed = false
  const send = (event: StoredEvent): void => {
    if (event.seq <= last || closed) return
    last = event.seq
    if (!isVisible(event)) return
    // A client that does not read is cut off; it can resume where it was.
    if (raw.writableLength > PENDING_BYTES_MAX) raw.destroy()
    else raw.write(`id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(eventView(event))}\n\n`)
  }
  const waiting: StoredEvent[] = []
  let isLive = false
  const unsubscribe = app.feed.subscribe((event) => (isLive ? send(event) : waiting.push(event)))
  const keepAlive = setInterval(() => raw.write(': \n\n'), KEEP_ALIVE_MS)
  raw.on('close', () => {
    closed = true
    clearInterval(keepAlive)
    unsubscribe()
  })
  await catchUp(app, { after: () => last, send, isClosed: () => closed })
  for (const event of waiting.sort((a, b) => a.seq - b.seq)) send(event)
  isLive = true
}

async function catchUp(
  app: Orchestrator,
  to: { readonly after: () => number; readonly send: (event: StoredEvent) => void; readonly isClosed: () => boolean },
): Promise<void> {
  for (;;) {
    const page = await app.ledger.store.readAll(to.after(), CATCH_UP_PAGE)
    for (const event of page) to.send(event)
    if (page.length < CATCH_UP_PAGE || to.isClosed()) return
  }
}

function startOf(request: FastifyRequest): number | null {
  const header = request.headers['last-event-id']
  const text = typeof header === 'string' ? header : undefined
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null
}

async function ownStream(app: Orchestrator, principal: Principal & { kind: 'agent' }): Promise<string> {
  const { bearer } = principal
  const id = bearer.kind === 'phase' ? bearer.taskId : ((await app.ledger.store.heldBy(bearer.agentId))?.id ?? '')
  return `task:${id}`
}
