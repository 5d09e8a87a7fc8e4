import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { admitCall } from '../../app/identity/agent-call.js'
import type { OperatorPrincipal, Principal } from '../../app/identity/identity.js'
import type { StoredEvent } from '../../app/ledger/feed.js'
import type { Orchestrator } from '../../app/orchestrator.js'
import { ok, type Result, refuse } from '../../app/result.js'
import { FrameWriter, formatFrame } from './frame-writer.js'

const CATCH_UP_PAGE = 200
const PENDING_BYTES_MAX = 4 * 1024 * 1024
const WAITING_MAX = 10_000
const KEEP_ALIVE_MS = 15_000
const STREAMS_PER_CALLER_MAX = 16
// An operator has a stream for each browser, and several people may share a name.
const STREAMS_PER_OPERATOR_MAX = 500

/** The open streams of a server: bounded for each caller, and ended when the server stops. */
export class EventStreams {
  readonly #open = new Map<ServerResponse, string>()
  readonly frames = new FrameWriter(() => this.#open.size)

  hasRoom(caller: string): boolean {
    let count = 0
    for (const owner of this.#open.values()) if (owner === caller) count += 1
    return count < (caller.startsWith('operator:') ? STREAMS_PER_OPERATOR_MAX : STREAMS_PER_CALLER_MAX)
  }

  add(response: ServerResponse, caller: string): void {
    this.#open.set(response, caller)
    response.on('close', () => {
      this.#open.delete(response)
      this.frames.flush(response)
    })
  }

  end(): void {
    this.frames.flushAll()
    // The connection ends with the stream: kept alive, it would keep the server from closing.
    for (const response of this.#open.keys()) response.end(() => response.socket?.destroy())
  }
}

/** Which events a caller may see, and when its permission ends. */
export interface Scope {
  /** The one stream that an agent sees; null: all. */
  readonly stream: string | null
  readonly endsWith: (event: StoredEvent) => boolean
}

// After these the agent no longer holds the task, or holds it by another claim than when the stream was opened.
const ENDS_HOLD: ReadonlySet<string> = new Set([
  'lease_lapsed',
  'agent_dropped',
  'task_released',
  'task_reassigned',
  'task_cancelled',
  'task_completed',
])

/** An operator sees everything; an agent with a valid token sees its own task while it holds it. */
export async function streamScope(app: Orchestrator, principal: Principal): Promise<Result<Scope>> {
  if (principal.kind === 'operator') return ok({ stream: null, endsWith: (event) => endsAccess(app, principal, event) })
  if (principal.kind !== 'agent') return refuse('not_permitted', `A ${principal.kind} cannot follow events.`)
  const { bearer } = principal
  const admitted = await admitCall(app, bearer, undefined, { isOnlyLooking: true })
  if (!admitted.ok) return admitted
  const stream = `task:${admitted.value.state.id}`
  const isReplaced = (event: StoredEvent): boolean =>
    (event.type === 'agent_revoked' || event.type === 'agent_registered') && event.data.agent_id === bearer.agentId
  const isLost = (event: StoredEvent): boolean =>
    ENDS_HOLD.has(event.type) || (event.type === 'task_claimed' && event.data.agent_id !== bearer.agentId)
  const isSuperseded = (event: StoredEvent): boolean => bearer.kind === 'phase' && event.epoch > bearer.epoch
  return ok({
    stream,
    endsWith: (event) => isReplaced(event) || (event.stream === stream && (isLost(event) || isSuperseded(event))),
  })
}

// A session ends by logout, by revocation, with its operator, and when the operator opens too many.
const ENDS_SESSIONS: ReadonlySet<string> = new Set(['session_ended', 'session_opened', 'operator_revoked'])

function endsAccess(app: Orchestrator, { name, session }: OperatorPrincipal, event: StoredEvent): boolean {
  if (session === undefined) return event.type === 'operator_revoked' && event.data.name === name
  return ENDS_SESSIONS.has(event.type) && !app.ledger.registry.access.sessions.has(session.id)
}

interface Target {
  readonly app: Orchestrator
  readonly streams: EventStreams
  readonly scope: Scope
  readonly caller: string
}

/** Starts a stream: from here on the answer is written as it arrives. */
export function beginStream(
  reply: FastifyReply,
  to: { readonly streams: EventStreams; readonly caller: string },
): ServerResponse {
  reply.hijack()
  const { raw } = reply
  to.streams.add(raw, to.caller)
  raw.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  raw.write(': phaselock\n\n')
  return raw
}

/** Server-sent events: those missed since `Last-Event-ID`, then new ones. */
export async function streamEvents(to: Target, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { app, scope } = to
  const since = startOf(request)
  const raw = beginStream(reply, to)
  const opened = await app.ledger.store.lastSeq()
  let last = since ?? opened
  let isLive = false
  const send = (event: StoredEvent): void => {
    if (event.seq <= last || raw.destroyed || raw.writableEnded) return
    last = event.seq
    // What was missed is written as fast as it is read, and no faster.
    if (scope.stream === null && isLive) to.streams.frames.write(raw, event)
    else if (scope.stream === null || event.stream === scope.stream) raw.write(formatFrame(event))
    if (event.seq <= opened || !scope.endsWith(event)) return
    to.streams.frames.flush(raw)
    raw.end()
  }
  const waiting: StoredEvent[] = []
  const unsubscribe = app.feed.follow((event) => {
    // A client that does not read is disconnected; it can resume.
    const isTooSlow = isLive ? raw.writableLength > PENDING_BYTES_MAX : waiting.length > WAITING_MAX
    if (isTooSlow) raw.destroy()
    else if (isLive) send(event)
    else waiting.push(event)
  })
  const keepAlive = setInterval(() => raw.write(': \n\n'), KEEP_ALIVE_MS)
  const stop = (): void => {
    clearInterval(keepAlive)
    unsubscribe()
  }
  raw.on('close', stop)
  if (raw.destroyed) stop()
  await catchUp(app, raw, { after: () => last, send, stream: scope.stream })
  for (const event of waiting.splice(0).sort((a, b) => a.seq - b.seq)) send(event)
  isLive = true
}

interface CatchUp {
  readonly after: () => number
  readonly send: (event: StoredEvent) => void
  readonly stream: string | null
}

// Page by page, no faster than the client reads, so that nothing is dropped because of its size.
async function catchUp(app: Orchestrator, raw: ServerResponse, to: CatchUp): Promise<void> {
  let version = 0
  for (;;) {
    const page = await nextPage(app, to, version)
    for (const event of page) {
      to.send(event)
      version = event.version
      if (raw.writableNeedDrain) await waitForDrain(raw)
    }
    if (page.length < CATCH_UP_PAGE || raw.destroyed || raw.writableEnded) return
    await new Promise((resolve) => setImmediate(resolve))
  }
}

function nextPage(app: Orchestrator, to: CatchUp, version: number): Promise<readonly StoredEvent[]> {
  if (to.stream === null) return app.ledger.store.readAll(to.after(), CATCH_UP_PAGE)
  return app.ledger.store.readStream(to.stream, version, CATCH_UP_PAGE)
}

/** A slow client is waited for; the events are in the ledger meanwhile, not in memory. */
export function waitForDrain(raw: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      raw.off('drain', done)
      raw.off('close', done)
      resolve()
    }
    raw.on('drain', done)
    raw.on('close', done)
    if (raw.destroyed) done()
  })
}

function startOf(request: FastifyRequest): number | null {
  const header = request.headers['last-event-id']
  const text = typeof header === 'string' ? header : undefined
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null
}
