import { createHmac, type KeyObject } from 'node:crypto'
import type { Pool, QueryConfig } from 'pg'
import { type Cluster, type NodeNote, type NodeRow, type ReachableNode, SYSTEM_STREAM } from '../cluster.js'
import type { SharedTreesNote } from '../shared-trees/shared-folder.js'
import { type StoredEvent, StoreUnavailable } from '../store.js'
import { EVENT_COLUMNS, toStoredEvent } from '../wire.js'
import { toRefusal, toUnavailable } from './connect.js'
import { Follower } from './follower.js'
import {
  adoptStreams,
  agreeOnSecrets,
  DATABASE_CLOCK,
  endLease,
  leaveNodes,
  type NodeLease,
  renewLease,
} from './node-lease.js'
import { announceNode, declareSharedTrees, readNodes, takeTree } from './node-notes.js'

const FOLLOW = `SELECT ${EVENT_COLUMNS.split(', ').map((name) => `e.${name}`)}, s.home
  FROM event e JOIN stream s ON s.name = e.stream WHERE e.seq > $1 ORDER BY e.seq LIMIT $2`
const RENEWALS_PER_LEASE = 4
const REFRESH_MS_MAX = 4_000
const POLL_MS = 1_000
const HOMES_MAX = 50_000
const LOOK_MS = 200
const NOTICE_MS = 10
const WAIT_MS_MAX = 60_000
const WAITING_MAX = 2_000

interface ClusterOptions {
  readonly pool: Pool
  readonly key: KeyObject
  readonly lease: NodeLease
  readonly leaseMs: number
  /** The last event that was there when the store was opened. */
  readonly after: number
  /** What the clock of the database said then. */
  readonly now: number
}

/** A node among those that share the database. Its lease is renewed while it lives. */
export class PostgresCluster implements Cluster {
  readonly #options: ClusterOptions
  readonly #follower: Follower
  readonly #homes = new Map<string, string>()
  readonly #timers: readonly NodeJS.Timeout[]
  #clock: { readonly database: number; readonly own: number }
  #refreshing: Promise<void> | null = null
  #next: Promise<void> | null = null
  #nextNodes: Promise<readonly NodeRow[]> | null = null
  #waiting = 0
  #looking: NodeJS.Timeout | null = null
  #settling: () => Promise<void> | null = () => null

  constructor(options: ClusterOptions) {
    this.#options = options
    this.#clock = { database: options.now, own: performance.now() }
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

  // Counted on by a clock that nobody can set.
  now(): number {
    return Math.floor(this.#clock.database + performance.now() - this.#clock.own)
  }

  /** `settling`: the writer of this process, while its newest events may be visible and are not acknowledged yet. */
  attachWriter(settling: () => Promise<void> | null): void {
    this.#settling = settling
  }

  /** Something may be new. A busy node has several notices while it reads: they share a read. */
  look(): void {
    this.#looking ??= setTimeout(() => {
      this.#looking = null
      this.#follower.catchUp().catch(() => undefined)
    }, NOTICE_MS)
    this.#looking.unref()
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
    const text = 'SELECT home FROM stream WHERE name = $1'
    const { rows } = await this.#ask({ name: 'home', text, values: [stream] })
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

  async declareSharedTrees(note: SharedTreesNote | null): Promise<void> {
    const { pool, lease, key } = this.#options
    await declareSharedTrees(pool, { ...lease, key }, note)
  }

  // Renewed if it has ended: a node that was adopted or started again has another epoch.
  async confirmLease(): Promise<void> {
    if (!(await this.#renew())) throw refuseReplaced(this.nodeId)
  }

  async takeTree(folderId: string, tree: string): Promise<string> {
    const { pool, lease } = this.#options
    const home = await this.#within(takeTree(pool, lease, { folderId, tree }))
    if (home === null) throw refuseReplaced(this.nodeId)
    return home
  }

  async leave(returnMs: number): Promise<void> {
    const { pool, lease } = this.#options
    // If the database is away, no node answers anything.
    await this.#within(leaveNodes(pool, lease, returnMs)).catch(() => undefined)
  }

  async awaitNode(id: string, tried?: number): Promise<ReachableNode | null> {
    const deadline = performance.now() + WAIT_MS_MAX
    const isWaiting = this.#waiting < WAITING_MAX
    this.#waiting += 1
    try {
      for (let nodes = await this.listNodes(); ; nodes = await this.#listNodesSoon()) {
        const node = nodes.find((one) => one.id === id)
        if (node?.isAlive === true && node.url !== null && node.epoch !== tried) return { ...node, url: node.url }
        const isExpected = node !== undefined && (node.isReturning || node.isAlive)
        if (!isExpected || !isWaiting || performance.now() > deadline) return null
      }
    } finally {
      this.#waiting -= 1
    }
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

  // Calls that wait at the same time share the reads.
  #listNodesSoon(): Promise<readonly NodeRow[]> {
    this.#nextNodes ??= new Promise((resolve) => setTimeout(resolve, LOOK_MS))
      .then(() => this.listNodes())
      .finally(() => {
        this.#nextNodes = null
      })
    return this.#nextNodes
  }

  /** Renews and reads nothing on its own any more. */
  pause(): void {
    for (const timer of this.#timers) clearInterval(timer)
    if (this.#looking !== null) clearTimeout(this.#looking)
  }

  async close(): Promise<void> {
    this.pause()
    await endLease(this.#options.pool, this.#options.lease).catch(() => undefined)
  }

  async #refreshNow(): Promise<void> {
    const { epoch } = this.#options.lease
    const text = `SELECT h.count, n.epoch, n.expires_at > clock_timestamp() AS alive, ${DATABASE_CLOCK} AS now
      FROM ledger_head h LEFT JOIN node n ON n.id = $1`
    const [found] = (await this.#ask({ name: 'refresh', text, values: [this.nodeId] })).rows
    if (found?.epoch !== epoch) throw refuseReplaced(this.nodeId)
    this.#clock = { database: Number(found.now), own: performance.now() }
    if (found.alive !== true && !(await this.#renew())) throw refuseReplaced(this.nodeId)
    await this.#within(this.#catchUpTo(found.count))
  }

  // Events of this process come from its own writer; reading them again would cost as much as writing them.
  async #catchUpTo(seq: number): Promise<void> {
    if (this.#follower.last < seq) await this.#settling()
    await this.#follower.catchUpTo(seq)
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
    const { rows } = await this.#ask({ name: 'follow', text: FOLLOW, values: [afterSeq, limit] })
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

  async #ask(query: QueryConfig) {
    try {
      return await this.#within(this.#options.pool.query(query))
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
