import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { admitCall } from '../app/agent-call.js'
import type { StoredEvent } from '../app/feed.js'
import type { Principal } from '../app/identity.js'
import type { Orchestrator } from '../app/orchestrator.js'
import { ok, type Result } from '../app/result.js'
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

/** What a caller may see of the events, and when its right to see them ends. */
export interface Scope {
  readonly isVisible: (event: StoredEvent) => boolean
  readonly endsWith: (event: StoredEvent) => boolean
}

/** An operator sees everything; an agent whose token is admitted sees its own task. A stream ends with the token it was opened with. */
export async function streamScope(app: Orchestrator, principal: Principal): Promise<Result<Scope>> {
  if (principal.kind === 'operator')
    return ok({
      isVisible: () => true,
      endsWith: (event) => event.type === 'operator_revoked' && event.data.name === principal.name,
    })
  const { bearer } = principal
  const admitted = await admitCall(app, bearer, undefined)
  if (!admitted.ok) return admitted
  const own = `task:${admitted.value.state.id}`
  const isReplaced = (event: StoredEvent): boolean =>
    (event.type === 'agent_revoked' || event.type === 'agent_registered') && event.data.agent_id === bearer.agentId
  return ok({
    isVisible: (event) => event.stream === own,
    endsWith: (event) =>
      isReplaced(event) || (bearer.kind === 'phase' && event.stream === own && event.epoch > bearer.epoch),
  })
}

/** Server-sent events: what was missed since `Last-Event-ID`, then what happens. */
export async function streamEvents(
  to: { readonly app: Orchestrator; readonly streams: EventStreams; readonly scope: Scope },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { app, scope } = to
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
  const opened = await app.ledger.store.lastSeq()
  let last = since ?? opened
  let closed = false
  const send = (event: StoredEvent): void => {
    if (event.seq <= last || closed) return
    last = event.seq
    if (scope.endsWith(event) && event.seq > opened) {
      if (scope.isVisible(event)) raw.write(frame(event))
      raw.end()
      return
    }
    if (!scope.isVisible(event)) return
    // A client that does not read is cut off; it can resume where it was.
    if (raw.writableLength > PENDING_BYTES_MAX) raw.destroy()
    else raw.write(frame(event))
  }
  const waiting: StoredEvent[] = []
  let isLive = false
  const unsubscribe = app.feed.subscribe((event) => (isLive ? send(event) : waiting.push(event)))
  const keepAlive = setInterval(() => raw.write(': \n\n'), KEEP_ALIVE_MS)
  const stop = (): void => {
    closed = true
    clearInterval(keepAlive)
    unsubscribe()
  }
  raw.on('close', stop)
  if (raw.destroyed) stop()
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

function frame(event: StoredEvent): string {
  return `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(eventView(event))}\n\n`
}
