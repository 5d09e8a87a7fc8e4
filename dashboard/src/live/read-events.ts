import { createParser } from 'eventsource-parser'
import { formatPath } from '../api/client.js'
import { readProblem } from '../api/problem.js'
import type { LedgerEvent } from './event.js'

// The server writes something every 15 seconds. Silence for longer means that the connection is gone.
const SILENCE_MS_MAX = 40_000

interface Reading {
  readonly after: number | null
  readonly signal: AbortSignal
  readonly onOpen: () => void
  readonly onEvent: (event: LedgerEvent) => void
}

/** Reads the stream of events until it ends. A refusal is thrown as an ApiProblem. */
export async function readEvents({ after, signal, onOpen, onEvent }: Reading): Promise<void> {
  const silence = new AbortController()
  const response = await fetch(formatPath('/events'), {
    credentials: 'same-origin',
    headers: { accept: 'text/event-stream', ...(after === null ? {} : { 'last-event-id': String(after) }) },
    signal: AbortSignal.any([signal, silence.signal]),
  })
  if (!response.ok || response.body === null) throw await readProblem(response)
  onOpen()
  const parser = createParser({
    onEvent: ({ data }) => onEvent(JSON.parse(data) as LedgerEvent),
  })
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const timer = setTimeout(() => silence.abort(), SILENCE_MS_MAX)
    const { done, value } = await reader.read().finally(() => clearTimeout(timer))
    if (done) return
    parser.feed(value)
  }
}
