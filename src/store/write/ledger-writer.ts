import type { KeyObject } from 'node:crypto'
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { type Database, getSqliteCode, openDatabase, SQLITE } from '../database.js'
import { listLedgerFiles } from '../ledger-files.js'
import { settleWal } from '../wal.js'
import type { WireAppend, WireRemembered, WireResult } from '../wire.js'
import { Lines } from './broken-lines.js'
import { computeEventHash, FIRST_PREV_HASH } from './chain.js'
import { type Head, writeHeadSlot, writeWholeHead } from './head.js'
import { prepareWrites, type WriteStatements } from './write-statements.js'
import { isAgentBusy, writeTask } from './write-task.js'

const WAL_PAGES_MAX = 8_000
const STREAM_HEADS_MAX = 50_000
export const KEY_LIFETIME_MS = 24 * 60 * 60 * 1_000
const KEYS_MAX = 100_000
const KEYS_PRUNE_EVERY = 256
const KEYS_PRUNE_MAX = 1_024

interface StreamHead {
  readonly version: number
  readonly hash: string
}

interface Connection {
  readonly database: Database
  readonly statements: WriteStatements
}

/**
 * The only writer of a ledger directory. Synchronous: it runs in a separate thread. A batch is one transaction;
 * everything it acknowledges is durable in the database and in the head file.
 */
export class LedgerWriter {
  #connection: Connection | null = null
  readonly #dir: string
  readonly #key: KeyObject
  /** The newest event known to be committed. */
  #last: Head
  /** The known content of the head file. */
  #written: Head
  #generation: number
  #isHeadInDoubt = false
  /** A sync may have failed: the write-ahead log may not be on disk. */
  #isLogInDoubt = false
  #streamHeads = new Map<string, StreamHead>()
  /** Which files the connection has open, by path. */
  readonly #files = new Map<string, string>()
  readonly #lines = new Lines()
  #remembered = 0
  #batches = 0

  constructor(options: { dir: string; key: KeyObject; head: Head; generation: number }) {
    this.#dir = options.dir
    this.#key = options.key
    this.#last = options.head
    this.#written = options.head
    this.#generation = options.generation
    this.#connection = this.#connect()
  }

  get lastSeq(): number {
    return this.#written.count
  }

  /** Committed transactions, so that tests can see that one serves many appends. */
  get batches(): number {
    return this.#batches
  }

  /** Applies the appends in order in one transaction. Refusing one does not affect the others. */
  apply(batch: readonly WireAppend[]): readonly WireResult[] {
    let isConnected = false
    try {
      this.#repair()
      isConnected = true
      const results = this.#transact(batch)
      this.#requireSameFiles()
      this.#advanceHead()
      return results
    } catch (error) {
      this.#forget()
      if (isConnected && isRefusedByDatabase(error)) return this.#applyOneByOne(batch, error)
      this.#isLogInDoubt = true
      for (const { line } of batch) this.#lines.break(line)
      const message = `The ledger cannot be written now: ${getMessage(error)}`
      return batch.map(({ id }) => ({ id, ok: false, reason: 'unavailable', message }))
    }
  }

  /** Leaves one complete database file behind, without a write-ahead log, as far as readers allow. */
  close(): void {
    this.#connection?.database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()
    this.#connection?.database.close()
    this.#connection = null
  }

  /** A value that the database rejects fails only its own append. */
  #applyOneByOne(batch: readonly WireAppend[], error: unknown): readonly WireResult[] {
    const [only] = batch
    if (batch.length > 1 || only === undefined) return batch.flatMap((append) => this.apply([append]))
    this.#lines.break(only.line)
    return [{ id: only.id, ok: false, reason: 'refused', message: getMessage(error) }]
  }

  #connect(): Connection {
    const file = listLedgerFiles(this.#dir).database
    const identity = identifyFile(file)
    // SQLite would make an empty one.
    if (identity === null) throw new Error('the file of the ledger is gone')
    const database = openDatabase(file)
    try {
      database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = ${WAL_PAGES_MAX};
        PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384`)
      const statements = prepareWrites(database)
      this.#last = this.#readLast(statements)
      this.#files.clear()
      this.#files.set(file, identity)
      return { database, statements }
    } catch (error) {
      database.close()
      throw error
    }
  }

  /** Acknowledged events must still exist, whatever happened to the file behind the connection. */
  #readLast(statements: WriteStatements): Head {
    const acknowledged = this.#written
    if (acknowledged.count > 0 && statements.eventHash.get(acknowledged.count)?.hash !== acknowledged.hash) {
      throw new Error(`event ${acknowledged.count} was acknowledged and is not in the database any more`)
    }
    const row = statements.lastEvent.get()
    return row === undefined ? { count: 0, hash: FIRST_PREV_HASH } : { count: Number(row.seq), hash: String(row.hash) }
  }

  /** After a fault: reconnect, and update the head to the database before anything is acknowledged. */
  #repair(): void {
    if (this.#isLogInDoubt) settleWal(this.#dir)
    this.#isLogInDoubt = false
    this.#connection ??= this.#connect()
    if (!this.#isHeadInDoubt && this.#last.count === this.#written.count) return
    this.#generation = writeWholeHead(this.#dir, this.#key, { head: this.#last, generation: this.#generation })
    this.#written = this.#last
    this.#isHeadInDoubt = false
  }

  #transact(batch: readonly WireAppend[]): readonly WireResult[] {
    if (this.#connection === null) throw new Error('the writer is closed')
    const { database, statements } = this.#connection
    const before = this.#last.count
    database.exec('BEGIN IMMEDIATE')
    const results = batch.map((append) => {
      const result = this.#applyOne(statements, append)
      if (!result.ok) this.#lines.break(append.line)
      return result
    })
    database.exec('COMMIT')
    if (this.#last.count > before) this.#batches += 1
    return results
  }

  // SQLite goes on writing to a file that was removed or replaced, and all of it is lost with the process.
  #requireSameFiles(): void {
    const { database, log } = listLedgerFiles(this.#dir)
    for (const path of [database, log]) {
      const found = identifyFile(path)
      if (found === null || found !== (this.#files.get(path) ?? found))
        throw new Error(`${basename(path)} was removed or replaced`)
      this.#files.set(path, found)
    }
  }

  #advanceHead(): void {
    if (this.#last.count === this.#written.count) return
    this.#isHeadInDoubt = true
    writeHeadSlot(this.#dir, this.#key, { ...this.#last, generation: this.#generation + 1 })
    this.#isHeadInDoubt = false
    this.#generation += 1
    this.#written = this.#last
  }

  /** State from a failed batch is discarded. The next batch opens a new connection. */
  #forget(): void {
    this.#streamHeads.clear()
    const connection = this.#connection
    this.#connection = null
    if (connection !== null) abandon(connection.database)
  }

  #applyOne(statements: WriteStatements, append: WireAppend): WireResult {
    const { id, remember, task } = append
    if (remember !== undefined && remember.replaces !== true && isKeyTaken(statements, remember))
      return { id, ok: false, reason: 'key_taken' }
    const head = this.#streamHead(statements, append.stream)
    if (head.version !== append.expectedVersion || this.#lines.isBroken(append.line)) {
      return { id, ok: false, reason: 'version_conflict', version: head.version }
    }
    if (task !== undefined && isAgentBusy(statements, task)) return { id, ok: false, reason: 'agent_busy' }
    const seq = this.#last.count + 1
    const hashes = this.#insertEvents(statements, append, head)
    if (task !== undefined) writeTask(statements, task)
    for (const blob of append.blobs ?? []) statements.insertBlob.run(blob.sha256, Buffer.from(blob.content))
    if (remember !== undefined) this.#remember(statements, remember)
    return { id, ok: true, seq, prevHash: head.hash, hashes }
  }

  #streamHead(statements: WriteStatements, stream: string): StreamHead {
    const known = this.#streamHeads.get(stream)
    if (known !== undefined) return known
    const row = statements.streamHead.get(stream)
    return row === undefined
      ? { version: 0, hash: FIRST_PREV_HASH }
      : { version: Number(row.version), hash: String(row.hash) }
  }

  #insertEvents(statements: WriteStatements, append: WireAppend, head: StreamHead): string[] {
    const { stream } = append
    let { version, hash: prevHash } = head
    let seq = this.#last.count
    if (version === 0 && append.events.length > 0) statements.insertStream.run(stream)
    const hashes: string[] = []
    for (const [type, at, actor, epoch, phase, contract, dataText] of append.events) {
      seq += 1
      version += 1
      const columns = { seq, stream, version, type, at, actor, epoch, phase, contract, dataText, prevHash }
      const hash = computeEventHash(this.#key, columns)
      statements.insertEvent.run(
        seq,
        stream,
        version,
        type,
        at,
        actor,
        epoch,
        phase,
        contract,
        dataText,
        prevHash,
        hash,
      )
      hashes.push(hash)
      prevHash = hash
    }
    if (hashes.length > 0) {
      this.#last = { count: seq, hash: prevHash }
      if (this.#streamHeads.size >= STREAM_HEADS_MAX) this.#streamHeads.clear()
      this.#streamHeads.set(stream, { version, hash: prevHash })
    }
    return hashes
  }

  #remember(statements: WriteStatements, remember: WireRemembered): void {
    const { principal, key, bodyHash, status, answerText, at } = remember
    statements.insertKey.run(principal, key, bodyHash, status, answerText, at)
    if (this.#remembered++ % KEYS_PRUNE_EVERY !== 0) return
    statements.pruneKeys.run(at - KEY_LIFETIME_MS, KEYS_PRUNE_MAX)
    const excess = Number(statements.countKeys.get()?.count) - KEYS_MAX
    if (excess > 0) statements.pruneKeys.run(at - 1, Math.min(excess, KEYS_PRUNE_MAX))
  }
}

/** Closing rolls back an open transaction. A connection that cannot be closed is left until the process ends. */
function identifyFile(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat === undefined ? null : `${stat.dev} ${stat.ino}`
}

function abandon(database: Database): boolean {
  try {
    database.close()
    return true
  } catch {
    return false
  }
}

function isKeyTaken(statements: WriteStatements, remember: WireRemembered): boolean {
  return statements.findKey.get(remember.principal, remember.key, remember.at - KEY_LIFETIME_MS) !== undefined
}

const REFUSED_VALUES: readonly number[] = [SQLITE.tooBig, SQLITE.constraint, SQLITE.mismatch]

function isRefusedByDatabase(error: unknown): boolean {
  const code = getSqliteCode(error)
  // Code 1 is the error of a JSON function for an unreadable text.
  return error instanceof TypeError || code === 1 || (code !== null && REFUSED_VALUES.includes(code))
}

function getMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
