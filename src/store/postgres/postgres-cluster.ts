import { createHmac, type KeyObject } from 'node:crypto'
import type { Pool } from 'pg'
import { type Cluster, type NodeNote, SYSTEM_STREAM } from '../cluster.js'
import { type StoredEvent, StoreUnavailable } from '../store.js'
import { EVENT_COLUMNS, toStoredEvent } from '../wire.js'
import { toRefusal, toUnavailable } from './connect.js'
import { Follower } from './follower.js'
import {
  adoptStreams,
  agreeOnSecrets,
  announceNode,
  endLease,
  type NodeLease,
  readNodes,
  renewLease,
} from './node-lease.js'

const RENEWALS_PER_LEASE = 4
const REFRESH_MS_MAX = 4_000
const POLL_MS = 1_000
const HOMES_MAX = 50_000

interface ClusterOptions {
  readonly pool: Pool
  readonly key: KeyObject
  readonly lease: NodeLease
  readonly leaseMs: number
  /** The last event that was there when the store was opened. */
  readonly after: number
}

/** A node among those that share the database. Its lease is renewed while it lives. */
export class PostgresCluster implements Cluster {
  readonly #options: ClusterOptions
  readonly #follower: Follower
  readonly #homes = new Map<string, string>()
  readonly #timers: readonly NodeJS.Timeout[]
  #refreshing: Promise<void> | null = null
  #next: Promise<void> | null = null

  constructor(options: ClusterOptions) {
    this.#options = options
    this.#follower = new Follower(options.after, (afterSeq, limit) => this.#readEvents(afterSeq, limit))
    this.#follower.listen((events) => this.#noticeAdoptions(events))
    const renew = setInterval(() => void this.#renew(), options.leaseMs / RENEWALS_PER_LEASE)
    const poll = setInterval(() => this.look(), POLL_MS)
    this.#timers = [renew, poll]
    for (const timer of this.#timers) timer.unref()
  }

  get nodeId(): string {
    return this.#options.lease.nodeId
  }

  /** Something may be new. */
  look(): void {
    this.#follower.catchUp().catch(() => undefined)
  }

  // A read that began before the call may have missed what came before it: the call waits for the next one.
  refresh(): Promise<void> {
    if (this.#refreshing === null) {
      this.#refreshing = this.#refreshNow().finally(() => {
        this.#refreshing = null
      })
      return this.#refreshing
    }
    this.#next ??= this.#refreshing
      .catch(() => undefined)
      .then(() => {
        this.#next = null
        return this.refresh()
      })
    return this.#next
  }

  async findHome(stream: string): Promise<string | null> {
    const known = this.#homes.get(stream)
    if (known !== undefined) return known || null
    const { rows } = await this.#ask('SELECT home FROM stream WHERE name = $1', [stream])
    if (rows.length === 0) return null
    this.#keepHome(stream, rows[0]?.home)
    return rows[0]?.home || null
  }

  isElsewhere(stream: string): boolean {
    const home = this.#homes.get(stream)
    return home !== undefined && home !== '' && home !== this.nodeId
  }

  follow(listener: (events: readonly StoredEvent[]) => void): void {
    this.#follower.listen(listener)
  }

  note(events: readonly StoredEvent[]): void {
    for (const { stream } of events) this.#keepHome(stream, stream === SYSTEM_STREAM ? '' : this.nodeId)
    this.#follower.note(events)
  }

  async announce(note: NodeNote): Promise<void> {
    const { pool, lease, key } = this.#options
    await announceNode(pool, { ...lease, key }, note)
  }

  listNodes() {
    return readNodes(this.#options.pool, this.#options.key).catch((error: unknown) => {
      throw toUnavailable(error, 'The nodes cannot be read now')
    })
  }

  async adopt(nodeId: string): Promise<number | 'alive' | 'unknown'> {
    const client = await this.#options.pool.connect().catch((error: unknown) => {
      throw toUnavailable(error, 'The nodes cannot be changed now')
    })
    try {
      const adopted = await adoptStreams(client, { from: nodeId, to: this.nodeId })
      if (typeof adopted === 'number') this.#moveHomes(nodeId, this.nodeId)
      return adopted
    } finally {
      client.release()
    }
  }

  async agreeOnSecrets(secrets: readonly string[]): Promise<void> {
    const { pool, key, lease } = this.#options
    const seals = secrets.map((secret) => createHmac('sha256', key).update(`signing secret ${secret}`).digest('hex'))
    const client = await pool.connect()
    try {
      await agreeOnSecrets(client, lease, seals)
    } catch (error) {
      throw toRefusal(error)
    } finally {
      client.release()
    }
  }

  /** Renews and reads nothing on its own any more. */
  pause(): void {
    for (const timer of this.#timers) clearInterval(timer)
  }

  async close(): Promise<void> {
    this.pause()
    await endLease(this.#options.pool, this.#options.lease).catch(() => undefined)
  }

  async #refreshNow(): Promise<void> {
    const { epoch } = this.#options.lease
    const sql = `SELECT h.count, n.epoch, n.expires_at > clock_timestamp() AS alive
      FROM ledger_head h LEFT JOIN node n ON n.id = $1`
    const found = (await this.#ask(sql, [this.nodeId])).rows[0]
    if (found?.epoch !== epoch) throw refuseReplaced(this.nodeId)
    if (found.alive !== true && !(await this.#renew())) throw refuseReplaced(this.nodeId)
    await this.#within(this.#follower.catchUpTo(found.count))
  }

  // True when the lease holds; if the database is away, the next call notices it.
  async #renew(): Promise<boolean> {
    try {
      return await this.#within(renewLease(this.#options.pool, this.#options.lease, this.#options.leaseMs))
    } catch {
      return false
    }
  }

  async #readEvents(afterSeq: number, limit: number): Promise<readonly StoredEvent[]> {
    const columns = EVENT_COLUMNS.split(', ').map((name) => `e.${name}`)
    const { rows } = await this.#ask(
      `SELECT ${columns.join(', ')}, s.home FROM event e JOIN stream s ON s.name = e.stream
       WHERE e.seq > $1 ORDER BY e.seq LIMIT $2`,
      [afterSeq, limit],
    )
    for (const { stream, home } of rows) this.#keepHome(stream, home)
    return rows.map(toStoredEvent)
  }

  #noticeAdoptions(events: readonly StoredEvent[]): void {
    for (const { stream, type, data } of events)
      if (stream === SYSTEM_STREAM && type === 'node_adopted') this.#moveHomes(String(data.node), String(data.by))
  }

  #moveHomes(from: string, to: string): void {
    for (const [stream, home] of this.#homes) if (home === from) this.#homes.set(stream, to)
  }

  #keepHome(stream: string, home: string): void {
    if (this.#homes.has(stream)) return
    if (this.#homes.size >= HOMES_MAX) this.#homes.delete(this.#homes.keys().next().value ?? '')
    this.#homes.set(stream, home)
  }

  async #ask(sql: string, values: readonly unknown[]) {
    try {
      return await this.#within(this.#options.pool.query(sql, [...values]))
    } catch (error) {
      throw toUnavailable(error, 'The ledger cannot be read now')
    }
  }

  /** A cut connection answers nothing at all: it is not waited for. */
  async #within<T>(work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      const error = new StoreUnavailable('PostgreSQL does not answer.')
      timer = setTimeout(() => reject(error), REFRESH_MS_MAX)
    })
    try {
      return await Promise.race([work, late])
    } finally {
      clearTimeout(timer)
    }
  }
}

function refuseReplaced(nodeId: string): StoreUnavailable {
  return new StoreUnavailable(`${nodeId} has lost its lease: another server runs as this node, or PostgreSQL was away.`)
}
