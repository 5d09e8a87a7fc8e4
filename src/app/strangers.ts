import type { Code } from '../core/codes.js'
import type { Ledger } from './handle.js'

const PER_MINUTE_MAX = 60
const MINUTE_MS = 60_000
const DETAIL_CHARS_MAX = 500
const PATH_CHARS_MAX = 300

export interface Refused {
  readonly code: Code
  readonly detail: string
  readonly method: string
  readonly path: string
  readonly actor: string
  readonly taskId?: string
}

/**
 * Records refusals that belong to no task. Those without a valid principal are bounded: sixty a minute, then one summary,
 * so that nobody can fill the disk by knocking.
 */
export class RefusalLog {
  #minute = 0
  #recorded = 0
  #suppressed = 0

  constructor(
    private readonly ledger: Ledger,
    private readonly now: () => number,
  ) {}

  async record(refused: Refused): Promise<void> {
    const now = this.now()
    if (refused.actor === 'stranger' && !(await this.#admit(now))) return
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

  /** Writes the summary of what was not written one by one. */
  async flush(): Promise<void> {
    const count = this.#suppressed
    if (count === 0) return
    this.#suppressed = 0
    await this.ledger.record(
      { type: 'requests_refused', count, seconds: MINUTE_MS / 1000 },
      { now: this.now(), actor: 'system' },
    )
  }

  async #admit(now: number): Promise<boolean> {
    const minute = Math.floor(now / MINUTE_MS)
    if (minute !== this.#minute) {
      this.#minute = minute
      this.#recorded = 0
      await this.flush()
    }
    if (this.#recorded >= PER_MINUTE_MAX) {
      this.#suppressed += 1
      return false
    }
    this.#recorded += 1
    return true
  }
}
