import { raceAbort } from '../or-aborted.js'
import type { Connection } from './connection.js'
import { UpstreamFailure } from './failure.js'
import { discardChanges } from './line.js'
import type { PoolLimits } from './pool-limits.js'

/** Which server in which tree; equal keys mean the same server. */
interface Slot {
  readonly key: string
  readonly tree: string
}

/** A connection for one call. `release` must be called once; `broken` servers are ended and not used again. */
interface Lease {
  readonly connection: Connection
  /** It existed before this call. */
  readonly isReused: boolean
  release(how: 'whole' | 'broken'): void
}

interface KeptConnection extends Slot {
  readonly opening: Promise<Connection>
  /** Fires when nobody waits for the start any more. */
  readonly gaveUp: AbortController
  connection: Connection | null
  calls: number
  usedAt: number
  idle: NodeJS.Timeout | null
  isRetired: boolean
}

/** Servers that are kept between calls: bounded in number, ended when idle, restarted after they died. */
export class Pool {
  private readonly kept = new Map<string, KeptConnection>()
  private readonly endings = new Set<Promise<void>>()
  private clock = 0

  constructor(private readonly limits: PoolLimits) {}

  async take(slot: Slot, open: (signal: AbortSignal) => Promise<Connection>, signal: AbortSignal): Promise<Lease> {
    const known = this.kept.get(slot.key)
    if (known !== undefined && known.connection?.isOpen === false) this.retire(known, 'now')
    const one = this.kept.get(slot.key) ?? this.add(slot, open)
    const isReused = one.connection !== null
    if (one.calls >= this.limits.callsMax)
      throw new UpstreamFailure(`is working on ${this.limits.callsMax} calls already`, false)
    one.calls += 1
    if (one.idle !== null) clearTimeout(one.idle)
    try {
      const connection = await raceAbort(one.opening, signal)
      return { connection, isReused, release: (how) => this.release(one, how) }
    } catch (error) {
      this.release(one, 'whole')
      throw signal.aborted ? new UpstreamFailure('did not start in time', false, error) : error
    }
  }

  /** New calls in the tree get new servers. Servers of running calls end now, or with their last call. */
  endTree(tree: string, when: 'idle' | 'now'): void {
    for (const one of [...this.kept.values()]) if (one.tree === tree) this.retire(one, when)
  }

  async close(): Promise<void> {
    for (const one of [...this.kept.values()]) this.retire(one, 'now')
    await Promise.all(this.endings)
  }

  private add(slot: Slot, open: (signal: AbortSignal) => Promise<Connection>): KeptConnection {
    this.makeRoom()
    const gaveUp = new AbortController()
    const opening = open(AbortSignal.any([gaveUp.signal, AbortSignal.timeout(this.limits.startMs)]))
    const fresh = { connection: null, calls: 0, usedAt: 0, idle: null, isRetired: false }
    const one: KeptConnection = { ...slot, opening, gaveUp, ...fresh }
    this.kept.set(slot.key, one)
    opening.then(
      (connection) => {
        one.connection = connection
      },
      () => this.forget(one),
    )
    return one
  }

  private makeRoom(): void {
    if (this.kept.size < this.limits.serversMax) return
    const [oldest] = [...this.kept.values()].filter(({ calls }) => calls === 0).sort((a, b) => a.usedAt - b.usedAt)
    if (oldest === undefined)
      throw new UpstreamFailure(`cannot be started: ${this.limits.serversMax} servers are running already`, false)
    this.retire(oldest, 'now')
  }

  private release(one: KeptConnection, how: 'whole' | 'broken'): void {
    one.calls -= 1
    this.clock += 1
    one.usedAt = this.clock
    if (how === 'broken') this.retire(one, 'now')
    else if (one.calls === 0 && one.isRetired) this.end(one)
    else if (one.calls === 0) one.idle = setTimeout(() => this.retire(one, 'now'), this.limits.idleMs).unref()
  }

  private retire(one: KeptConnection, when: 'idle' | 'now'): void {
    this.forget(one)
    one.isRetired = true
    if (when === 'now' || one.calls === 0) this.end(one)
  }

  private forget(one: KeptConnection): void {
    if (one.idle !== null) clearTimeout(one.idle)
    if (this.kept.get(one.key) === one) this.kept.delete(one.key)
  }

  private end(one: KeptConnection): void {
    if (one.connection === null) one.gaveUp.abort()
    const ending = one.opening
      .then((connection) => connection.end('now'))
      .then(discardChanges)
      // A server that never started need not be ended; its caller was told.
      .catch(() => undefined)
      .finally(() => this.endings.delete(ending))
    this.endings.add(ending)
  }
}
