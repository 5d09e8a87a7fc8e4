import { evolveTaskRun, NO_TASK_RUN, type TaskRun } from '../../core/task/task-run.js'
import { buildTaskStatus, type TaskRunStatus } from '../../core/task/task-status.js'
import type { App } from '../app.js'
import { formatStream } from '../ledger/entries.js'
import type { StoredEvent } from '../ledger/feed.js'
import { toTaskEvent } from '../wire.js'
import { runFolder } from './run-files.js'

export const TASK_STREAM = 'task:'
const PAGE = 1000
/** Tasks whose folds are kept, so that a change costs only what is new. */
const KEPT_MAX = 5000
/** Attempts in all kept folds together: some hundred bytes each. */
const ATTEMPTS_KEPT_MAX = 100_000
/** Folds of runs that are over: somebody may look again. */
const OVER_KEPT_MAX = 16
const TRIES_MAX = 3
const STARTS_LOOKED_AT_MAX = 10_000

interface Fold {
  run: TaskRun
  walked: Promise<void>
}

/** A run by when it began. */
export interface Started {
  readonly id: string
  readonly startedAt: number
}

/** Tasks as runs: what `status.json` says of them, folded from their streams. It can be thrown away. */
export class TaskRuns {
  /** The one used longest ago comes first. */
  readonly #folds = new Map<string, Fold>()
  readonly #over = new Set<string>()
  #attempts = 0
  #newest: Started | null = null
  #isNewestKnown = false

  constructor(private readonly about: Pick<App, 'ledger' | 'contracts' | 'now' | 'checking'>) {}

  /** Folds that are kept now, and the attempts in them. */
  get kept(): { readonly folds: number; readonly attempts: number } {
    return { folds: this.#folds.size, attempts: this.#attempts }
  }

  /** The status of a task at this moment; null when there is none of that id, or nobody has claimed it yet. */
  async readTaskStatus(taskId: string): Promise<TaskRunStatus | null> {
    const { ledger, contracts, now, checking } = this.about
    let state = await ledger.read(taskId)
    if (state === null) return null
    let { run } = this.#use(taskId)
    // A state and a fold of the same moment; where the task changes too fast for that, its next change is told anyway.
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

  /** The task that was claimed for the first time last. */
  async findNewest(): Promise<Started | null> {
    if (!this.#isNewestKnown) {
      const found = await this.#lastStart()
      this.#isNewestKnown = true
      if (found !== null) this.#started(found)
    }
    return this.#newest
  }

  /** Folds what has just become durable, so that it need not be read again, and notices which task has begun. */
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
    // Who asks while others do waits for their walk, however it ended, and goes on where it stopped.
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

  // Events come from the feed and from the store: each is folded once, and only after the one before it.
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

// A task is entered from nowhere once.
function isStart({ type, data }: StoredEvent): boolean {
  return type === 'phase_entered' && data.from === null
}

function startOf(event: StoredEvent): Started {
  return { id: parseTaskId(event), startedAt: event.at }
}

function parseTaskId({ stream }: StoredEvent): string {
  return stream.startsWith(TASK_STREAM) ? stream.slice(TASK_STREAM.length) : ''
}
