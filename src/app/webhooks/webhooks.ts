import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Webhook } from '../../core/contract/webhook.js'
import type { StoredEvent } from '../../store/store.js'
import { StoreUnavailable } from '../../store/store.js'
import type { App } from '../app.js'
import { type LaneMark, readCursors, writeCursors } from './cursor-file.js'
import { type Delivery, LANE_LIMITS, Lane, type LaneLimits } from './delivery-queue.js'

const PAGE = 500
const ARRIVED_MAX = 2_000
const SAVE_MS = 500
const IDLE_SAVE_MS = 2_000
/** Maximum number of addresses over all contracts. */
const LANES_MAX = 100

type WebhooksApp = Pick<App, 'ledger' | 'feed' | 'contracts' | 'stateDir' | 'now'>

/**
 * Webhooks: task events sent to the addresses that the contract names, signed, in order, at least once. Progress is
 * stored outside the ledger; after a crash some events are sent again, and none is lost.
 */
export class Webhooks {
  readonly #file: string
  readonly #lanes = new Map<string, Lane>()
  /** Addresses that cannot be used until their variable is set. */
  readonly #held = new Map<string, LaneMark>()
  #discovered = 0
  #arrived: StoredEvent[] = []
  #isLooking = false
  #isBehind = false
  #isClosed = false
  #isFullTold = false
  #saving: NodeJS.Timeout | null = null
  #stop: () => void = () => undefined

  constructor(
    private readonly app: WebhooksApp,
    private readonly environment: NodeJS.ProcessEnv,
    private readonly onFault: (error: unknown) => void,
    private readonly limits: LaneLimits = LANE_LIMITS,
  ) {
    this.#file = join(app.stateDir, 'webhooks.json')
  }

  async start(): Promise<void> {
    const known = readCursors(this.#file)
    const last = await this.app.ledger.store.lastSeq()
    this.#discovered = known?.discovered ?? last
    // Without an address there is nothing to find in what was missed.
    if (last - this.#discovered > PAGE && (await this.#collectEvents()).size === 0) this.#discovered = last
    for (const mark of known?.lanes ?? []) await this.#open(mark)
    // The start position of an address must be stored before its first event.
    if (known === null) this.#save()
    const { feed } = this.app
    const stops = [
      feed.subscribe(({ contract }) => {
        if (contract !== null) for (const lane of this.#lanes.values()) lane.wakeUp()
      }),
      feed.follow((event) => this.#keep(event)),
    ]
    this.#stop = () => {
      for (const stop of stops) stop()
    }
    void this.#discover()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#stop()
    await Promise.all([...this.#lanes.values()].map((lane) => lane.close()))
    if (this.#saving !== null) this.#save()
  }

  /** Every known address with its newest deliveries. Paths and queries of addresses may contain keys. */
  async list(): Promise<readonly WebhookStatus[]> {
    const events = await this.#collectEvents()
    const held = [...this.#held].map(([key, { url, secretEnvVar }]) => ({
      ...{ url: hidePath(url), events: [...(events.get(key) ?? [])], deliveries: [] },
      problem: `The variable ${secretEnvVar} with its signing secret is not set.`,
    }))
    const lanes = [...this.#lanes].map(([key, { receiver, deliveries }]) => {
      const last = deliveries.at(-1)
      const isWell = last === undefined || last.status === 'delivered'
      const problem = isWell ? null : `The last delivery failed: ${last.error}.`
      return { url: hidePath(receiver.url), events: [...(events.get(key) ?? [])], deliveries, problem }
    })
    return [...lanes, ...held]
  }

  /** Which events the known contracts send to each address. */
  async #collectEvents(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    const found = new Map<string, Set<string>>()
    for (const hash of this.app.ledger.registry.contracts.keys()) {
      const contract = await this.app.contracts.get(hash).catch(() => null)
      for (const { url, secretEnvVar, events } of contract?.webhooks ?? []) {
        const key = formatKey(url, secretEnvVar)
        found.set(key, new Set([...(found.get(key) ?? []), ...events]))
      }
    }
    return found
  }

  #keep(event: StoredEvent): void {
    // What is dropped is read from the store.
    if (this.#arrived.length >= ARRIVED_MAX) this.#arrived = []
    this.#arrived.push(event)
    if (event.contract !== null) void this.#discover()
  }

  /** The next events, if they are still in memory: reading all events again would cost as much as following them. */
  #takeArrived(): readonly StoredEvent[] | null {
    const arrived = this.#arrived
    this.#arrived = []
    const fresh = arrived.filter(({ seq }) => seq > this.#discovered)
    const isNext = fresh.every(({ seq }, index) => seq === this.#discovered + 1 + index)
    return fresh.length > 0 && isNext ? fresh : null
  }

  // Events are checked in order for addresses that are still unused.
  async #discover(): Promise<void> {
    this.#isBehind = true
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      while (this.#isBehind && !this.#isClosed) {
        const page = this.#takeArrived() ?? (await this.app.ledger.store.readAll(this.#discovered, PAGE))
        this.#isBehind = page.length === PAGE
        for (const event of page) {
          for (const { url, secretEnvVar } of await this.#hooksOf(event))
            await this.#open({ url, secretEnvVar, after: event.seq - 1 })
          this.#discovered = event.seq
        }
        if (page.length > 0) this.#saveSoon()
        // Reads of a local ledger never wait: requests would, until all of it is read.
        if (this.#isBehind) await nextTurn()
      }
    } catch (error) {
      if (!(error instanceof StoreUnavailable) && !this.#isClosed) this.onFault(error)
    } finally {
      this.#isLooking = false
    }
  }

  async #open({ url, secretEnvVar, after }: LaneMark): Promise<void> {
    const key = formatKey(url, secretEnvVar)
    if (this.#lanes.has(key) || this.#held.has(key) || this.#isClosed) return
    if (this.#lanes.size + this.#held.size >= LANES_MAX) return this.#tellFull(url)
    const secret = secretEnvVar === null ? null : (this.environment[secretEnvVar] ?? '')
    // Late is better than unsigned when a signature was promised: delivery waits for a start with the variable set.
    if (secret === '') {
      this.#held.set(key, { url, secretEnvVar, after })
      await this.#record(url, null, `the variable ${secretEnvVar} with its signing secret is not set`)
      return
    }
    const lane = new Lane({ url, secret, secretEnvVar }, after, {
      app: this.app,
      reachOf: async (event) => {
        const isFor = (await this.#hooksOf(event)).some((hook) => formatKey(hook.url, hook.secretEnvVar) === key)
        if (!isFor) return null
        return this.app.contracts.isTrusted(event.contract ?? '') ? 'any' : 'public'
      },
      moved: () => this.#saveSoon(),
      gaveUp: (event, reason) => this.#record(url, event.seq, reason),
      onFault: this.onFault,
      limits: this.limits,
    })
    this.#lanes.set(key, lane)
  }

  // Reported once: a contract with ever new addresses must not fill the ledger.
  async #tellFull(url: string): Promise<void> {
    if (this.#isFullTold) return
    this.#isFullTold = true
    await this.#record(
      url,
      null,
      `there are ${LANES_MAX} addresses already; it gets no notices until the server starts with fewer`,
    )
  }

  async #hooksOf(event: StoredEvent): Promise<readonly Webhook[]> {
    if (event.contract === null || !event.stream.startsWith('task:')) return []
    // The node that decides on the task sends its events, so that each is sent by one.
    if (await this.app.ledger.isElsewhere(event.stream)) return []
    const contract = await this.app.contracts.get(event.contract).catch(() => null)
    return (contract?.webhooks ?? []).filter((hook) => hook.events.includes(event.type))
  }

  // Addresses can contain a key in their path, so only the owner is written down.
  async #record(url: string, seq: number | null, reason: string): Promise<void> {
    const fact = { type: 'webhook_failed', origin: new URL(url).origin, seq, reason } as const
    await this.app.ledger.record(fact, { now: this.app.now(), actor: 'system' })
  }

  #saveSoon(): void {
    if (this.#saving !== null) return
    // Without an address nothing is lost: events after the stored place are looked at again.
    const isIdle = this.#lanes.size + this.#held.size === 0
    this.#saving = setTimeout(() => this.#save(), isIdle ? IDLE_SAVE_MS : SAVE_MS)
    this.#saving.unref()
  }

  #save(): void {
    if (this.#saving !== null) clearTimeout(this.#saving)
    this.#saving = null
    const lanes = [...this.#lanes.values()].map(({ receiver, after }) => ({
      url: receiver.url,
      secretEnvVar: receiver.secretEnvVar,
      after,
    }))
    try {
      writeCursors(this.#file, { discovered: this.#discovered, lanes: [...lanes, ...this.#held.values()] })
    } catch (error) {
      this.onFault(error)
    }
  }
}

export interface WebhookStatus {
  readonly url: string
  readonly events: readonly string[]
  readonly deliveries: readonly Delivery[]
  /** Why it does not get its events; null: it does. */
  readonly problem: string | null
}

function hidePath(url: string): string {
  const { origin, pathname, search } = new URL(url)
  return pathname === '/' && search === '' ? origin : `${origin}/…`
}

function formatKey(url: string, secretEnvVar: string | null): string {
  return JSON.stringify([url, secretEnvVar])
}
