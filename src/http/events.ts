import type { FastifyReply, FastifyRequest } from 'fastify'
import type { StoredEvent } from '../app/feed.js'
import type { Principal } from '../app/identity.js'
import type { Orchestrator } from '../app/orchestrator.js'
import { eventView } from '../app/wire.js'

const CATCH_UP_PAGE = 500
const PENDING_BYTES_MAX = 4 * 1024 * 1024
const KEEP_ALIVE_MS = 15_000

/** Server-sent events: what was missed since `Last-Event-ID`, then what happens. An agent sees its own task only. */
export async function streamEvents(
  app: Orchestrator,
  request: FastifyRequest,
  reply: FastifyReply,
  principal: Principal,
): Promise<void> {
  const own = principal.kind === 'agent' ? await ownStream(app, principal) : null
  const isVisible = (event: StoredEvent): boolean => own === null || event.stream === own
  const since = startOf(request)
  reply.hijack()
  const { raw } = reply
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
