import { chmodSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { type Database, getSqliteCode, openDatabase, SQLITE } from '../database.js'

const TRY_MS = 50

/**
 * A lock of the operating system on a file, held by one process at a time. The kernel drops it with the process, so
 * `kill -9` leaves nothing to clean up. It is an open write transaction on an empty database: nothing is ever written.
 * Nobody else in this process may open the file, because closing it would drop the lock.
 */
export class FileLock {
  #database: Database | null = null

  constructor(private readonly path: string) {}

  /** False: another process has held the lock for all of `waitMs`. */
  async take(waitMs: number): Promise<boolean> {
    const deadline = performance.now() + waitMs
    while (!this.#tryTake()) {
      if (performance.now() >= deadline) return false
      await wait(TRY_MS)
    }
    return true
  }

  release(): void {
    if (this.#database?.isTransaction === true) this.#database.exec('ROLLBACK')
  }

  close(): void {
    this.#database?.close()
    this.#database = null
  }

  #tryTake(): boolean {
    const database = this.#open()
    if (database.isTransaction) return true
    try {
      database.exec('BEGIN IMMEDIATE')
      return true
    } catch (error) {
      if (getSqliteCode(error) === SQLITE.busy) return false
      throw error
    }
  }

  #open(): Database {
    if (this.#database !== null) return this.#database
    const database = openDatabase(this.path, { timeoutMs: 0 })
    // The file is made at the first use.
    database.exec('PRAGMA journal_mode = DELETE')
    chmodSync(this.path, 0o600)
    this.#database = database
    return database
  }
}
