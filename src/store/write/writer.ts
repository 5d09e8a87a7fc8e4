import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { PACKAGE_ROOT } from '../../base/package-root.js'
import { type Append, type AppendResult, StoreRefused, StoreUnavailable } from '../store.js'
import { type FromWriter, type ToWriter, toWireAppend, type WireAppend, type WireResult } from '../wire.js'
import { countChars, type Pending, settle } from './pending-append.js'

// These threads handle small rows: without a limit each keeps tens of megabytes of young objects.
const THREAD_MEMORY = { maxYoungGenerationSizeMb: 8 }
// Found from src/store (tests run the sources) and from dist/store alike; a thread can only run the built file.
const THREADS = new URL('dist/threads/', PACKAGE_ROOT)
const SQLITE_THREAD = { file: 'writer-worker.cjs', data: {} }
const PENDING_MAX = 10_000
const PENDING_CHARS_MAX = 64 * 1024 * 1024
const MESSAGE_APPENDS_MAX = 256
const RESTART_PAUSE_MS = 250
// A hanging disk must not keep the process from ending.
const CLOSE_MS_MAX = 30_000

interface WriterOptions {
  readonly dir: string
  /** The file of the thread, and what it needs beside the directory. */
  readonly thread?: { readonly file: string; readonly data: object }
  readonly now: () => number
  readonly onAppended: (lastSeq: number) => void
}

/** The main thread's side of the writer thread: queues, bounds the queue, and starts the thread again when it dies. */
export class Writer {
  #worker: Worker | null = null
  #starting: Promise<void> | null = null
  #startedAt = 0
  #nextId = 1
  #pending = new Map<number, Pending>()
  #pendingChars = 0
  #outbox: WireAppend[] = []
  #isFlushing = false
  #isClosed = false
  #stopped: (() => void) | null = null
  #settling: Promise<void> | null = null
  #endSettling: () => void = () => undefined
  readonly #options: WriterOptions
  /** Transactions that carried events, over the life of this process. */
  batches = 0

  constructor(options: WriterOptions) {
    this.#options = options
  }

  /** While events of this process may be visible in the database and are not acknowledged yet: until they are. */
  get settling(): Promise<void> | null {
    return this.#settling
  }

  append(append: Append): Promise<AppendResult> {
    if (this.#isClosed) return Promise.reject(new StoreUnavailable('The ledger is closed.'))
    if (this.#pending.size >= PENDING_MAX || this.#pendingChars >= PENDING_CHARS_MAX) {
      return Promise.reject(new StoreUnavailable(`The ledger has ${this.#pending.size} appends waiting; try again.`))
    }
    return new Promise((resolve, reject) => {
      const id = this.#nextId++
      const wire = toWireAppend(append, id, this.#options.now())
      const chars = countChars(wire)
      this.#pending.set(id, { append, chars, resolve, reject })
      this.#pendingChars += chars
      this.#outbox.push(wire)
      if (this.#isFlushing) return
      this.#isFlushing = true
      // Once per turn of the event loop: all requests that arrived together are sent in one message.
      setImmediate(() => this.#flush())
    })
  }

  /** Rejects when the thread cannot open the ledger. */
  async start(): Promise<void> {
    this.#starting ??= this.#spawn().finally(() => {
      this.#starting = null
    })
    await this.#starting
  }

  /** Everything that was accepted is answered first. */
  async close(): Promise<void> {
    this.#isClosed = true
    const deadline = performance.now() + CLOSE_MS_MAX
    while (this.#pending.size > 0 && performance.now() < deadline) await sleep(1)
    const worker = this.#worker
    if (worker === null) return
    this.#worker = null
    const stopped = new Promise<void>((resolve) => {
      this.#stopped = resolve
    })
    worker.postMessage({ type: 'stop' } satisfies ToWriter)
    await Promise.race([stopped, sleep(CLOSE_MS_MAX, undefined, { ref: false })])
    await worker.terminate()
  }

  /** Ends the thread at once, as a crash would. */
  async kill(): Promise<void> {
    await this.#worker?.terminate()
  }

  #flush(): void {
    this.#isFlushing = false
    if (this.#worker === null) {
      this.#restart()
      return
    }
    const outbox = this.#outbox
    this.#outbox = []
    for (let start = 0; start < outbox.length; start += MESSAGE_APPENDS_MAX) {
      const json = JSON.stringify(outbox.slice(start, start + MESSAGE_APPENDS_MAX))
      this.#worker.postMessage({ type: 'appends', json } satisfies ToWriter)
    }
  }

  /**
   * Waiting appends are sent when the thread is ready, or fail with it. A thread that dies at once is not restarted in
   * a loop.
   */
  #restart(): void {
    if (this.#starting !== null) return
    if (performance.now() - this.#startedAt < RESTART_PAUSE_MS) {
      this.#failAll('The ledger writer stopped and is starting again.')
      return
    }
    this.start().then(
      () => this.#flush(),
      (error: unknown) => this.#failAll(`The ledger writer cannot start: ${String(error)}`),
    )
  }

  #spawn(): Promise<void> {
    this.#startedAt = performance.now()
    const { dir, thread = SQLITE_THREAD } = this.#options
    return new Promise((resolve, reject) => {
      const worker = new Worker(new URL(thread.file, THREADS), {
        workerData: { dir, ...thread.data },
        execArgv: [],
        resourceLimits: THREAD_MEMORY,
      })
      let cause: unknown = null
      worker.on('message', (message: FromWriter) => {
        if (message.type === 'results') this.#settle(JSON.parse(message.json) as WireResult[], message)
        else if (message.type === 'committing') this.#beginSettling()
        else if (message.type === 'stopped') this.#stopped?.()
        else if (message.type === 'refused') reject(new StoreRefused(message.code, message.message))
        else {
          this.#worker = worker
          resolve()
        }
      })
      worker.on('error', (error) => {
        cause = error
      })
      worker.on('exit', () => {
        if (this.#worker === worker) this.#worker = null
        this.#stopped?.()
        this.#failAll(`The ledger writer stopped: ${String(cause)}`)
        reject(new StoreUnavailable(`The ledger writer stopped: ${String(cause)}`, { cause }))
      })
    })
  }

  #settle(results: readonly WireResult[], report: { readonly lastSeq: number; readonly batches: number }): void {
    this.batches = report.batches
    for (const result of results) {
      const pending = this.#pending.get(result.id)
      if (pending === undefined) continue
      this.#pending.delete(result.id)
      this.#pendingChars -= pending.chars
      settle(pending, result)
    }
    this.#options.onAppended(report.lastSeq)
    this.#finishSettling()
  }

  #beginSettling(): void {
    this.#settling ??= new Promise((resolve) => {
      this.#endSettling = resolve
    })
  }

  #finishSettling(): void {
    const end = this.#endSettling
    this.#settling = null
    // Those who appended hear of it first.
    setImmediate(end)
  }

  #failAll(message: string): void {
    this.#finishSettling()
    this.#outbox = []
    const pending = [...this.#pending.values()]
    this.#pending.clear()
    this.#pendingChars = 0
    for (const { reject } of pending) reject(new StoreUnavailable(message))
  }
}
