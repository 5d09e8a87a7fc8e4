import type { LedgerEvent } from 'phaselock/sdk'
import type { RunEvent } from '../../core/councils/event.js'
import { followEvents } from '../client/client.js'
import type { ClientOptions } from '../client/connection.js'
import { type Part, runEventOf } from './live-council.js'

const RETRIES_MAX = 120

/** One observation of a council: an event of its ledger, or a piece of an agent's stream. */
export type WatchedItem =
  | { readonly kind: 'event'; readonly view: LedgerEvent; readonly event: RunEvent | null }
  | { readonly kind: 'part'; readonly part: Part }

/** All observations of a council from its beginning to its end. */
export async function* watchRun(options: ClientOptions, id: string): AsyncGenerator<WatchedItem> {
  const from = { after: '0', coordination: id, retriesMax: RETRIES_MAX }
  for await (const { event: name, data } of followEvents(options, from)) {
    if (name === 'part') {
      yield { kind: 'part', part: JSON.parse(data) as Part }
      continue
    }
    const view = JSON.parse(data) as LedgerEvent
    const event = runEventOf(view)
    yield { kind: 'event', view, event }
    if (event?.type === 'run_ended') return
  }
}
