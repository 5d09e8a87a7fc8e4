import type { KeyObject } from 'node:crypto'
import type { Pool, PoolClient, QueryResult } from 'pg'
import { StoreUnavailable } from '../store.js'
import type { WireAppend, WireResult } from '../wire.js'
import { Lines } from '../write/broken-lines.js'
import { type Head, writeHeadSlot } from '../write/head.js'
import { KEY_LIFETIME_MS } from '../write/ledger-writer.js'
import { requireSteps, type StreamHead } from './batch-view.js'
import { toUnavailable } from './connect.js'
import type { NodeLease } from './node-lease.js'
import { writeBatch } from './write-batch.js'

const STREAM_HEADS_MAX = 50_000
const PRUNE_EVERY = 256
// Class 22: a value that PostgreSQL cannot store. Class 23: one that a constraint rejects.
const REFUSED_VALUE = /^2[23]/

interface WriterOptions {
  readonly pool: Pool
  readonly dir: string
  readonly key: KeyObject
  readonly lease: NodeLease
  /** Other nodes hear on it that there is something to read. */
  readonly channel: string
  readonly head: Head
  readonly generation: number
  /** From now on events may be visible in the database that are not acknowledged yet. */
  readonly onCommitting: () => void
}

/**
 * Writes batches of appends, one transaction each; the caller waits for one before the next. Acknowledged means committed
 * in the database and noted in the head file. It runs in a thread of its own, so that the lock on the head is not held
 * while the server answers requests.
 */
export class PostgresWriter {
  readonly #options: WriterOptions
  readonly #lines = new Lines()
  #written: Head
  #generation: number
  #batches = 0
  #remembering = 0
  /**
   * Heads of streams whose home is this node, as its own transactions left them. Nobody else changes them: adoption and
   * a later start of this node end its epoch, and then no batch is written. After a failure they are read again.
   */
  readonly #ownHeads = new Map<string, StreamHead>()

  constructor(options: WriterOptions) {
    this.#options = options
    this.#written = options.head
    this.#generation = options.generation
  }

  get lastSeq(): number {
    return this.#written.count
  }

  get batches(): number {
    return this.#batches
  }

  /** Applies the appends in order in one transaction. Refusing one does not affect the others. */
  async apply(appends: readonly WireAppend[]): Promise<readonly WireResult[]> {
    try {
      return await this.#transact(appends)
    } catch (error) {
      this.#ownHeads.clear()
      const isRefused = isRefusedValue(error)
      // A value that the database rejects fails only its own append.
      if (isRefused && appends.length > 1) {
        const results: WireResult[] = []
        for (const append of appends) results.push(...(await this.apply([append])))
        return results
      }
      for (const { line } of appends) this.#lines.break(line)
      if (isRefused) return appends.map(({ id }) => ({ id, ok: false, reason: 'refused', message: String(error) }))
      const { message } = toUnavailable(error, 'The ledger cannot be written now')
      return appends.map(({ id }) => ({ id, ok: false, reason: 'unavailable', message }))
    }
  }

  async #transact(appends: readonly WireAppend[]): Promise<readonly WireResult[]> {
    const { pool, key, lease } = this.#options
    const client = await pool.connect()
    let isBroken = true
    try {
      const { results, head, streamHeads } = await writeBatch(client, {
        ...{ key, lease, appends, lines: this.#lines },
        ...{ acknowledged: this.#written, ownHeads: this.#ownHeads },
        commit: (end, steps) => this.#commit(client, { end, steps, appends }),
      })
      isBroken = false
      this.#advanceHead(head)
      this.#keepHeads(streamHeads)
      return results
    } catch (error) {
      // Only after a refusal by PostgreSQL is it certain in which state the connection is.
      if (isRefusedValue(error)) isBroken = !(await rollBack(client))
      throw error
    } finally {
      client.release(isBroken)
    }
  }

  async #commit(
    client: PoolClient,
    { end, steps, appends }: { end: Head; steps: number; appends: readonly WireAppend[] },
  ): Promise<void> {
    const { channel, lease } = this.#options
    this.#options.onCommitting()
    this.#pruneKeys(client, appends)
    const notice = end.count > this.#written.count ? `NOTIFY ${channel}, '${lease.nodeId}'; ` : ''
    const sent = client.query(`${requireSteps(steps)}; ${notice}COMMIT`).catch((error: unknown) => {
      throw toUnavailable(error, 'PostgreSQL does not commit the write')
    })
    // For several statements the driver gives a list of results, which its types do not say.
    const found = (await sent) as unknown as readonly QueryResult[]
    // A transaction that has failed answers ROLLBACK, without an error.
    if (found.at(-1)?.command !== 'COMMIT') throw new StoreUnavailable('PostgreSQL rolled the write back.')
  }

  #pruneKeys(client: PoolClient, appends: readonly WireAppend[]): void {
    const at = appends.find(({ remember }) => remember !== undefined)?.remember?.at
    if (at === undefined || this.#remembering++ % PRUNE_EVERY !== 0) return
    // If it fails, so does the transaction.
    client.query('DELETE FROM idempotency WHERE at <= $1', [at - KEY_LIFETIME_MS]).catch(() => undefined)
  }

  #advanceHead(head: Head): void {
    if (head.count === this.#written.count) return
    const { dir, key } = this.#options
    writeHeadSlot(dir, key, { ...head, generation: this.#generation + 1 })
    this.#generation += 1
    this.#written = head
    this.#batches += 1
  }

  #keepHeads(heads: ReadonlyMap<string, StreamHead>): void {
    if (this.#ownHeads.size >= STREAM_HEADS_MAX) this.#ownHeads.clear()
    for (const [stream, head] of heads) if (head.home === this.#options.lease.nodeId) this.#ownHeads.set(stream, head)
  }
}

function isRefusedValue(error: unknown): boolean {
  return REFUSED_VALUE.test(String((error as { code?: unknown }).code ?? ''))
}

async function rollBack(client: PoolClient): Promise<boolean> {
  try {
    await client.query('ROLLBACK')
    return true
  } catch {
    return false
  }
}
