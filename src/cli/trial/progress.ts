import { Signals } from '../councils/signals.js'
import { EXIT, Stop } from '../exit.js'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Does work that a signal ends gracefully: started processes are ended and removed before the program stops.
 * `describe` says how far the work got.
 */
export async function runUntilInterrupted<T extends object>(
  work: (signal: AbortSignal) => Promise<T>,
  describe: () => string = () => '',
): Promise<T> {
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
    if (ending.signal.aborted || result === null) {
      const progress = describe()
      const more = progress === '' ? '' : ` ${progress}.`
      throw new Stop(EXIT.interrupted, `Interrupted; nothing was written.${more}`)
    }
    return result
  } finally {
    signals.close()
    for (const [signal, listeners] of before) for (const listener of listeners) process.on(signal, listener)
  }
}

/** Shows on a terminal that work is in progress, and for how long. `describe` says more on a line below. */
export async function showProgress<T>(
  label: string,
  isQuiet: boolean,
  work: () => Promise<T>,
  describe: () => string = () => '',
): Promise<T> {
  if (isQuiet || process.stderr.isTTY !== true) return work()
  const startedAt = Date.now()
  let erase = ERASE_LINE
  const show = (): void => {
    const head = `${label} ... ${Math.round((Date.now() - startedAt) / 1000)} s (Ctrl-C stops it)`
    const more = describe()
    process.stderr.write(`${erase}${cutToWidth(head)}${more === '' ? '' : `\n${cutToWidth(`  ${more}`)}`}`)
    erase = more === '' ? ERASE_LINE : `${ERASE_LINE}\u001B[A${ERASE_LINE}`
  }
  show()
  const timer = setInterval(show, 1000)
  try {
    return await work()
  } finally {
    clearInterval(timer)
    process.stderr.write(erase)
  }
}

const ERASE_LINE = '\r\u001B[K'

// A line that the terminal breaks could not be erased whole.
function cutToWidth(line: string): string {
  const { columns = 0 } = process.stderr
  return columns === 0 || line.length < columns ? line : `${line.slice(0, columns - 2)}…`
}
