import { evolve } from '../../core/task/evolve.js'
import type { TaskState } from '../../core/task/state.js'
import type { Store, StoredEvent } from '../../store/store.js'
import { isArchived, toTaskEvent } from '../wire.js'

const STATES_MAX = 5000
const PAGE = 1000

/**
 * The newest decided state of a task (`tip`, perhaps not on disk yet) and the newest durable one. Decisions use the
 * first, answers the second.
 */
export interface Entry {
  tip: TaskState
  durable: TaskState
  /** The lease last written to the task's row. */
  rowLease: number
  /** Decisions in sequence, each made on the one before: when one is not written, the store refuses the later ones. */
  readonly line: number
  /** The newest write, while it is under way. */
  writing: Promise<unknown> | null
}

/** Cached states of recently used tasks, folded from their streams. */
export class Entries {
  readonly #entries = new Map<string, Promise<Entry | null>>()

  constructor(private readonly store: Store) {}

  delete(taskId: string): void {
    this.#entries.delete(taskId)
  }

  get(taskId: string): Promise<Entry | null> {
    const known = this.#entries.get(taskId)
    if (known !== undefined) {
      // The order of use only matters when the cache is nearly full.
      if (this.#entries.size > STATES_MAX / 2) {
        this.#entries.delete(taskId)
        this.#entries.set(taskId, known)
      }
      return known
    }
    const loading = this.#load(taskId)
    this.#keep(taskId, loading)
    loading.then(
      (entry) => {
        if (entry === null) this.#entries.delete(taskId)
      },
      () => this.#entries.delete(taskId),
    )
    return loading
  }

  /** Notes a write of the entry while it is under way. */
  async track<T>(entry: Entry, writing: Promise<T>): Promise<T> {
    entry.writing = writing
    try {
      return await writing
    } finally {
      if (entry.writing === writing) entry.writing = null
    }
  }

  /** Waits for the newest write of a task. False: none was under way. */
  async settle(taskId: string): Promise<boolean> {
    const writing = (await this.get(taskId))?.writing ?? null
    // Who wrote it hears of a failure.
    await writing?.catch(() => undefined)
    return writing !== null
  }

  /** Another node has appended to the stream of a task. */
  follow(event: StoredEvent): void {
    const taskId = event.stream.replace(/^task:/, '')
    const known = this.#entries.get(taskId)
    if (known === undefined || formatStream(taskId) !== event.stream) return
    this.#keep(
      taskId,
      known.then((entry) => {
        if (entry === null || entry.durable.version >= event.version) return entry
        if (entry.durable.version !== event.version - 1) return this.#load(taskId)
        return makeEntry(evolve(entry.durable, toTaskEvent(event)))
      }),
    )
  }

  async #load(taskId: string): Promise<Entry | null> {
    let state: TaskState | null = null
    for (;;) {
      const page: readonly StoredEvent[] = await this.store.readStream(formatStream(taskId), state?.version ?? 0, PAGE)
      if (page[0] !== undefined && isArchived(page[0])) return null
      for (const stored of page) state = evolve(state, toTaskEvent(stored))
      if (page.length < PAGE) break
    }
    return state === null ? null : makeEntry(state)
  }

  #keep(taskId: string, entry: Promise<Entry | null>): void {
    if (this.#entries.size >= STATES_MAX) this.#entries.delete(this.#entries.keys().next().value ?? '')
    this.#entries.set(taskId, entry)
  }
}

let nextLine = 1

/** A number that no other sequence of decisions has. */
export function makeLine(): number {
  nextLine += 1
  return nextLine
}

function makeEntry(state: TaskState): Entry {
  return { tip: state, durable: state, rowLease: 0, line: makeLine(), writing: null }
}

export function formatStream(taskId: string): string {
  return `task:${taskId}`
}
