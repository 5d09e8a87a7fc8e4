import { Signals } from '../councils/signals.js'
import { EXIT, Stop } from '../exit.js'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Does work that a signal ends gracefully: started processes are ended and removed before the program stops. */
export async function runUntilInterrupted<T extends object>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const before = SIGNALS.map((signal) => [signal, process.listeners(signal)] as const)
  const signals = new Signals()
  const ending = new AbortController()
  signals.onFirst(() => ending.abort())
  try {
    // A terminal sends the signal to the sandbox too: an aborted run is then not a fault.
    const result = await work(ending.signal).catch((error: unknown) => {
      if (!ending.signal.aborted) throw error
      return null
    })
    if (ending.signal.aborted || result === null) throw new Stop(EXIT.interrupted, 'Interrupted; nothing was written.')
    return result
  } finally {
    signals.close()
    for (const [signal, listeners] of before) for (const listener of listeners) process.on(signal, listener)
  }
}

/** Shows on a terminal that work is in progress, and for how long. */
export async function showProgress<T>(label: string, isQuiet: boolean, work: () => Promise<T>): Promise<T> {
  if (isQuiet || process.stderr.isTTY !== true) return work()
  const startedAt = Date.now()
  const show = (): void => {
    process.stderr.write(`\r\u001B[K${label} ... ${Math.round((Date.now() - startedAt) / 1000)} s (Ctrl-C stops it)`)
  }
  show()
  const timer = setInterval(show, 1000)
  try {
    return await work()
  } finally {
    clearInterval(timer)
    process.stderr.write('\r\u001B[K')
  }
}
