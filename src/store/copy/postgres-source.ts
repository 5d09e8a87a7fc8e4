import type { PoolClient } from 'pg'
import { readPostgresReplaced } from '../erasure/replaced-contents.js'
import { createPool, toRefusal } from '../postgres/connect.js'
import { findForeignTrigger, readSchemaVersion, refuseNewerSchema } from '../postgres/schema.js'
import { StoreRefused } from '../store.js'
import { EVENT_COLUMNS } from '../wire.js'
import { type LedgerPart, toEventPart } from './ledger-part.js'
import type { LedgerSource } from './ledger-source.js'

const PAGE = 1_000
const BLOBS_PAGE = 50

/** Reads a PostgreSQL database in one snapshot. */
export async function openPostgresSource(url: string): Promise<LedgerSource> {
  const pool = createPool(url)
  try {
    const client = await pool.connect()
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const version = await readSchemaVersion(client)
    if (version === 0) throw new StoreRefused('unreachable', 'The database holds no ledger.')
    refuseNewerSchema(version)
    return {
      read: () => readParts(client),
      listStreams: async () => (await client.query('SELECT num, name FROM stream ORDER BY num')).rows,
      listReplaced: () => readPostgresReplaced(client),
      findSchemaDifference: () => findForeignTrigger(client),
      async close() {
        client.release(true)
        await pool.end()
      },
    }
  } catch (error) {
    // A connection that was taken keeps the pool from ending.
    pool.end().catch(() => undefined)
    throw toRefusal(error)
  }
}

async function* readParts(client: PoolClient): AsyncGenerator<LedgerPart> {
  for await (const row of readPages(client, `SELECT ${EVENT_COLUMNS} FROM event`, { by: 'seq', from: 0, page: PAGE }))
    yield toEventPart(row)
  const tasks = readPages(client, 'SELECT num, open_deps, document FROM task', { by: 'num', from: 0, page: PAGE })
  for await (const { num, open_deps: open, document } of tasks) yield ['task', num, open, document] as LedgerPart
  const blobs = readPages(client, 'SELECT sha256, content FROM blob', { by: 'sha256', from: '', page: BLOBS_PAGE })
  for await (const { sha256, content } of blobs)
    yield ['blob', String(sha256), (content as Buffer).toString('base64')] as LedgerPart
  const { rows } = await client.query('SELECT principal, key, body_hash, status, answer, at FROM idempotency')
  for (const { principal, key, body_hash: hash, status, answer, at } of rows)
    yield ['answer', principal, key, hash, status, answer, at]
}

async function* readPages(
  client: PoolClient,
  select: string,
  of: { readonly by: string; readonly from: number | string; readonly page: number },
): AsyncGenerator<Record<string, unknown>> {
  let { from } = of
  for (;;) {
    const { rows } = await client.query(`${select} WHERE ${of.by} > $1 ORDER BY ${of.by} LIMIT ${of.page}`, [from])
    yield* rows
    if (rows.length < of.page) return
    from = rows.at(-1)?.[of.by]
  }
}
