import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { StoredEvent } from '../../store/store.js'
import { StoreUnavailable } from '../../store/store.js'
import type { App } from '../app.js'
import { type DeliveryOptions, deliver, type Receiver } from './delivery.js'

const PAGE = 200
const BACKOFF_MS_MAX = 300_000
const STORE_RETRY_MS = 1000

export interface LaneLimits {
  readonly attemptsMax: number
  readonly backoffMs: number
}

/** Twelve attempts over about forty minutes. */
export const LANE_LIMITS: LaneLimits = { attemptsMax: 12, backoffMs: 1000 }

interface LaneParts {
  readonly app: Pick<App, 'ledger' | 'now'>
  /** The request that sends the event to this address; null: the event is not sent there. */
  readonly reachOf: (event: StoredEvent) => Promise<DeliveryOptions['reach'] | null>
  readonly moved: () => void
  readonly gaveUp: (event: StoredEvent, reason: string) => Promise<void>
  readonly limits: LaneLimits
  readonly onFault: (error: unknown) => void
}

/** An event that was sent to an address, or is being sent. */
export interface Delivery {
  readonly at: number
  readonly event: string
  readonly seq: number
  readonly status: 'delivered' | 'retrying' | 'failed'
  readonly attempts: number
  /** Never contains the address. */
  readonly error: string | null
}

const DELIVERIES_KEPT_MAX = 20

/** Sends the events for one address in order, each until it is delivered or given up. */
export class Lane {
  #isKicked = true
  #wake: () => void = () => undefined
  readonly #abort = new AbortController()
  readonly #running: Promise<void>
  /** The newest ones since the server started, oldest first. */
  deliveries: readonly Delivery[] = []

  constructor(
    readonly receiver: Receiver & { readonly secretEnvVar: string | null },
    public after: number,
    private readonly parts: LaneParts,
  ) {
    this.#running = this.#run().catch(parts.onFault)
  }

  /** Checks for new events. */
  wakeUp(): void {
    this.#isKicked = true
    this.#wake()
  }

  async close(): Promise<void> {
    this.#abort.abort()
    this.#wake()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort
    while (!signal.aborted) {
      try {
        await this.#sendPage()
      } catch (error) {
        if (!(error instanceof StoreUnavailable) && !signal.aborted) throw error
        await this.#pause(STORE_RETRY_MS)
      }
    }
  }

  async #sendPage(): Promise<void> {
    const { signal } = this.#abort
    this.#isKicked = false
    const page = await this.parts.app.ledger.store.readAll(this.after, PAGE)
    for (const event of page) {
      const reach = await this.parts.reachOf(event)
      if (reach !== null) await this.#send(event, reach)
      if (signal.aborted) return
      this.after = event.seq
      this.parts.moved()
    }
    // Without a turn for others, requests would wait until a receiver that is far behind has caught up.
    if (page.length === PAGE || this.#isKicked) return nextTurn()
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      if (this.#isKicked || signal.aborted) resolve()
    })
  }

  async #send(event: StoredEvent, reach: DeliveryOptions['reach']): Promise<void> {
    const { attemptsMax, backoffMs } = this.parts.limits
    const ended = this.#abort.signal
    for (let attempt = 1; !ended.aborted; attempt += 1) {
      const problem = await deliver(this.receiver, event, { now: this.parts.app.now(), ended, reach })
      if (ended.aborted) return
      const isOver = problem !== null && (problem.isFinal || attempt >= attemptsMax)
      const status = problem === null ? 'delivered' : isOver ? 'failed' : 'retrying'
      this.#note(event, { status, attempts: attempt, error: problem?.reason ?? null })
      if (problem === null) return
      if (problem.isFinal) return this.parts.gaveUp(event, problem.reason)
      if (isOver) return this.parts.gaveUp(event, `${attempt} attempts; the last: ${problem.reason}`)
      await this.#pause(Math.min(BACKOFF_MS_MAX, backoffMs * 2 ** (attempt - 1)))
    }
  }

  #note({ seq, type }: StoredEvent, outcome: Pick<Delivery, 'status' | 'attempts' | 'error'>): void {
    const others = this.deliveries.filter((one) => one.seq !== seq).slice(1 - DELIVERIES_KEPT_MAX)
    this.deliveries = [...others, { at: this.parts.app.now(), event: type, seq, ...outcome }]
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#abort.signal }).catch(() => undefined)
  }
}
