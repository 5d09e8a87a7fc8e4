import { type Database, openDatabase, type Row } from '../database.js'
import { readSqliteReplaced } from '../erasure/replaced-contents.js'
import { listLedgerFiles } from '../ledger-files.js'
import { findSchemaDifference, requireCurrentSchema } from '../migrations.js'
import { EVENT_COLUMNS } from '../wire.js'
import { type LedgerPart, toEventPart } from './ledger-part.js'
import type { LedgerSource } from './ledger-source.js'

const PAGE = 500

/** Reads the database of a state directory. In WAL mode the snapshot holds up no writer. */
export function openSqliteSource(dir: string): LedgerSource {
  const database = openDatabase(listLedgerFiles(dir).database, { readOnly: true })
  try {
    database.exec('PRAGMA trusted_schema = OFF')
    database.exec('BEGIN')
    requireCurrentSchema(database)
  } catch (error) {
    database.close()
    throw error
  }
  return {
    read: () => readParts(database),
    listStreams: async () => database.prepare('SELECT num, name FROM stream ORDER BY num').all(),
    listReplaced: async () => readSqliteReplaced(database),
    findSchemaDifference: async () => findSchemaDifference(database),
    close: async () => database.close(),
  }
}

async function* readParts(database: Database): AsyncGenerator<LedgerPart> {
  for await (const row of readPages(database, { columns: EVENT_COLUMNS, table: 'event', by: 'seq', from: 0 }))
    yield toEventPart(row)
  const tasks = { columns: 'num, open_deps, document', table: 'task', by: 'num', from: 0 }
  for await (const { num, open_deps: open, document } of readPages(database, tasks))
    yield ['task', Number(num), Number(open), String(document)]
  const blobs = { columns: 'sha256, content', table: 'blob', by: 'sha256', from: '' }
  for await (const { sha256, content } of readPages(database, blobs))
    yield ['blob', String(sha256), Buffer.from(content as Uint8Array).toString('base64')]
  yield* database.prepare('SELECT * FROM idempotency').all().map(toAnswer)
}

function toAnswer({ principal, key, body_hash: hash, status, answer, at }: Row): LedgerPart {
  return ['answer', String(principal), String(key), String(hash), Number(status), String(answer), Number(at)]
}

/** Page by page: nothing is held in memory, and the event loop goes on in between. */
async function* readPages(
  database: Database,
  of: { readonly columns: string; readonly table: string; readonly by: string; readonly from: number | string },
): AsyncGenerator<Row> {
  const { columns, table, by } = of
  const page = database.prepare(`SELECT ${columns} FROM ${table} WHERE ${by} > ? ORDER BY ${by} LIMIT ${PAGE}`)
  let { from } = of
  for (;;) {
    const rows = page.all(from)
    yield* rows
    if (rows.length < PAGE) return
    from = rows.at(-1)?.[by] as number | string
    await new Promise((resolve) => setImmediate(resolve))
  }
}
