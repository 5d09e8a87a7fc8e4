import { constants, type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256Hex } from '../../base/sha256.js'
import type { JsonObject } from '../../core/json.js'

export const STATUS_FILE = 'status.json'
const RUNS_FOLDER = 'runs'
const TEMPORARY_FILE = 'status.json.new'
const REST_MS = 250
/** With many busy runs the pauses get longer, so that status files do not slow down the work. */
const REST_MS_PER_RUN = 10
const REST_MS_MAX = 2500
const RETRY_MS = 2000
const WRITERS_MAX = 4
/** Runs that changed and whose files are not written yet; those beyond the maximum wait for their next change. */
const RUNS_MAX = 10_000
const FLUSH_ROUNDS_MAX = 3
const FLUSH_MS_MAX = 10_000
const NAME_CHARS_MAX = 200

/** Builds the status of a run just before it is written; null: nothing to write. */
type StatusSource = () => Promise<JsonObject | null> | JsonObject | null

interface Entry {
  /** Pending writes. */
  pending: StatusSource | null
  state: 'queued' | 'writing' | 'resting'
  timer: NodeJS.Timeout | null
  hasFailed: boolean
}

/**
 * `status.json` of runs, one folder per run: the first change is written at once, then at most every 250 ms, and the
 * last one always. Files are replaced atomically. A failing disk stops no run: it is reported once, and retried.
 */
export class RunFiles {
  readonly folder: string
  readonly #entries = new Map<string, Entry>()
  readonly #queue: string[] = []
  #writers = 0
  #failing = 0
  #isClosed = false
  readonly #idle: (() => void)[] = []

  constructor(
    stateDir: string,
    private readonly onFault: (error: unknown) => void,
  ) {
    this.folder = join(stateDir, RUNS_FOLDER)
  }

  /** Runs written recently or waiting to be written. */
  get size(): number {
    return this.#entries.size
  }

  put(id: string, status: StatusSource): void {
    if (this.#isClosed) return
    const known = this.#entries.get(id)
    if (known !== undefined) {
      known.pending = status
      return
    }
    if (this.#entries.size >= RUNS_MAX) return
    this.#entries.set(id, { pending: status, state: 'queued', timer: null, hasFailed: false })
    this.#queue.push(id)
    this.#next()
  }

  /** Writes everything that is pending, without the pause; resolves when that was tried. */
  async flush(): Promise<void> {
    const deadline = Date.now() + FLUSH_MS_MAX
    for (let round = 0; round < FLUSH_ROUNDS_MAX && Date.now() < deadline; round += 1) {
      for (const [id, entry] of this.#entries) if (entry.state === 'resting') this.#wake(id, entry)
      if (this.#writers === 0 && this.#queue.length === 0) return
      await this.#untilIdle(deadline)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.flush()
    for (const { timer } of this.#entries.values()) if (timer !== null) clearTimeout(timer)
    this.#entries.clear()
    this.#queue.length = 0
  }

  #untilIdle(deadline: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.max(0, deadline - Date.now()))
      this.#idle.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  #next(): void {
    while (this.#writers < WRITERS_MAX) {
      const id = this.#queue.shift()
      if (id === undefined) break
      const entry = this.#entries.get(id)
      if (entry === undefined) continue
      this.#writers += 1
      void this.#write(id, entry).finally(() => {
        this.#writers -= 1
        this.#next()
      })
    }
    if (this.#writers === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }

  async #write(id: string, entry: Entry): Promise<void> {
    const source = entry.pending
    entry.pending = null
    entry.state = 'writing'
    let restMs = Math.min(REST_MS_MAX, Math.max(REST_MS, this.#entries.size * REST_MS_PER_RUN))
    try {
      const status = (await source?.()) ?? null
      if (status !== null) await writeStatus(join(this.folder, runFolderName(id)), status)
      if (entry.hasFailed) this.#failing -= 1
      entry.hasFailed = false
    } catch (error) {
      entry.pending ??= source
      restMs = RETRY_MS
      this.#failed(id, entry, error)
    }
    entry.state = 'resting'
    entry.timer = setTimeout(() => this.#wake(id, entry), restMs)
    entry.timer.unref()
  }

  #failed(id: string, entry: Entry, cause: unknown): void {
    if (!entry.hasFailed) this.#failing += 1
    const isFirst = !entry.hasFailed && this.#failing === 1
    entry.hasFailed = true
    const why = (cause as { code?: string } | null)?.code ?? (cause instanceof Error ? cause.name : 'unknown')
    const text = `${STATUS_FILE} of run ${id} cannot be written (${why}); Phaselock tries again, and work continues`
    if (isFirst) this.onFault(new Error(text, { cause }))
  }

  // A run that changed during the pause is written again; one that did not is dropped.
  #wake(id: string, entry: Entry): void {
    if (entry.timer !== null) clearTimeout(entry.timer)
    entry.timer = null
    if (entry.pending === null) {
      if (this.#entries.get(id) === entry) this.#entries.delete(id)
      return
    }
    entry.state = 'queued'
    this.#queue.push(id)
    this.#next()
  }
}

const PLAIN = /^[A-Za-z0-9_.-]+$/

/** The path of a run's status file relative to the state directory, because answers do not reveal where that is. */
export function runFolder(id: string): string {
  return `${RUNS_FOLDER}/${runFolderName(id)}`
}

/** The folder name of a run: its id, unless that is not a valid or unique folder name. */
export function runFolderName(id: string): string {
  if (id.length <= NAME_CHARS_MAX && PLAIN.test(id) && id !== '.' && id !== '..') return id
  const bytes = [...Buffer.from(id, 'utf8')].slice(0, NAME_CHARS_MAX)
  const isShort = Buffer.byteLength(id) * 3 <= NAME_CHARS_MAX && id !== ''
  // Plain ids contain no `%`, so this is never the folder of another run.
  return isShort ? bytes.map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('') : `%${sha256Hex(id)}`
}

/** The run id of a folder name; null if the name does not reveal it. */
export function runOfFolder(name: string): string | null {
  if (!name.includes('%')) return runFolderName(name) === name ? name : null
  const id = Buffer.from(name.replaceAll('%', ''), 'hex').toString('utf8')
  return runFolderName(id) === name ? id : null
}

async function writeStatus(folder: string, status: JsonObject): Promise<void> {
  const temporary = join(folder, TEMPORARY_FILE)
  try {
    await writeInto(folder, temporary, `${JSON.stringify(status, null, 2)}\n`)
    await rename(temporary, join(folder, STATUS_FILE))
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined)
    throw error
  }
}

// The folder exists except at the first write.
async function writeInto(folder: string, path: string, text: string): Promise<void> {
  try {
    await writeWhole(path, text)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await writeWhole(path, text)
  }
}

const FRESH = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW

async function writeWhole(path: string, text: string): Promise<void> {
  let file: FileHandle | null = null
  try {
    file = await open(path, FRESH, 0o600)
    await file.writeFile(text)
  } finally {
    await file?.close()
  }
}
