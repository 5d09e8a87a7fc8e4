import { EXIT } from '../exit.js'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
// One Ctrl-C reaches a process several times when npm and the terminal both forward it.
const SAME_SIGNAL_MS = 300

/** Stop signals: the first stops gracefully, the second ends the program at once. */
export class Signals {
  #firstAt: number | null = null
  #onFirst: (() => void) | null = null
  readonly #hear = (): void => this.#signalled()

  constructor() {
    for (const signal of SIGNALS) {
      // For all other commands a signal ends the program at once.
      process.removeAllListeners(signal)
      process.on(signal, this.#hear)
    }
  }

  /** The action of the first signal; run now if the signal has arrived already. */
  onFirst(work: () => void): void {
    this.#onFirst = work
    if (this.#firstAt !== null) work()
  }

  close(): void {
    for (const signal of SIGNALS) process.off(signal, this.#hear)
  }

  #signalled(): void {
    const now = Date.now()
    if (this.#firstAt === null) {
      this.#firstAt = now
      this.#onFirst?.()
    } else if (now - this.#firstAt > SAME_SIGNAL_MS) process.exit(EXIT.interrupted)
  }
}
