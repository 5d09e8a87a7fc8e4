import { KeyedLock } from '../../base/keyed-lock.js'

const WRITES_MAX = 100_000

/** Running tools by task: a phase is not left while one of them could still write. */
export class Running {
  readonly #tasks = new Map<string, Set<RunningTool>>()
  readonly #trees = new KeyedLock()
  readonly #writes = new Map<string, string[]>()
  /** Keys of calls that run now. */
  readonly #calls = new Set<string>()
  #isClosed = false

  /** Runs a tool of a task. The signal fires when it must end. */
  async run<T>(taskId: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const abort = new AbortController()
    if (this.#isClosed) abort.abort()
    const running = this.#tasks.get(taskId) ?? new Set()
    this.#tasks.set(taskId, running)
    const done = work(abort.signal)
    const one: RunningTool = { abort, done: done.catch(ignore) }
    running.add(one)
    try {
      return await done
    } finally {
      running.delete(one)
      if (running.size === 0) this.#tasks.delete(taskId)
    }
  }

  /** Runs a call under its key. */
  async runCall<T>(once: CallKey | undefined, work: () => Promise<T>): Promise<T> {
    if (once === undefined) return work()
    const id = formatCallKey(once)
    this.#calls.add(id)
    try {
      return await work()
    } finally {
      this.#calls.delete(id)
    }
  }

  isCallRunning(once: CallKey): boolean {
    return this.#calls.has(formatCallKey(once))
  }

  /** Whether a tool of the task runs now. */
  isBusy(taskId: string): boolean {
    return this.#tasks.has(taskId)
  }

  /** One command at a time per work tree, so that none sees another's changes arrive. */
  async inTree<T>(tree: string, work: () => Promise<T>): Promise<T> {
    try {
      return await this.#trees.run(tree, work)
    } finally {
      if (!this.#trees.isHeld(tree)) this.#writes.delete(tree)
    }
  }

  /** Tracks what file tools write while commands run in the tree. */
  recordWrites(tree: string, paths: readonly string[]): void {
    if (this.#trees.isHeld(tree))
      this.#writes.set(tree, [...(this.#writes.get(tree) ?? []), ...paths].slice(-WRITES_MAX))
  }

  /** Number of writes in the tree so far; read when a command starts. */
  listWrites(tree: string, since = 0): readonly string[] {
    return (this.#writes.get(tree) ?? []).slice(since)
  }

  /** Waits for the tools of a task, and stops those that take too long. Afterwards none of them runs. */
  async settle(taskId: string, waitMs: number): Promise<void> {
    const all = Promise.all([...(this.#tasks.get(taskId) ?? [])].map((one) => one.done))
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, waitMs)
    })
    await Promise.race([all, late])
    clearTimeout(timer)
    this.end(taskId)
    await all
  }

  /** Stops the tools of a task that was taken away from its agent. */
  end(taskId: string): void {
    for (const one of this.#tasks.get(taskId) ?? []) one.abort.abort()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const all = [...this.#tasks.values()].flatMap((running) => [...running])
    for (const one of all) one.abort.abort()
    await Promise.all(all.map((one) => one.done))
  }
}

interface CallKey {
  readonly principal: string
  readonly key: string
}

function formatCallKey({ principal, key }: CallKey): string {
  return JSON.stringify([principal, key])
}

interface RunningTool {
  readonly abort: AbortController
  readonly done: Promise<unknown>
}

// The failure is reported to the caller that started the tool.
function ignore(): null {
  return null
}
