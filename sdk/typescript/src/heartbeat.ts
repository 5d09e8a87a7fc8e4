import { isObject, textOf } from './json.js'

const MS_MIN = 500
const MS_MAX = 5 * 60_000
const BEATS_PER_LEASE = 3

/** Repeats a call until it is stopped. Never keeps a finished program alive. */
export class Heartbeat {
  #timer: ReturnType<typeof setTimeout> | null = null

  /** Returns whether to beat again. */
  start(everyMs: number, beat: () => Promise<boolean>): void {
    this.stop()
    const timer = setTimeout(() => {
      void beat().then((isWanted) => {
        if (isWanted && this.#timer === timer) this.start(everyMs, beat)
      })
    }, everyMs)
    // Only Node's timers keep a program running.
    if (typeof timer === 'object' && 'unref' in timer) timer.unref()
    this.#timer = timer
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }
}

/** Three beats per lease, so that two may be lost. The lease is computed from the server's own timestamps. */
export function beatMs(task: unknown): number {
  const { lease_expires_at, updated_at } = isObject(task) ? task : {}
  const leaseMs = Date.parse(textOf(lease_expires_at) ?? '') - Date.parse(textOf(updated_at) ?? '')
  return Number.isFinite(leaseMs) ? Math.min(MS_MAX, Math.max(MS_MIN, leaseMs / BEATS_PER_LEASE)) : MS_MAX
}
