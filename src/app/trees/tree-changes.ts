import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { KeyedLock } from '../../base/keyed-lock.js'
import type { ScratchPlan, StagedFor } from '../../confinement/changes/scratch-layers.js'
import type { TaskState } from '../../core/task/state.js'
import { StoreUnavailable } from '../../store/store.js'
import type { Change } from '../../tree/change.js'
import { getErrno, type TreeRefusal, TreeUnreadable } from '../../tree/problems.js'
import { type ChangePlan, finishPlan, undoPlan } from '../../tree/write/change-plan.js'
import type { TreeStep } from '../../tree/write/tree-steps.js'
import { openTreeWriter, type PendingChange } from '../../tree/write/tree-writer.js'
import { formatStream } from '../ledger/entries.js'
import { type CommandResult, TREE_CHANGE } from '../ledger/ledger.js'
import type { Resources } from '../resources.js'
import { type FollowUps, followChange } from './follow-change.js'
import type { BegunChange, Line } from './tree-journal.js'

const EVENTS_PER_PAGE = 200

// By tree: one change is made and recorded before the next one begins, whichever task it belongs to.
const locks = new KeyedLock()

/** What a change does to a tree. */
export interface TreeWork {
  readonly steps: readonly TreeStep[]
  /** What the tree is expected to hold afterwards. */
  readonly lines: (plan: ChangePlan) => readonly Line[]
  /** What belongs to the change beside its files, once it has happened; see `followChange`. */
  readonly follow?: FollowUps
  readonly signal?: AbortSignal
}

type Applied = { readonly ok: true; readonly changes: readonly Change[] } | TreeRefusal

/** A change of a work tree and the event that records it: both happen, or neither. */
export class TreeChange {
  readonly id = randomBytes(16).toString('hex')
  #begun: BegunChange | null = null
  #pending: PendingChange | null = null
  #staged: StagedFor | null = null
  #isRecorded = false

  constructor(
    private readonly app: Resources,
    private readonly place: { readonly tree: string; readonly taskId: string },
  ) {}

  /** Makes the change, on disk before this resolves. Nothing has changed if it is refused. */
  async apply({ steps, lines, follow = {}, signal }: TreeWork): Promise<Applied> {
    const secret = randomBytes(16).toString('hex')
    const reference = await this.#findReference()
    const onPlanned = (plan: ChangePlan, isReady: boolean): void =>
      this.#begin({ ...reference, ...this.#expect(isReady ? lines(plan) : []), plan, follow }, isReady)
    const done = await openTreeWriter(this.place.tree).begin(steps, { secret, signal, onPlanned })
    if (!done.ok) this.#drop()
    else {
      this.#pending = done
      if (follow.installed !== undefined) this.#noteMade()
    }
    return done
  }

  /** Announces a change of what is expected, without one of the tree itself. */
  async expect(lines: readonly Line[], follow: FollowUps): Promise<void> {
    this.#begin({ ...(await this.#findReference()), ...this.#expect(lines), plan: null, follow }, true)
  }

  /** Prepares what belongs into the layer of the task; false: there is no room. */
  async stageLayer(plan: ScratchPlan, view: string | null): Promise<boolean> {
    const staged = await this.#findReference()
    if (!(await this.app.scratch.stage(plan, view, staged))) return false
    this.#staged = staged
    return true
  }

  // A change that the writer gave up half-way is no change, whatever the tool makes of it.
  get #isMade(): boolean {
    const isWritten = this.#pending !== null || this.#begun?.plan === null
    return this.#begun === null ? this.#staged !== null : isWritten
  }

  /** For the ledger: the event names this change, unless the decision drops it. */
  readonly nameIn = async (handled: CommandResult): Promise<string | null> =>
    !this.#isMade || isDropped(handled) ? null : this.id

  /** The event that names the change is in the ledger. */
  confirm(handled: CommandResult): void {
    this.#isRecorded = this.#isMade && !isDropped(handled)
  }

  /** Finishes the change if it is recorded, and takes it back if not. `isCertain`: the ledger need not be asked. */
  async end(isCertain: boolean): Promise<void> {
    const reference = this.#begun ?? this.#staged
    if (reference === null) return
    this.#isRecorded ||= !isCertain && (await isRecorded(this.app, reference))
    if (this.#isRecorded) await this.#finish()
    else await this.#takeBack()
  }

  // The call is whole by now, whatever fails here: it is done again before the next change.
  async #finish(): Promise<void> {
    try {
      await this.#pending?.finish()
      if (this.#staged !== null) await this.app.scratch.applyStaged(this.place.taskId)
      if (this.#begun === null) return
      await followChange(this.app, this.#begun, { isLate: false })
      this.app.trees.endChange(this.#begun, 'happened')
    } catch (error) {
      this.app.onFault(error)
    }
  }

  async #takeBack(): Promise<void> {
    if (this.#staged !== null) await this.app.scratch.dropStaged(this.place.taskId)
    // Its caller is refused, and told what somebody else changed.
    if (this.#begun !== null) await undoChange(this.#begun)
    this.#drop()
  }

  async #findReference(): Promise<Pick<BegunChange, 'id' | 'tree' | 'taskId' | 'version'>> {
    // What is decided and not on disk yet may never be: its versions could be those of other events.
    const version = (await this.app.ledger.read(this.place.taskId))?.version ?? 0
    return { id: this.id, ...this.place, version }
  }

  #expect(lines: readonly Line[]): Pick<BegunChange, 'lines' | 'before'> {
    return this.app.trees.planEntries(this.place.tree, lines)
  }

  #begin(begun: BegunChange, isReady: boolean): void {
    try {
      this.app.trees.beginChange(begun, isReady)
    } catch (error) {
      if (getErrno(error) === '') throw error
      throw new StoreUnavailable('What is known about the work tree cannot be written.', { cause: error })
    }
    this.#begun = begun
  }

  // Packages are not in the plan one by one: after a crash, what changed later must not be accepted with them.
  #noteMade(): void {
    if (this.#begun !== null) this.#begin({ ...this.#begun, madeAt: Date.now() }, true)
  }

  #drop(): void {
    if (this.#begun !== null) this.app.trees.endChange(this.#begun, 'undone')
    this.#begun = null
  }
}

/** The changes were refused when they were to be written: nothing of them is in the tree. */
export class NotWritten extends Error {
  override readonly name = 'NotWritten'
}

/** Makes a change when its event is decided, at most once: a decision may be made again. */
export function makeWriteTree(
  change: TreeChange,
  make?: (change: TreeChange, handled: CommandResult) => Promise<void>,
): (handled: CommandResult) => Promise<string | null> {
  let isMade = false
  return async (handled) => {
    if (make !== undefined && !isMade && !isDropped(handled)) {
      isMade = true
      await make(change, handled)
    }
    return change.nameIn(handled)
  }
}

function isDropped({ refusal, events }: CommandResult): boolean {
  return refusal !== null || events.some((event) => event.type === 'changes_dropped')
}

/**
 * Runs work that changes a tree and records that, while no other change of the tree is made. If it fails anywhere, or
 * its event is not recorded, the tree is taken back. What cannot be settled now is settled before the next change.
 */
export function changeTree<T>(
  app: Resources,
  place: { readonly tree: string; readonly taskId: string },
  work: (change: TreeChange) => Promise<T>,
): Promise<T> {
  return locks.run(place.tree, async () => {
    const left = app.trees.findOpenChange(place.tree)
    if (left !== null) await settleChange(app, left)
    const staged = app.scratch.findStaged(place.taskId)
    if (staged !== null) await settleStaged(app, staged)
    const change = new TreeChange(app, place)
    let isCertain = false
    try {
      const done = await work(change)
      isCertain = true
      return done
    } finally {
      await change.end(isCertain)
    }
  })
}

/** The same for a task and its tree, while nothing else is decided on the task. */
export function recordWithTree<T>(
  app: Resources,
  { id, workspace }: Pick<TaskState, 'id' | 'workspace'>,
  work: (change: TreeChange) => Promise<T>,
): Promise<T> {
  return app.ledger.hold(id, () => changeTree(app, { tree: workspace, taskId: id }, work))
}

/** Settles a change that was interrupted anywhere: finishes it if its event is in the ledger, or else takes it back. */
async function settleChange(app: Resources, change: BegunChange): Promise<void> {
  const { tree, plan } = change
  // A folder that is moved away or not mounted comes back with what is kept in it: until then the change stays open.
  if (!existsSync(tree)) throw new TreeUnreadable(`a call was interrupted in ${tree}, which is not there`)
  if (!(await isRecorded(app, change))) {
    const conflicts = await undoChange(change)
    if (conflicts.length > 0) app.onFault(new Error(formatConflicts(change, conflicts)))
    app.trees.endChange(change, 'undone')
    return
  }
  try {
    if (plan !== null) await finishPlan(tree, plan)
    await followChange(app, change, { isLate: true })
  } catch (error) {
    // The files are whole. What could not be noted shows as unexplained, and must not stop everybody else in the tree.
    app.onFault(error)
  }
  app.trees.endChange(change, 'happened')
}

// What somebody else has changed since stays as it is.
async function undoChange({ tree, plan }: BegunChange): Promise<readonly string[]> {
  return plan === null ? [] : undoPlan(tree, plan)
}

/** Settles what a killed server left open, before the tasks of this node get their next call. */
export async function recoverTreeChanges(app: Resources, onFault: (error: unknown) => void): Promise<void> {
  for (const change of app.trees.loadOpenChanges()) {
    if (await app.ledger.isElsewhere(formatStream(change.taskId))) continue
    try {
      await locks.run(change.tree, async () => {
        // It may have ended meanwhile: other tasks of this node work in the tree.
        const open = app.trees.readOpenChange(change.tree)
        if (open?.id === change.id) await settleChange(app, open)
      })
    } catch (error) {
      onFault(error)
    }
  }
  for (const staged of await app.scratch.listStaged()) {
    if (await app.ledger.isElsewhere(formatStream(staged.taskId))) continue
    await locks.run(staged.tree, async () => {
      if (app.scratch.findStaged(staged.taskId)?.id === staged.id) await settleStaged(app, staged)
    })
  }
}

async function settleStaged(app: Resources, staged: StagedFor): Promise<void> {
  if (await isRecorded(app, staged)) await app.scratch.applyStaged(staged.taskId)
  else await app.scratch.dropStaged(staged.taskId)
}

const NAMED_MAX = 20

function formatConflicts({ tree, taskId }: BegunChange, paths: readonly string[]): string {
  const more = paths.length > NAMED_MAX ? ` and ${paths.length - NAMED_MAX} more` : ''
  const named = paths.slice(0, NAMED_MAX).map((path) => JSON.stringify(path))
  return `A call of task ${taskId} was interrupted and taken back. In ${tree} these paths were changed by somebody else since, and stay as they are: ${named.join(', ')}${more}`
}

async function isRecorded(
  { ledger }: Pick<Resources, 'ledger'>,
  { id, taskId, version }: Pick<BegunChange, 'id' | 'taskId' | 'version'>,
): Promise<boolean> {
  // A database may still commit what it did not acknowledge in time: this write comes after that, or fails.
  if (ledger.cluster !== undefined) await ledger.waitForWrites()
  for (let after = version; ; after += EVENTS_PER_PAGE) {
    const page = await ledger.store.readStream(formatStream(taskId), after, EVENTS_PER_PAGE)
    if (page.some((event) => event.data[TREE_CHANGE] === id)) return true
    if (page.length < EVENTS_PER_PAGE) return false
  }
}
