import { existsSync } from 'node:fs'
import { exportLedger } from '../../store/export/export-ledger.js'
import { listLedgerFiles } from '../../store/ledger-files.js'
import type { AuditFilter } from '../../store/store.js'
import type { App } from '../app.js'
import { toEventView } from '../wire.js'

export type { AuditFilter }

const PAGE = 500

type Write = (line: string) => Promise<void>

/**
 * Writes the ledger as lines of JSON. Without a filter it is the signed export of the command line, if the ledger is in
 * the state directory; with one, the events that match, newest first, without a signature.
 */
export async function exportEvents(app: App, filter: Omit<AuditFilter, 'limit'>, write: Write): Promise<void> {
  const isWhole = Object.keys(filter).length === 0
  if (isWhole && existsSync(listLedgerFiles(app.stateDir).database)) {
    await exportLedger(app.stateDir, write)
    return
  }
  let cursor: string | null = null
  do {
    const page = await app.ledger.store.query({ ...filter, limit: PAGE, ...(cursor === null ? {} : { cursor }) })
    for (const event of page.items) await write(JSON.stringify(toEventView(event)))
    cursor = page.nextCursor
  } while (cursor !== null)
}
