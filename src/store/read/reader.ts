import { Worker } from 'node:worker_threads'
import { PACKAGE_ROOT } from '../../base/package-root.js'
import { type AuditFilter, StoreUnavailable } from '../store.js'

export type ReaderJob =
  | { readonly type: 'query'; readonly filter: AuditFilter }
  | { readonly type: 'stats' }
  | { readonly type: 'checkpoint' }
  | { readonly type: 'verify' }

export interface ToReader {
  readonly id: number
  readonly job: ReaderJob
}

export type FromReader =
  | { readonly id: number; readonly ok: true; readonly json: string }
  | { readonly id: number; readonly ok: false; readonly isRange: boolean; readonly message: string }

// These threads handle small rows: without a limit each keeps tens of megabytes of young objects.
const THREAD_MEMORY = { maxYoungGenerationSizeMb: 8 }
// Found from src/store (tests run the sources) and from dist/store alike; a thread can only run the built file.
const WORKER_FILE = new URL('dist/threads/reader-worker.cjs', PACKAGE_ROOT)
const WAITING_MAX = 1_000

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

/** The main thread's side of the reader thread, which runs reads of many rows. */
export class Reader {
  #worker: Worker | null = null
  #nextId = 1
  #waiting = new Map<number, Waiting>()
  readonly #dir: string

  constructor(dir: string) {
    this.#dir = dir
  }

  get isRunning(): boolean {
    return this.#worker !== null
  }

  perform<T>(job: ReaderJob): Promise<T> {
    if (this.#waiting.size >= WAITING_MAX) {
      return Promise.reject(new StoreUnavailable(`The ledger has ${this.#waiting.size} reads waiting; try again.`))
    }
    return new Promise<T>((resolve, reject) => {
      const id = this.#nextId++
      this.#waiting.set(id, { resolve: resolve as (value: unknown) => void, reject })
      this.#worker ??= this.#spawn()
      this.#worker.postMessage({ id, job } satisfies ToReader)
    })
  }

  async close(): Promise<void> {
    const worker = this.#worker
    this.#worker = null
    await worker?.terminate()
    this.#failAll('The ledger was closed.')
  }

  #spawn(): Worker {
    const worker = new Worker(WORKER_FILE, {
      workerData: { dir: this.#dir },
      execArgv: [],
      resourceLimits: THREAD_MEMORY,
    })
    worker.unref()
    let cause: unknown = null
    worker.on('message', (answer: FromReader) => this.#settle(answer))
    worker.on('error', (error) => {
      cause = error
    })
    worker.on('exit', () => {
      if (this.#worker !== worker) return
      this.#worker = null
      this.#failAll(`The ledger reader stopped: ${String(cause)}`)
    })
    return worker
  }

  #settle(answer: FromReader): void {
    const waiting = this.#waiting.get(answer.id)
    this.#waiting.delete(answer.id)
    if (answer.ok) waiting?.resolve(JSON.parse(answer.json))
    else if (answer.isRange) waiting?.reject(new RangeError(answer.message))
    else waiting?.reject(new StoreUnavailable(`The ledger cannot be read now: ${answer.message}`))
  }

  #failAll(message: string): void {
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const { reject } of waiting) reject(new StoreUnavailable(message))
  }
}
