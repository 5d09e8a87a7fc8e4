import { chmodSync } from 'node:fs'
import { type Database, getSqliteCode, openDatabase, SQLITE } from './database.js'
import { listLedgerFiles } from './ledger-files.js'
import { StoreRefused } from './store.js'

const LOCK_TIMEOUT_MS = 200

export interface Lock {
  release(): void
}

/**
 * Locks the directory for this process, or throws StoreRefused('locked'). The lock is an open write transaction on a
 * small separate database: the kernel drops it with the process, so `kill -9` leaves nothing to clean up. A reserved
 * lock still lets others read who holds it.
 */
export function lockDirectory(dir: string): Lock {
  const path = listLedgerFiles(dir).lock
  const database = openDatabase(path, { timeoutMs: LOCK_TIMEOUT_MS })
  try {
    database.exec('PRAGMA journal_mode = DELETE')
    database.exec('BEGIN IMMEDIATE')
    database.exec('CREATE TABLE IF NOT EXISTS holder (pid INTEGER NOT NULL)')
    database.exec('DELETE FROM holder')
    database.exec(`INSERT INTO holder (pid) VALUES (${process.pid})`)
    database.exec('COMMIT')
    chmodSync(path, 0o600)
    database.exec('BEGIN IMMEDIATE')
    return { release: () => database.close() }
  } catch (error) {
    const refused = getSqliteCode(error) === SQLITE.busy ? refuseLocked(dir, database, error) : error
    database.close()
    throw refused
  }
}

function refuseLocked(dir: string, database: Database, cause: unknown): StoreRefused {
  const pid = readHolder(database)
  const who = pid === null ? 'Another server' : `Another server (pid ${pid})`
  return new StoreRefused('locked', `${who} uses ${dir}. Stop it first, or give this one its own --state-dir.`, {
    cause,
  })
}

function readHolder(database: Database): number | null {
  try {
    return Number(database.prepare('SELECT pid FROM holder').get()?.pid ?? Number.NaN) || null
  } catch {
    // Between its two transactions the holder is not readable; the refusal then has no pid.
    return null
  }
}
