import { setTimeout as wait } from 'node:timers/promises'
import type { RunEvent } from '../../core/councils/event.js'
import type { JsonObject } from '../../core/json.js'
import { Client, encodeSegment } from '../client/client.js'
import type { ClientOptions } from '../client/connection.js'
import { readEvents } from '../client/event-stream.js'
import { EXIT, Stop } from '../exit.js'
import { tell } from '../terminal/terminal.js'
import { runEventOf } from './live-council.js'

const RETRY_MS = 1000
const RETRIES_MAX = 120

/** What is seen of a run: an event of its ledger, or a piece of what an agent streams. */
export type WatchedItem =
  | { readonly kind: 'event'; readonly view: JsonObject; readonly event: RunEvent | null }
  | { readonly kind: 'part'; readonly part: JsonObject }

/** Everything of a run from its beginning to its end. A lost connection is taken up again where it was. */
export async function* watchRun(options: ClientOptions, id: string): AsyncGenerator<WatchedItem> {
  let last = '0'
  let tries = 0
  for (;;) {
    try {
      // A restarted server may listen elsewhere: it is looked for anew each time.
      const client = new Client(options)
      const body = await client.stream(last, new AbortController().signal, `/coordinations/${encodeSegment(id)}/stream`)
      if (tries > 0) tell('Connected again.')
      tries = 0
      for await (const { id: seq, event: name, data } of readEvents(body)) {
        const view = JSON.parse(data) as JsonObject
        if (name === 'part') {
          yield { kind: 'part', part: view }
          continue
        }
        last = seq ?? last
        const event = runEventOf(view)
        yield { kind: 'event', view, event }
        if (event?.type === 'run_ended') return
      }
    } catch (error) {
      const isFinal = error instanceof Stop && error.exit !== EXIT.unreachable && !isStopping(error)
      if (isFinal || tries >= RETRIES_MAX) throw error
    }
    if (tries === 0) tell('The connection is lost; trying again …')
    tries += 1
    await wait(RETRY_MS)
  }
}

function isStopping(stop: Stop): boolean {
  return (stop.details.problem as JsonObject | undefined)?.code === 'shutting_down'
}
