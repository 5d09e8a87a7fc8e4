/** When checkpoints are written: on request, every N events, and at the end. One runs, at most one waits. */
export interface Checkpoints {
  startAt(seq: number): void
  onAppended(lastSeq: number): void
  /** Resolves when a checkpoint that covers everything acknowledged before the call is on disk. */
  request(): Promise<void>
  /** Writes the last one; a fault is left for the next start, because the events themselves are safe. */
  finish(): Promise<void>
}

// Under load every batch would otherwise request one, and their fsyncs would compete with those of the appends.
const PAUSE_MS = 500

export function createCheckpoints(options: {
  readonly every: number
  readonly write: () => Promise<number>
}): Checkpoints {
  let isStarted = false
  let covered = 0
  let last = 0
  let running: Promise<void> | null = null
  let waiting: Promise<void> | null = null
  let timer: NodeJS.Timeout | null = null

  async function write(): Promise<void> {
    covered = last
    try {
      await options.write()
    } finally {
      running = null
    }
  }

  function request(): Promise<void> {
    if (running === null) {
      running = write()
      return running
    }
    // A running one may have begun before the newest event: all callers meanwhile share one more.
    waiting ??= running.catch(ignoreEarlier).then(() => {
      waiting = null
      running ??= write()
      return running
    })
    return waiting
  }

  return {
    startAt(seq) {
      isStarted = true
      covered = seq
      last = seq
    },
    onAppended(seq) {
      last = seq
      if (timer !== null || seq - covered < options.every) return
      request().catch(ignoreEarlier)
      timer = setTimeout(() => {
        timer = null
        if (last - covered >= options.every) request().catch(ignoreEarlier)
      }, PAUSE_MS).unref()
    },
    request,
    async finish() {
      if (timer !== null) clearTimeout(timer)
      if (isStarted) await request().catch(ignoreEarlier)
    },
  }
}

/** The next checkpoint makes up for a failed one, because it covers its events too. */
function ignoreEarlier(_fault: unknown): undefined {
  return undefined
}
