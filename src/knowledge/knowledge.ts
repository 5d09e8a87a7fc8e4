import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { PACKAGE_ROOT } from '../base/package-root.js'
import { sha256Hex } from '../base/sha256.js'
import type { EmbedderChoice } from './embedder.js'
import type { FromThread, Job, SearchAnswer, Setup, Status, ToThread } from './protocol.js'
import type { SearchRequest } from './search.js'
import type { Refreshed } from './sources.js'

interface KnowledgeOptions {
  readonly stateDir: string
  /** The work tree to search. */
  readonly root: string
  /** Globs relative to the root. */
  readonly sources: readonly string[]
  /** Documents of phases: from the end of the path to the phases. */
  readonly owners?: Readonly<Record<string, readonly string[]>>
  /** Paths that agents may not read; only the documents of phases are found there. */
  readonly hidden?: readonly string[]
  readonly embedder?: EmbedderChoice
  readonly isWatching?: boolean
}

/** Search over the documents of a work tree. It is for reading and decides nothing. */
export interface Knowledge {
  search(request: SearchRequest): Promise<SearchAnswer>
  status(): Promise<Status>
  /** Reads the tree now instead of when the watcher reports a change. */
  refresh(): Promise<Refreshed>
  /** Waits until everything can be found by meaning too, if there is a model. */
  settle(): Promise<void>
  close(): Promise<void>
}

/** The thread died or takes too long. */
export class KnowledgeUnavailable extends Error {
  override readonly name = 'KnowledgeUnavailable'
}

const WORKER_FILE = new URL('dist/program/knowledge-worker.js', PACKAGE_ROOT)
const THREAD_MEMORY = { maxOldGenerationSizeMb: 512 }
const WAITING_MAX = 256
const SEARCH_MS_MAX = 15_000
const CLOSE_MS_MAX = 5_000
/** A document that kills the thread must not keep the machine busy restarting it. */
const RESTART_MS = 5_000

export function openKnowledge(options: KnowledgeOptions): Knowledge {
  const { root, sources, owners = {}, hidden = [] } = options
  const folder = join(options.stateDir, 'knowledge')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const name = sha256Hex(JSON.stringify([root, sources, owners, hidden])).slice(0, 16)
  const thread = new Thread({
    file: join(folder, `${name}.db`),
    sources: { root, patterns: sources, owners, hidden },
    embedder: options.embedder ?? { type: 'packaged', folder: null },
    isWatching: options.isWatching ?? true,
  })
  thread.start()
  return {
    search: (request) => thread.perform<SearchAnswer>({ type: 'search', request }, SEARCH_MS_MAX),
    status: () => thread.perform<Status>({ type: 'status' }, SEARCH_MS_MAX),
    refresh: () => thread.perform<Refreshed>({ type: 'refresh' }, null),
    settle: () => thread.perform<void>({ type: 'settle' }, null),
    close: () => thread.close(),
  }
}

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
  readonly timer: NodeJS.Timeout | null
}

class Thread {
  readonly #setup: Setup
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | null = null
  #startedAt = Number.NEGATIVE_INFINITY
  #nextId = 1
  #isClosed = false

  constructor(setup: Setup) {
    this.#setup = setup
  }

  start(): void {
    this.#startedAt = performance.now()
    const worker = new Worker(WORKER_FILE, { workerData: this.#setup, execArgv: [], resourceLimits: THREAD_MEMORY })
    worker.unref()
    this.#worker = worker
    let cause: unknown = null
    worker.on('message', (answer: FromThread) => this.#settle(answer))
    worker.on('error', (error) => {
      cause = error
    })
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = null
      this.#failAll(`the knowledge thread stopped: ${String(cause)}`)
    })
  }

  perform<T>(job: Job, msMax: number | null): Promise<T> {
    if (this.#isClosed) return Promise.reject(new KnowledgeUnavailable('the knowledge index is closed'))
    if (this.#waiting.size >= WAITING_MAX)
      return Promise.reject(new KnowledgeUnavailable(`${this.#waiting.size} searches are waiting`))
    if (this.#worker === null) {
      if (performance.now() - this.#startedAt < RESTART_MS)
        return Promise.reject(new KnowledgeUnavailable('the knowledge thread stopped and is not started again yet'))
      this.start()
    }
    return this.#send<T>(job, msMax)
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    const worker = this.#worker
    if (worker === null) return
    // The thread ends what it is doing; one that does not is terminated.
    await this.#send({ type: 'close' }, CLOSE_MS_MAX).catch(() => undefined)
    await worker.terminate()
  }

  #send<T>(job: Job, msMax: number | null): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const id = this.#nextId++
      const late = (): void => {
        this.#waiting.delete(id)
        reject(new KnowledgeUnavailable(`the knowledge index did not answer within ${msMax} ms`))
      }
      const timer = msMax === null ? null : setTimeout(late, msMax)
      this.#waiting.set(id, { resolve: resolve as (value: unknown) => void, reject, timer })
      this.#worker?.postMessage({ id, job } satisfies ToThread)
    })
  }

  #settle(answer: FromThread): void {
    const waiting = this.#waiting.get(answer.id)
    if (waiting === undefined) return
    this.#waiting.delete(answer.id)
    if (waiting.timer !== null) clearTimeout(waiting.timer)
    if (answer.ok) waiting.resolve(answer.value)
    else waiting.reject(new KnowledgeUnavailable(answer.message))
  }

  #failAll(message: string): void {
    for (const [id, { reject, timer }] of this.#waiting) {
      this.#waiting.delete(id)
      if (timer !== null) clearTimeout(timer)
      reject(new KnowledgeUnavailable(message))
    }
  }
}
