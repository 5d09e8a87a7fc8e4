import type { FastifyReply, FastifyRequest } from 'fastify'
import { runStream } from '../../app/councils/council-book.js'
import { loadLongTexts } from '../../app/councils/council-events.js'
import type { RunWatcher } from '../../app/councils/councils.js'
import type { Orchestrator } from '../../app/orchestrator.js'
import { toEventView } from '../../app/wire.js'
import { beginStream, type EventStreams, type Scope, waitForDrain } from './event-streams.js'

const PAGE = 200
const PENDING_BYTES_MAX = 4 * 1024 * 1024
const KEEP_ALIVE_MS = 15_000
const PART_CHARS_MAX = 4000

/**
 * A council as it happens: its events from the beginning or after `Last-Event-ID`, with long texts included, and
 * between them what agents stream. Ends with the council.
 */
export async function streamRun(
  to: {
    readonly app: Orchestrator
    readonly streams: EventStreams
    readonly caller: string
    readonly id: string
    /** The permission to follow it ends with this event. */
    readonly endsWith: Scope['endsWith']
  },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { app, id } = to
  const { store } = app.ledger
  const isOver = (await app.coordinations.read(id))?.endedAt !== null
  const raw = beginStream(reply, to)
  let version = startOf(request)
  let isReading = false
  let isBehind = true
  // Events are read from the ledger, one read at a time: a notification only says that there are more.
  const readOn = async (): Promise<void> => {
    isBehind = true
    if (isReading) return
    isReading = true
    try {
      while (isBehind && !raw.destroyed && !raw.writableEnded) {
        // Before the read, because later events may not be in it.
        isBehind = false
        const page = await store.readStream(runStream(id), version, PAGE)
        if (page.length === PAGE) isBehind = true
        for (const stored of page) {
          if (raw.destroyed || raw.writableEnded) return
          const data = await loadLongTexts(stored.data, (sha256) => store.readBlob(sha256))
          version = stored.version
          raw.write(
            `id: ${version}\nevent: ${stored.type}\ndata: ${JSON.stringify(toEventView({ ...stored, data }))}\n\n`,
          )
          if (stored.type === 'run_ended') raw.end()
          else if (raw.writableLength > PENDING_BYTES_MAX) await waitForDrain(raw)
        }
      }
    } catch {
      // The client reconnects with the last id it has seen.
      raw.destroy()
    } finally {
      isReading = false
    }
  }
  const watcher: RunWatcher = {
    happened: () => void readOn(),
    streamed: (agent, part) => {
      if (part.type === 'usage' || part.type === 'end' || raw.destroyed || raw.writableEnded) return
      if (raw.writableLength > PENDING_BYTES_MAX) raw.destroy()
      else raw.write(`event: part\ndata: ${JSON.stringify(app.redact(toPartView(agent, part)))}\n\n`)
    },
  }
  const stop = app.coordinations.watch(id, watcher)
  if (stop === null) raw.end()
  const unsubscribe = app.feed.subscribe((event) => {
    if (to.endsWith(event)) raw.end()
  })
  const keepAlive = setInterval(() => raw.writableEnded || raw.write(': \n\n'), KEEP_ALIVE_MS)
  raw.on('close', () => {
    clearInterval(keepAlive)
    unsubscribe()
    stop?.()
  })
  await readOn()
  // A client that reconnects after the end has seen it, and gets nothing more.
  if (isOver && !raw.writableEnded) raw.end()
}

type Part = Parameters<RunWatcher['streamed']>[1]

function toPartView(agent: string, part: Exclude<Part, { type: 'usage' | 'end' }>) {
  if (part.type === 'tool_call') return { agent, type: part.type, name: part.name.slice(0, 200) }
  return { agent, type: part.type, text: part.text.slice(0, PART_CHARS_MAX).toWellFormed() }
}

function startOf(request: FastifyRequest): number {
  const header = request.headers['last-event-id']
  return typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : 0
}
