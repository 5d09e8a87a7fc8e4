import { decodeCursor } from './cursor.js'
import { openDatabase } from './database.js'
import { type Lock, lockDirectory } from './directory-lock.js'
import { listLedgerFiles } from './ledger-files.js'
import { toRefusal } from './open-ledger.js'
import { PointReads } from './read/point-reads.js'
import { Reader } from './read/reader.js'
import { type Checkpoints, createCheckpoints } from './seals/seals.js'
import { writeCheckpoint } from './seals/write-seal.js'
import { takeStateDirectory } from './state-directory.js'
import {
  type Append,
  type AppendResult,
  type AuditFilter,
  type AuditPage,
  type AuditStats,
  type Store,
  StoreUnavailable,
  type TaskFilter,
  type VerifyReport,
} from './store.js'
import type { StorePlace } from './store-place.js'
import { Writer } from './write/writer.js'

const CHECKPOINT_EVERY = 1_000
/** Verifying or sealing this many events takes a fraction of a second, less than starting a thread. */
const QUICKLY_READ_MAX = 1_000

interface SqliteStoreOptions {
  /** The state directory; created with mode 0700 when it does not exist. */
  readonly dir: string
  /** For the age of idempotency keys. */
  readonly now?: () => number
  /** A checkpoint is written at least every this many events. */
  readonly checkpointEvery?: number
}

/** Opens or creates the ledger in `dir`. Rejects with StoreRefused when it must not be used. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  const lock = takeDirectory(options.dir)
  const store = new SqliteStore(options, lock)
  try {
    await store.start()
    return store
  } catch (error) {
    await store.close()
    throw toRefusal(error)
  }
}

function takeDirectory(dir: string): Lock {
  try {
    takeStateDirectory(dir)
    return lockDirectory(dir)
  } catch (error) {
    throw toRefusal(error)
  }
}

export class SqliteStore implements Store {
  readonly place: StorePlace
  readonly #dir: string
  readonly #lock: Lock
  readonly #checkpoints: Checkpoints
  readonly #now: () => number
  readonly #writer: Writer
  readonly #reads: PointReads
  readonly #reader: Reader
  /** Checkpoints and counts run separately: over many events they take longer than a query should wait. */
  readonly #checkpointer: Reader
  #isClosed = false
  #closing: Promise<void> | null = null

  constructor(options: SqliteStoreOptions, lock: Lock) {
    const { dir } = options
    this.place = { dir, url: null }
    this.#lock = lock
    this.#now = options.now ?? Date.now
    this.#dir = dir
    this.#reads = new PointReads(dir)
    this.#reader = new Reader(dir)
    this.#checkpointer = new Reader(dir)
    const every = options.checkpointEvery ?? CHECKPOINT_EVERY
    this.#checkpoints = createCheckpoints({ every, write: () => this.#writeCheckpoint() })
    this.#writer = new Writer({ dir, now: this.#now, onAppended: (seq) => this.#checkpoints.onAppended(seq) })
  }

  /** Transactions with events since the store was opened: one serves many appends. */
  get batches(): number {
    return this.#writer.batches
  }

  async start(): Promise<void> {
    await this.#writer.start()
    this.#checkpoints.startAt(this.#reads.lastSeq())
  }

  append(append: Append): Promise<AppendResult> {
    return this.#writer.append(append)
  }

  async readStream(stream: string, afterVersion: number, limit: number) {
    return this.#open().stream(stream, afterVersion, limit)
  }

  async readAll(afterSeq: number, limit: number) {
    return this.#open().readAllStreams(afterSeq, limit)
  }

  async lastSeq() {
    return this.#open().lastSeq()
  }

  async task(id: string) {
    return this.#open().readTask(id)
  }

  async queryTasks(filter: TaskFilter) {
    return this.#open().readTasks(filter)
  }

  async listClaimable(options: { readonly offset: number; readonly limit: number }) {
    return this.#open().readClaimable(options.offset, options.limit)
  }

  async findHeldBy(agentId: string) {
    return this.#open().readHeldBy(agentId)
  }

  async listOverdue(options: { readonly now: number; readonly limit: number }) {
    return this.#open().readOverdue(options.now, options.limit)
  }

  async countTasks() {
    return this.#open().taskCounts()
  }

  async listDependents(id: string) {
    return this.#open().readDependents(id)
  }

  async readBlob(sha256: string) {
    return this.#open().readBlobText(sha256)
  }

  async recall(options: { readonly principal: string; readonly key: string }) {
    return this.#open().recall({ ...options, now: this.#now() })
  }

  async query(filter: AuditFilter): Promise<AuditPage> {
    this.#open()
    if (filter.cursor !== undefined) decodeCursor(filter.cursor)
    return this.#reader.perform({ type: 'query', filter })
  }

  async readStats(): Promise<AuditStats> {
    this.#open()
    return this.#checkpointer.perform({ type: 'stats' })
  }

  async verify(): Promise<VerifyReport> {
    if (this.#open().lastSeq() <= QUICKLY_READ_MAX) return this.#checkpointer.perform({ type: 'verify' })
    // A separate thread: it may take minutes, and checkpoints and queries must not wait for it.
    const reader = new Reader(this.#dir)
    try {
      return await reader.perform({ type: 'verify' })
    } finally {
      await reader.close()
    }
  }

  async writeSeal(): Promise<void> {
    this.#open()
    await this.#checkpoints.request()
  }

  /** Answers pending work, then releases the directory. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#isClosed = true
    try {
      await this.#writer.close()
      await this.#checkpoints.finish()
      await this.#reader.close()
      await this.#checkpointer.close()
      this.#reads.close()
    } finally {
      this.#lock.release()
    }
  }

  // Nothing waits for this thread any more when the store closes: a small ledger needs no other one for its last
  // checkpoint.
  async #writeCheckpoint(): Promise<number> {
    if (!this.#isClosed || this.#checkpointer.isRunning || this.#reads.lastSeq() > QUICKLY_READ_MAX)
      return this.#checkpointer.perform({ type: 'checkpoint' })
    const database = openDatabase(listLedgerFiles(this.#dir).database, { readOnly: true })
    try {
      return writeCheckpoint(this.#dir, database, null).pointer.seq
    } finally {
      database.close()
    }
  }

  #open(): PointReads {
    if (this.#isClosed) throw new StoreUnavailable('The ledger is closed.')
    return this.#reads
  }
}
