import type { Code } from '../../core/codes.js'
import type { Ledger } from './ledger.js'

const PER_MINUTE_MAX = 60
const MINUTE_MS = 60_000
const CALLERS_MAX = 10_000
const DETAIL_CHARS_MAX = 500
const PATH_CHARS_MAX = 300

interface RefusedCall {
  readonly code: Code
  readonly detail: string
  readonly method: string
  readonly path: string
  readonly actor: string
  readonly taskId?: string
}

/** Maximum per minute for each caller; the rest is only counted. */
export class Quota {
  #minute = 0
  readonly #taken = new Map<string, number>()
  #suppressed = 0

  constructor(private readonly perMinuteMax: number) {}

  admit(caller: string, now: number): boolean {
    const minute = Math.floor(now / MINUTE_MS)
    if (minute !== this.#minute || this.#taken.size > CALLERS_MAX) {
      this.#minute = minute
      this.#taken.clear()
    }
    const taken = this.#taken.get(caller) ?? 0
    if (taken >= this.perMinuteMax) {
      this.#suppressed += 1
      return false
    }
    this.#taken.set(caller, taken + 1)
    return true
  }

  /** How many exceeded the maximum since the last call. */
  takeSuppressed(): number {
    const count = this.#suppressed
    this.#suppressed = 0
    return count
  }
}

/**
 * Records refusals that belong to no task: sixty a minute for each caller and for all unauthenticated callers together,
 * then one summary, so that requests cannot fill the disk.
 */
export class RefusalLog {
  readonly #quota = new Quota(PER_MINUTE_MAX)
  #flushedMinute = 0

  constructor(
    private readonly ledger: Ledger,
    private readonly now: () => number,
  ) {}

  async record(refused: RefusedCall): Promise<void> {
    const now = this.now()
    const minute = Math.floor(now / MINUTE_MS)
    if (minute !== this.#flushedMinute) {
      this.#flushedMinute = minute
      await this.flush()
    }
    if (!this.#quota.admit(refused.actor, now)) return
    await this.ledger.record(
      {
        type: 'request_refused',
        code: refused.code,
        detail: refused.detail.slice(0, DETAIL_CHARS_MAX),
        method: refused.method,
        path: refused.path.slice(0, PATH_CHARS_MAX),
        success: false,
        taskId: refused.taskId ?? null,
      },
      { now, actor: refused.actor },
    )
  }

  /** Writes a summary of the refusals that were only counted. */
  async flush(): Promise<void> {
    const count = this.#quota.takeSuppressed()
    if (count === 0) return
    await this.ledger.record(
      { type: 'requests_refused', count, seconds: MINUTE_MS / 1000 },
      { now: this.now(), actor: 'system' },
    )
  }
}
