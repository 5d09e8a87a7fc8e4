import { statfs } from 'node:fs/promises'
import { StoreUnavailable } from '../store/store.js'
import type { App } from './app.js'
import { observeAppends } from './ledger/append-stats.js'

const FREE_BYTES_MIN = 8 * 1024 * 1024
const PROBE_EVERY_MS = 1_000
const ANSWER_MS_MAX = 3_000
// Belongs to no stream: only the answer of the probe is kept, for a day.
const NO_STREAM = 'readiness-probe'

export type Readiness = { readonly isReady: true } | { readonly isReady: false; readonly status: string }

/** Whether the server can work: its store answers, takes appends and has room for them, and its sandbox is open. */
export class ReadinessCheck {
  #probedAt = 0

  constructor(private readonly app: Pick<App, 'ledger' | 'stateDir' | 'now' | 'isSandboxOpen'>) {}

  async check(): Promise<Readiness> {
    const { store } = this.app.ledger
    try {
      if (!(await hasRoom(this.app.stateDir))) return { isReady: false, status: 'disk_full' }
      await within<unknown>(this.app.ledger.cluster?.refresh() ?? store.lastSeq())
      if (observeAppends(store).isFailing) await this.#probe()
      if (observeAppends(store).isFailing) return { isReady: false, status: 'store_unavailable' }
      return this.app.isSandboxOpen() ? { isReady: true } : { isReady: false, status: 'sandbox_unavailable' }
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
      return { isReady: false, status: 'store_unavailable' }
    }
  }

  // After a failed append nothing may be written for a while: a write of its own finds out whether the fault is gone.
  async #probe(): Promise<void> {
    const now = this.app.now()
    if (now - this.#probedAt < PROBE_EVERY_MS) return
    this.#probedAt = now
    const remember = { principal: 'system', key: `readiness-${now}`, bodyHash: '', status: 200, answer: null }
    await within(this.app.ledger.writeTo({ stream: NO_STREAM, expectedVersion: 0, events: [], remember }))
  }
}

async function hasRoom(dir: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(dir)
  return bavail * bsize >= FREE_BYTES_MIN
}

function within<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new StoreUnavailable('The store does not answer.')), ANSWER_MS_MAX)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
