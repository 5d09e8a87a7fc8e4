import { openDatabase } from '../database.js'
import { listLedgerFiles } from '../ledger-files.js'
import { createPool } from '../postgres/connect.js'
import { readSearchColumns } from '../postgres/write-batch.js'
import type { StorePlace } from '../store-place.js'
import type { FoundText } from './find-text.js'

/** Overwrites what was found. The erasures are recorded in the ledger before: without that it would be tampering. */
export function eraseFound(place: StorePlace, found: FoundText): Promise<void> {
  return place.url === null ? eraseInSqlite(place.dir, found) : eraseInPostgres(place.url, found)
}

async function eraseInSqlite(dir: string, found: FoundText): Promise<void> {
  const database = openDatabase(listLedgerFiles(dir).database)
  try {
    // Free pages are overwritten, and the write-ahead log with the old pages is emptied.
    database.exec('PRAGMA secure_delete = ON; PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF')
    database.exec('BEGIN IMMEDIATE')
    const setData = database.prepare('UPDATE event SET data = ? WHERE seq = ? AND hash = ?')
    for (const { data, seq, hash } of found.events) setData.run(data, seq, hash)
    const setDocument = database.prepare('UPDATE task SET document = ? WHERE num = ?')
    for (const { document, num } of found.tasks) setDocument.run(document, num)
    const dropBlob = database.prepare('DELETE FROM blob WHERE sha256 = ?')
    for (const sha256 of found.blobs) dropBlob.run(sha256)
    const dropAnswer = database.prepare('DELETE FROM idempotency WHERE principal = ? AND key = ?')
    for (const { principal, key } of found.answers) dropAnswer.run(principal, key)
    database.exec('COMMIT')
    database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()
  } finally {
    database.close()
  }
}

async function eraseInPostgres(url: string, found: FoundText): Promise<void> {
  const pool = createPool(url)
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    for (const { data, seq, hash, actor } of found.events) {
      const { tool, code, success, agent } = readSearchColumns(actor, data)
      await client.query(
        'UPDATE event SET data = $1, tool = $2, code = $3, success = $4, agent = $5 WHERE seq = $6 AND hash = $7',
        [data, tool, code, success, agent, seq, hash],
      )
    }
    for (const { document, num } of found.tasks)
      await client.query('UPDATE task SET document = $1 WHERE num = $2', [document, num])
    await client.query('DELETE FROM blob WHERE sha256 = ANY($1)', [found.blobs])
    for (const { principal, key } of found.answers)
      await client.query('DELETE FROM idempotency WHERE principal = $1 AND key = $2', [principal, key])
    await client.query('COMMIT')
    await client.query('SET statement_timeout = 0')
    // The old rows are still in the files until the tables are rewritten.
    for (const table of ['event', 'task', 'blob', 'idempotency']) await client.query(`VACUUM FULL ${table}`)
  } finally {
    client.release(true)
    await pool.end()
  }
}
