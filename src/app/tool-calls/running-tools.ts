const WRITES_MAX = 100_000

/** Tools that run now, by task: a phase is not left while one of them could still write. */
export class Running {
  readonly #tasks = new Map<string, Set<RunningTool>>()
  readonly #trees = new Map<string, Promise<unknown>>()
  readonly #writes = new Map<string, string[]>()
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

  /** Whether a tool of the task runs now. */
  isBusy(taskId: string): boolean {
    return this.#tasks.has(taskId)
  }

  /** One command at a time for each work tree: none sees another's changes arrive underneath it. */
  async inTree<T>(tree: string, work: () => Promise<T>): Promise<T> {
    const before = this.#trees.get(tree) ?? Promise.resolve()
    const mine = before.then(work, work)
    const settled = mine.catch(ignore)
    this.#trees.set(tree, settled)
    try {
      return await mine
    } finally {
      if (this.#trees.get(tree) === settled) {
        this.#trees.delete(tree)
        this.#writes.delete(tree)
      }
    }
  }

  /** Remembers what file tools wrote while commands run in the tree. */
  recordWrites(tree: string, paths: readonly string[]): void {
    if (this.#trees.has(tree)) this.#writes.set(tree, [...(this.#writes.get(tree) ?? []), ...paths].slice(-WRITES_MAX))
  }

  /** How much was written in the tree so far; to be asked when a command starts. */
  listWrites(tree: string, since = 0): readonly string[] {
    return (this.#writes.get(tree) ?? []).slice(since)
  }

  /** Waits for the tools of a task, and ends those that take too long. Afterwards none of them runs. */
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

  /** Ends the tools of a task that was taken away from its agent. */
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

interface RunningTool {
  readonly abort: AbortController
  readonly done: Promise<unknown>
}

// Whoever started the tool gets its failure.
function ignore(): null {
  return null
}
