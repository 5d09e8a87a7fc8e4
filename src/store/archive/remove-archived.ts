import { openDatabase } from '../database.js'
import { listLedgerFiles } from '../ledger-files.js'
import { createPool } from '../postgres/connect.js'
import { readSearchColumns } from '../postgres/write-batch.js'
import type { StorePlace } from '../store-place.js'
import type { MadeArchive } from './make-archive.js'

/** Replaces archived events by their tombstones and removes their tasks. The archive is recorded before. */
export function removeArchived({ dir, url }: StorePlace, made: MadeArchive): Promise<void> {
  return url === null ? removeFromSqlite(dir, made) : removeFromPostgres(url, made)
}

async function removeFromSqlite(dir: string, { events, tasks }: MadeArchive): Promise<void> {
  const database = openDatabase(listLedgerFiles(dir).database)
  try {
    database.exec('PRAGMA secure_delete = ON; PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF')
    database.exec('BEGIN IMMEDIATE')
    const setData = database.prepare('UPDATE event SET data = ? WHERE seq = ? AND hash = ?')
    for (const { data, seq, hash } of events) setData.run(data, seq, hash)
    const dropTask = database.prepare('DELETE FROM task WHERE id = ?')
    const dropDependencies = database.prepare('DELETE FROM dependency WHERE task = ?')
    for (const id of tasks) {
      dropTask.run(id)
      dropDependencies.run(id)
    }
    database.exec(
      'DELETE FROM task_count; INSERT INTO task_count SELECT status, phase, count(*) FROM task GROUP BY status, phase',
    )
    database.exec('COMMIT')
    database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()
  } finally {
    database.close()
  }
}

async function removeFromPostgres(url: string, { events, tasks }: MadeArchive): Promise<void> {
  const pool = createPool(url)
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    for (const { data, seq, hash, actor } of events) {
      const { tool, code, success, agent } = readSearchColumns(actor, data)
      await client.query(
        'UPDATE event SET data = $1, tool = $2, code = $3, success = $4, agent = $5 WHERE seq = $6 AND hash = $7',
        [data, tool, code, success, agent, seq, hash],
      )
    }
    await client.query('DELETE FROM task WHERE id = ANY($1)', [tasks])
    await client.query('DELETE FROM dependency WHERE task = ANY($1)', [tasks])
    await client.query('COMMIT')
  } finally {
    client.release(true)
    await pool.end()
  }
}
