import { evolveTaskRun, NO_TASK_RUN, type TaskRun } from '../../core/task/task-run.js'
import { buildTaskStatus, type TaskRunStatus } from '../../core/task/task-status.js'
import { formatStream } from '../ledger/entries.js'
import type { StoredEvent } from '../ledger/feed.js'
import type { Resources } from '../resources.js'
import { toTaskEvent } from '../wire.js'
import { runFolder } from './run-files.js'

export const TASK_STREAM = 'task:'
const PAGE = 1000
/** Maximum number of cached folds, so that a change only costs its new events. */
const KEPT_MAX = 5000
/** Maximum number of attempts in all cached folds; some hundred bytes each. */
const ATTEMPTS_KEPT_MAX = 100_000
/** Cached folds of finished runs, in case somebody looks again. */
const OVER_KEPT_MAX = 16
const TRIES_MAX = 3
const STARTS_LOOKED_AT_MAX = 10_000

interface Fold {
  run: TaskRun
  walked: Promise<void>
}

/** A run by when it began. */
interface Started {
  readonly id: string
  readonly startedAt: number
}

/** Status of tasks, folded from their streams. Can be discarded at any time. */
export class TaskRuns {
  /** Least recently used first. */
  readonly #folds = new Map<string, Fold>()
  readonly #over = new Set<string>()
  #attempts = 0
  #newest: Started | null = null
  #isNewestKnown = false

  constructor(private readonly about: Pick<Resources, 'ledger' | 'contracts' | 'now' | 'checking'>) {}

  /** Number of cached folds, and of the attempts in them. */
  get kept(): { readonly folds: number; readonly attempts: number } {
    return { folds: this.#folds.size, attempts: this.#attempts }
  }

  /** The current status of a task; null when the id is unknown or nobody has claimed it yet. */
  async readTaskStatus(taskId: string): Promise<TaskRunStatus | null> {
    const { ledger, contracts, now, checking } = this.about
    let state = await ledger.read(taskId)
    if (state === null) return null
    let { run } = this.#use(taskId)
    // State and fold must be of the same moment; if the task changes too fast, its next change is reported anyway.
    for (let tries = 0; tries < TRIES_MAX && run.version !== state.version; tries += 1) {
      run = await this.#walk(taskId)
      state = (await ledger.read(taskId)) ?? state
    }
    this.#settle(taskId, state.status === 'completed' || state.status === 'cancelled')
    const contract = await contracts.get(state.contract.hash)
    return buildTaskStatus(state, run, {
      now: now(),
      phases: contract.phases.size,
      logDir: runFolder(taskId),
      isChecking: checking.isChecking(taskId),
    })
  }

  /** The most recently started task. */
  async findNewest(): Promise<Started | null> {
    if (!this.#isNewestKnown) {
      const found = await this.#lastStart()
      this.#isNewestKnown = true
      if (found !== null) this.#started(found)
    }
    return this.#newest
  }

  /** Folds new durable events, so that they need not be read again, and tracks the newest started task. */
  see(event: StoredEvent): void {
    if (isStart(event)) this.#started(startOf(event))
    const fold = this.#folds.get(parseTaskId(event))
    if (fold !== undefined) this.#add(parseTaskId(event), fold, [event])
  }

  #started(one: Started): void {
    if (this.#newest === null || one.startedAt >= this.#newest.startedAt) this.#newest = one
  }

  async #lastStart(): Promise<Started | null> {
    let cursor: string | null = null
    for (let looked = 0; looked < STARTS_LOOKED_AT_MAX; looked += PAGE) {
      const filter = { type: 'phase_entered', limit: PAGE }
      const page = await this.about.ledger.store.query(cursor === null ? filter : { ...filter, cursor })
      const found = page.items.find(isStart)
      if (found !== undefined) return startOf(found)
      cursor = page.nextCursor
      if (cursor === null) break
    }
    return null
  }

  #use(taskId: string): Fold {
    const fold = this.#folds.get(taskId) ?? { run: NO_TASK_RUN, walked: Promise.resolve() }
    this.#folds.delete(taskId)
    this.#folds.set(taskId, fold)
    return fold
  }

  async #walk(taskId: string): Promise<TaskRun> {
    const fold = this.#use(taskId)
    // A caller that asks during another's pass waits for it, even if it fails, and continues where it stopped.
    const goOn = (): Promise<void> => this.#foldOn(taskId, fold)
    fold.walked = fold.walked.then(goOn, goOn)
    await fold.walked
    return fold.run
  }

  async #foldOn(taskId: string, fold: Fold): Promise<void> {
    for (;;) {
      const page = await this.about.ledger.store.readStream(formatStream(taskId), fold.run.version, PAGE)
      this.#add(taskId, fold, page)
      if (page.length < PAGE) return
    }
  }

  // Events come from the feed and from the store: each is folded once, in order.
  #add(taskId: string, fold: Fold, events: readonly StoredEvent[]): void {
    let { run } = fold
    for (const stored of events) if (stored.version === run.version + 1) run = evolveTaskRun(run, toTaskEvent(stored))
    if (this.#folds.get(taskId) === fold) this.#attempts += run.attemptsKept - fold.run.attemptsKept
    fold.run = run
  }

  #settle(taskId: string, isOver: boolean): void {
    if (isOver) this.#over.add(taskId)
    else this.#over.delete(taskId)
    for (const id of this.#over) {
      if (this.#over.size <= OVER_KEPT_MAX) break
      this.#forget(id)
    }
    for (const id of this.#folds.keys()) {
      if (this.#folds.size <= KEPT_MAX && this.#attempts <= ATTEMPTS_KEPT_MAX) break
      this.#forget(id)
    }
  }

  #forget(taskId: string): void {
    this.#attempts -= this.#folds.get(taskId)?.run.attemptsKept ?? 0
    this.#folds.delete(taskId)
    this.#over.delete(taskId)
  }
}

// Only the first entry has no previous phase.
function isStart({ type, data }: StoredEvent): boolean {
  return type === 'phase_entered' && data.from === null
}

function startOf(event: StoredEvent): Started {
  return { id: parseTaskId(event), startedAt: event.at }
}

function parseTaskId({ stream }: StoredEvent): string {
  return stream.startsWith(TASK_STREAM) ? stream.slice(TASK_STREAM.length) : ''
}
