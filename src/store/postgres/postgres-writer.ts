import type { KeyObject } from 'node:crypto'
import type { Pool, PoolClient, QueryResult } from 'pg'
import { type Append, type AppendResult, StoreUnavailable } from '../store.js'
import { toWireAppend, type WireAppend } from '../wire.js'
import { Lines } from '../write/broken-lines.js'
import { type Head, writeHeadSlotMeanwhile } from '../write/head.js'
import { KEY_LIFETIME_MS } from '../write/ledger-writer.js'
import { countChars, type Pending, settle } from '../write/pending-append.js'
import { toUnavailable } from './connect.js'
import type { NodeLease } from './node-lease.js'
import { writeBatch } from './write-batch.js'

const BATCH_MAX = 1_024
const PENDING_MAX = 10_000
const PENDING_CHARS_MAX = 64 * 1024 * 1024
const PRUNE_EVERY = 256
// Class 22: a value that PostgreSQL cannot store. Class 23: one that a constraint rejects.
const REFUSED_VALUE = /^2[23]/

interface Queued {
  readonly wire: WireAppend
  readonly pending: Pending
}

interface WriterOptions {
  readonly pool: Pool
  readonly dir: string
  readonly key: KeyObject
  readonly lease: NodeLease
  /** Other nodes hear on it that there is something to read. */
  readonly channel: string
  readonly head: Head
  readonly generation: number
  readonly now: () => number
  readonly onAppended: (lastSeq: number) => void
}

/**
 * Writes appends in batches, one transaction each: everything that arrived during one transaction is in the next.
 * Acknowledged means committed in the database and noted in the head file.
 */
export class PostgresWriter {
  readonly #options: WriterOptions
  readonly #lines = new Lines()
  #queue: Queued[] = []
  #chars = 0
  #nextId = 1
  #running: Promise<void> | null = null
  #isClosed = false
  #written: Head
  #generation: number
  #batches = 0
  #settling: Promise<void> | null = null
  #endSettling: () => void = () => undefined

  constructor(options: WriterOptions) {
    this.#options = options
    this.#written = options.head
    this.#generation = options.generation
  }

  get batches(): number {
    return this.#batches
  }

  /** While events of this process may be visible in the database and are not acknowledged yet: until they are. */
  get settling(): Promise<void> | null {
    return this.#settling
  }

  append(append: Append): Promise<AppendResult> {
    if (this.#isClosed) return Promise.reject(new StoreUnavailable('The ledger is closed.'))
    if (this.#queue.length >= PENDING_MAX || this.#chars >= PENDING_CHARS_MAX)
      return Promise.reject(new StoreUnavailable(`The ledger has ${this.#queue.length} appends waiting; try again.`))
    return new Promise((resolve, reject) => {
      const wire = toWireAppend(append, this.#nextId++, this.#options.now())
      const chars = countChars(wire)
      this.#chars += chars
      this.#queue.push({ wire, pending: { append, chars, resolve, reject } })
      this.#running ??= this.#run()
    })
  }

  /** Everything that was accepted is answered first. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#running
  }

  async #run(): Promise<void> {
    // Once per turn of the event loop: requests that arrived together share a transaction.
    await new Promise((resolve) => setImmediate(resolve))
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, BATCH_MAX)
      for (const { pending } of batch) this.#chars -= pending.chars
      await this.#write(batch)
      this.#settle()
    }
    this.#running = null
  }

  #settle(): void {
    const end = this.#endSettling
    this.#settling = null
    // Those who appended hear of it first.
    setImmediate(end)
  }

  async #write(batch: readonly Queued[]): Promise<void> {
    try {
      const results = await this.#transact(batch.map(({ wire }) => wire))
      for (const [index, result] of results.entries()) {
        const queued = batch[index]
        if (queued !== undefined) settle(queued.pending, result)
      }
      this.#options.onAppended(this.#written.count)
    } catch (error) {
      const isRefused = REFUSED_VALUE.test(String((error as { code?: unknown }).code ?? ''))
      // A value that the database rejects fails only its own append.
      if (isRefused && batch.length > 1) for (const one of batch) await this.#write([one])
      else this.#fail(batch, isRefused ? new TypeError(`The ledger rejected this: ${String(error)}`) : error)
    }
  }

  #fail(batch: readonly Queued[], error: unknown): void {
    for (const { wire, pending } of batch) {
      this.#lines.break(wire.line)
      pending.reject(error instanceof TypeError ? error : toUnavailable(error, 'The ledger cannot be written now'))
    }
  }

  async #transact(appends: readonly WireAppend[]) {
    const { pool, key, lease } = this.#options
    const client = await pool.connect()
    let isBroken = true
    try {
      const terms = { lease, acknowledged: this.#written }
      const commit = (head: Head) => this.#commit(client, head)
      const { results, head } = await writeBatch(client, { ...terms, key, lines: this.#lines, appends, commit })
      isBroken = false
      await this.#advanceHead(head)
      return results
    } catch (error) {
      const isCut = error instanceof Error && error.message === 'Query read timeout'
      isBroken = isBroken && (isCut || !(await rollBack(client)))
      throw error
    } finally {
      // A connection that failed in a transaction is not used again.
      client.release(isBroken)
    }
  }

  async #commit(client: PoolClient, head: Head): Promise<void> {
    const { channel, lease } = this.#options
    this.#settling ??= new Promise((resolve) => {
      this.#endSettling = resolve
    })
    if (this.#batches % PRUNE_EVERY === 0) this.#pruneKeys(client)
    const notice = head.count > this.#written.count ? `NOTIFY ${channel}, '${lease.nodeId}'; ` : ''
    // For two statements the driver gives a list of results, which its types do not say.
    const found = (await client.query(`${notice}COMMIT`)) as QueryResult | readonly QueryResult[]
    const last = 'command' in found ? found : found.at(-1)
    // A transaction that has failed answers ROLLBACK, without an error.
    if (last?.command !== 'COMMIT') throw new StoreUnavailable('PostgreSQL rolled the write back.')
  }

  #pruneKeys(client: PoolClient): void {
    const oldest = this.#options.now() - KEY_LIFETIME_MS
    // If it fails, so does the transaction.
    client.query('DELETE FROM idempotency WHERE at <= $1', [oldest]).catch(() => undefined)
  }

  async #advanceHead(head: Head): Promise<void> {
    if (head.count === this.#written.count) return
    const { dir, key } = this.#options
    await writeHeadSlotMeanwhile(dir, key, { ...head, generation: this.#generation + 1 })
    this.#generation += 1
    this.#written = head
    this.#batches += 1
  }
}

async function rollBack(client: PoolClient): Promise<boolean> {
  try {
    await client.query('ROLLBACK')
    return true
  } catch {
    return false
  }
}
