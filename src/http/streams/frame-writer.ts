import type { ServerResponse } from 'node:http'
import type { StoredEvent } from '../../app/ledger/feed.js'
import { toEventView } from '../../app/wire.js'

// With more streams than this, every event written to each of them at once would take the time of decisions.
const AT_ONCE_MAX = 20
const GATHER_MS = 200

/** Writes events to the streams of operators: at once while few are open, else together five times a second. */
export class FrameWriter {
  readonly #waiting = new Map<ServerResponse, StoredEvent[]>()
  #timer: NodeJS.Timeout | null = null
  #joined: { readonly from: number; readonly to: number; readonly count: number; readonly bytes: Buffer } | null = null

  constructor(private readonly countStreams: () => number) {}

  write(raw: ServerResponse, event: StoredEvent): void {
    const events = this.#waiting.get(raw)
    if (events !== undefined) events.push(event)
    else if (this.countStreams() <= AT_ONCE_MAX) raw.write(formatFrame(event))
    else this.#waiting.set(raw, [event])
    if (this.#waiting.size > 0) this.#timer ??= setTimeout(() => this.flushAll(), GATHER_MS)
  }

  /** Writes what waits for one stream, before it ends. */
  flush(raw: ServerResponse): void {
    const events = this.#waiting.get(raw)
    this.#waiting.delete(raw)
    if (events !== undefined && !raw.destroyed && !raw.writableEnded) raw.write(this.#joinFrames(events))
  }

  flushAll(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    for (const raw of [...this.#waiting.keys()]) this.flush(raw)
    this.#joined = null
  }

  // These streams show every event in order: with the same first, last and number they show the same.
  #joinFrames(events: readonly StoredEvent[]): Buffer {
    const [from, to, count] = [events[0]?.seq ?? 0, events.at(-1)?.seq ?? 0, events.length]
    const known = this.#joined
    if (known?.from === from && known.to === to && known.count === count) return known.bytes
    const bytes = Buffer.concat(events.map(formatFrame))
    this.#joined = { from, to, count, bytes }
    return bytes
  }
}

// Every open stream sends the same bytes: they are made once for each event.
const frames = new WeakMap<StoredEvent, Buffer>()

/** An event as a server-sent event. */
export function formatFrame(event: StoredEvent): Buffer {
  const known = frames.get(event)
  if (known !== undefined) return known
  const frame = Buffer.from(`id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(toEventView(event))}\n\n`)
  frames.set(event, frame)
  return frame
}
