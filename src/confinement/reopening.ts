import type { ConfinedCommand, Confinement, Job } from './confinement.js'

/** The sandbox is closed for the moment: the process that makes its mounts has ended, and the next one is not ready. */
export class SandboxUnavailable extends Error {
  override readonly name = 'SandboxUnavailable'
}

class SandboxEnded extends SandboxUnavailable {}

/** A sandbox and the process that it depends on. */
export interface OpenedSandbox {
  readonly confinement: Confinement
  readonly isAlive: () => boolean
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>
}

// The last pause is repeated: a machine that is short of memory may recover later.
const PAUSES_MS = [0, 250, 1_000, 4_000, 15_000, 60_000] as const
/** How long a command waits for a sandbox that is being opened again. */
const WAIT_MS_MAX = 15_000
const REPORTED_MS = 200

/**
 * A sandbox that is opened again when the process behind it has ended, and proved again before it is used. Meanwhile no
 * command is started.
 */
export class ReopeningSandbox implements Confinement {
  readonly provider
  readonly missing
  readonly notes
  #current: OpenedSandbox
  /** Resolves when the sandbox is open again or was closed; null while it is open. */
  #reopening: Promise<void> | null = null
  #problem = ''
  readonly #closing = new AbortController()

  constructor(
    first: OpenedSandbox,
    private readonly open: () => Promise<OpenedSandbox>,
  ) {
    const { provider, missing, notes } = first.confinement
    this.provider = provider
    this.missing = missing
    this.notes = notes
    this.#current = first
    this.#watch(first)
  }

  isOpen(): boolean {
    return this.#reopening === null && this.#current.isAlive()
  }

  async start(job: Job): Promise<ConfinedCommand> {
    try {
      return await this.#start(job)
    } catch (error) {
      // Nothing has run: the command is started in the next one.
      if (error instanceof SandboxEnded) return this.#start(job)
      throw error
    }
  }

  async #start(job: Job): Promise<ConfinedCommand> {
    await this.#awaitOpen(job.signal)
    const current = this.#current
    const fail = async (error: unknown): Promise<never> => {
      // The end of a process is reported a moment later than its effects.
      await Promise.race([current.ended, pause(REPORTED_MS, job.signal)])
      if (current.isAlive()) throw error
      throw new SandboxEnded('The process that makes the sandboxes ended meanwhile; nothing was kept.')
    }
    const command = await current.confinement.start(job).catch(fail)
    const done = command.done.catch(fail)
    // Whoever started the command may not wait for its end.
    done.catch(() => undefined)
    return { ...command, done }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#reopening
    await this.#current.confinement.close()
  }

  #watch(opened: OpenedSandbox): void {
    void opened.ended.then(() => {
      if (this.#closing.signal.aborted || this.#current !== opened) return
      this.#reopening ??= this.#reopen().finally(() => {
        this.#reopening = null
      })
    })
  }

  async #awaitOpen(signal: AbortSignal): Promise<void> {
    // The process may have ended a moment ago: its end is reported in the next turn.
    if (this.#reopening === null && !this.#current.isAlive()) await this.#current.ended
    if (this.#reopening !== null) await Promise.race([this.#reopening, pause(WAIT_MS_MAX, signal)])
    if (this.isOpen()) return
    const why = this.#problem === '' ? 'it is being started again' : `it could not be started again: ${this.#problem}`
    throw new SandboxUnavailable(`The process that makes the sandboxes has ended, and ${why}.`)
  }

  async #reopen(): Promise<void> {
    const { signal } = this.#closing
    // Commands that still run in the old one end with an error.
    await this.#current.confinement.close().catch(() => undefined)
    for (let tries = 0; !signal.aborted; tries += 1) {
      await pause(PAUSES_MS[Math.min(tries, PAUSES_MS.length - 1)] ?? 0, signal)
      if (signal.aborted) return
      const opened = await this.open()
      const [lacking] = opened.confinement.missing
      if (lacking === undefined && opened.isAlive()) {
        this.#problem = ''
        this.#current = opened
        this.#watch(opened)
        return
      }
      this.#problem = lacking?.found ?? 'it ended again'
      await opened.confinement.close()
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    timer.unref()
    signal.addEventListener('abort', end)
  })
}
