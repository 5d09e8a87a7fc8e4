import type { Pool } from 'pg'
import { type Lock, lockDirectory } from '../directory-lock.js'
import { type Checkpoints, createCheckpoints } from '../seals/seals.js'
import { type CheckpointState, findNewestCheckpoint, type SealedSnapshot, sealSnapshot } from '../seals/write-seal.js'
import { takeStateDirectory } from '../state-directory.js'
import {
  type Append,
  type AppendResult,
  type AuditFilter,
  type Store,
  StoreRefused,
  StoreUnavailable,
  type TaskFilter,
} from '../store.js'
import type { StorePlace } from '../store-place.js'
import { Writer } from '../write/writer.js'
import { createPool, createWritePool, findAddressProblem, toRefusal } from './connect.js'
import { joinNodes, type OpenedNode } from './join-nodes.js'
import type { NodeLine } from './node-line.js'
import { type OpenedPostgres, openPostgres } from './open-postgres.js'
import type { PostgresCluster } from './postgres-cluster.js'
import { PostgresReads } from './postgres-reads.js'
import { verifyPostgres } from './verify-postgres.js'

const CHECKPOINT_EVERY = 1_000

interface PostgresStoreOptions {
  /** `postgres://user:password@host/database` */
  readonly url: string
  /** The state directory: keys, head and checkpoints are kept outside the database. */
  readonly dir: string
  /** For the age of idempotency keys. */
  readonly now?: () => number
  readonly checkpointEvery?: number
  /** How long a node that does not renew its lease may still write. */
  readonly leaseMs?: number
}

interface Parts {
  readonly pool: Pool
  /** For the lease: a connection that was cut is given up sooner. */
  readonly writePool: Pool
  readonly lock: Lock
  readonly opened: OpenedPostgres
  readonly node: OpenedNode
}

/** Opens or creates the ledger in a PostgreSQL database. Rejects with StoreRefused when it must not be used. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const store = new PostgresStore(options, await openParts(options))
  try {
    await store.start()
    return store
  } catch (error) {
    await store.close()
    throw toRefusal(error)
  }
}

async function openParts(options: PostgresStoreOptions): Promise<Parts> {
  const problem = findAddressProblem(options.url)
  if (problem !== null) throw new StoreRefused('unreachable', problem)
  takeStateDirectory(options.dir)
  const lock = lockDirectory(options.dir)
  const pool = createPool(options.url)
  const writePool = createWritePool(options.url)
  try {
    const opened = await openPostgres(pool, options.dir)
    const node = await joinNodes({ ...options, pool: writePool, key: opened.key })
    return { pool, writePool, lock, opened, node }
  } catch (error) {
    await Promise.all([pool.end(), writePool.end()])
    lock.release()
    throw toRefusal(error)
  }
}

export class PostgresStore implements Store {
  readonly place: StorePlace
  readonly #dir: string
  readonly #now: () => number
  readonly #pool: Pool
  readonly #lock: Lock
  readonly #writePool: Pool
  readonly #line: NodeLine
  readonly cluster: PostgresCluster
  readonly #reads: PostgresReads
  readonly #writer: Writer
  readonly #checkpoints: Checkpoints
  #sealed: CheckpointState | null = null
  #isClosed = false
  #closing: Promise<void> | null = null

  constructor(options: PostgresStoreOptions, { pool, writePool, lock, opened, node }: Parts) {
    this.place = { dir: options.dir, url: options.url }
    this.#dir = options.dir
    this.#now = options.now ?? (() => node.cluster.now())
    this.#pool = pool
    this.#lock = lock
    this.#writePool = writePool
    this.#line = node.line
    this.cluster = node.cluster
    this.#reads = new PostgresReads(pool)
    const every = options.checkpointEvery ?? CHECKPOINT_EVERY
    this.#checkpoints = createCheckpoints({ every, write: () => this.#writeCheckpoint() })
    this.#checkpoints.startAt(opened.head.count)
    const onAppended = (seq: number) => this.#checkpoints.onAppended(seq)
    const { lease, channel } = node
    const thread = { file: 'postgres-writer-worker.cjs', data: { url: options.url, lease, channel } }
    const writer = new Writer({ dir: options.dir, thread, now: this.#now, onAppended })
    this.#writer = writer
    this.cluster.attachWriter(() => writer.settling)
  }

  /** Transactions with events since the store was opened: one serves many appends. */
  get batches(): number {
    return this.#writer.batches
  }

  async start(): Promise<void> {
    await this.#writer.start()
  }

  append(append: Append): Promise<AppendResult> {
    return this.#writer.append(append)
  }

  async readStream(stream: string, afterVersion: number, limit: number) {
    return this.#open().readStream(stream, afterVersion, limit)
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
    return this.#open().countTasks()
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

  async query(filter: AuditFilter) {
    return this.#open().query(filter)
  }

  async readStats() {
    return this.#open().readStats()
  }

  async verify() {
    this.#open()
    return verifyPostgres(this.#pool, this.#dir)
  }

  async writeSeal(): Promise<void> {
    this.#open()
    await this.#checkpoints.request()
  }

  /** Answers pending work, then gives up the ledger. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#isClosed = true
    try {
      await this.#writer.close()
      await this.#checkpoints.finish()
      await this.cluster.close()
      await this.#line.close()
      await Promise.all([this.#pool.end(), this.#writePool.end()])
    } finally {
      this.#lock.release()
    }
  }

  async #writeCheckpoint(): Promise<number> {
    const before = this.#sealed
    const pointer = before?.pointer ?? findNewestCheckpoint(this.#dir)
    this.#sealed = null
    const snapshot = await this.#readSnapshot(pointer.seq, before === null)
    this.#sealed = sealSnapshot(this.#dir, snapshot, { before, pointer })
    return this.#sealed.pointer.seq
  }

  async #readSnapshot(afterSeq: number, isFirst: boolean): Promise<SealedSnapshot> {
    const client = await this.#pool.connect()
    let isWhole = false
    try {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
      const { rows: heads } = await client.query('SELECT count, hash FROM ledger_head')
      const columns = 'SELECT num, name, version, hash FROM stream'
      const { rows: changed } = await client.query(
        `${columns} WHERE name IN (SELECT DISTINCT stream FROM event WHERE seq > $1) ORDER BY num`,
        [afterSeq],
      )
      const leaves = isFirst ? (await client.query(`${columns} ORDER BY num`)).rows : changed
      await client.query('COMMIT')
      isWhole = true
      return { seq: heads[0]?.count ?? 0, hash: heads[0]?.hash ?? '', changed, leaves }
    } finally {
      client.release(!isWhole)
    }
  }

  #open(): PostgresReads {
    if (this.#isClosed) throw new StoreUnavailable('The ledger is closed.')
    return this.#reads
  }
}
