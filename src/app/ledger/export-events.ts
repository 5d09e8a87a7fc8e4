import { exportLedger } from '../../store/export/export-ledger.js'
import type { AuditFilter } from '../../store/store.js'
import type { App } from '../app.js'
import { toEventView } from '../wire.js'

export type { AuditFilter }

const PAGE = 500
/** How many events a page of a search looks at: others that read the ledger wait meanwhile. */
export const SEARCHED_MAX = 200_000

type Write = (line: string) => Promise<void>

/**
 * Writes the ledger as lines of JSON. Without a filter it is the signed export of the command line; with one, the events
 * that match, newest first, without a signature.
 */
export async function exportEvents(app: App, filter: Omit<AuditFilter, 'limit'>, write: Write): Promise<void> {
  const isWhole = Object.keys(filter).length === 0
  const { place } = app.ledger.store
  if (isWhole && place !== undefined) {
    await exportLedger(place, write)
    return
  }
  let cursor: string | null = null
  do {
    const part = { limit: PAGE, searchedMax: SEARCHED_MAX, ...(cursor === null ? {} : { cursor }) }
    const page = await app.ledger.store.query({ ...filter, ...part })
    for (const event of page.items) await write(JSON.stringify(toEventView(event)))
    cursor = page.nextCursor
  } while (cursor !== null)
}
