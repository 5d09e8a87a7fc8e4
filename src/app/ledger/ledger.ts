import { randomUUID } from 'node:crypto'
import { KeyedLock } from '../../base/keyed-lock.js'
import { runInSpan } from '../../base/spans.js'
import type { Contract } from '../../core/contract/contract.js'
import type { Registry, RegistryCommand } from '../../core/identity/registry.js'
import type { JsonObject } from '../../core/json.js'
import type { Command, Context } from '../../core/task/command.js'
import { createTask, decide, stamp } from '../../core/task/decide.js'
import type { TaskEvent } from '../../core/task/event.js'
import { evolve } from '../../core/task/evolve.js'
import type { NewTask } from '../../core/task/fact-parts.js'
import type { Decision, Refusal } from '../../core/task/refusal.js'
import type { TaskState } from '../../core/task/state.js'
import { type Cluster, SYSTEM_STREAM } from '../../store/cluster.js'
import type { Cleaner } from '../../store/redaction/clean-data.js'
import { NO_FENCE, type TreeFence } from '../../store/shared-trees/tree-fence.js'
import {
  type Append,
  type Blob,
  type NewEvent,
  type Remembered,
  type Store,
  type StoredEvent,
  StoreUnavailable,
} from '../../store/store.js'
import type { Kept } from '../kept-answer.js'
import { type Plain, toNewEvent, toTaskEvent } from '../wire.js'
import { addConfirmation } from './confirmed-act.js'
import { Entries, type Entry, formatStream } from './entries.js'
import { AgentBusy, WrongNode } from './ledger-errors.js'
import { type RecordOptions, RegistryBook } from './registry-book.js'
import { needsRow, toTaskRow } from './task-row.js'

const CONFLICTS_MAX = 5
/** The field of an event that names the change of the work tree which it records. */
export const TREE_CHANGE = 'tree_change'

/** Outcome of a command. */
export interface CommandResult {
  readonly refusal: Refusal | null
  readonly events: readonly TaskEvent[]
  readonly state: TaskState
}

export interface ApplyOptions {
  readonly blobs?: readonly Blob[]
  /** Stored under an idempotency key in the same transaction; built from the decision before it is written. */
  readonly remember?: (handled: CommandResult) => Kept | undefined
  /**
   * Appended only if this holds for the state that the command is decided on; used to check a token against that state.
   */
  readonly guard?: (state: TaskState) => Refusal | null
  /** Decided inside `hold`, while everything else on the task waits. */
  readonly isHolding?: boolean
  /**
   * Called before the events are written, only inside `hold`: makes the change of the work tree that they record.
   * Returns its id, which the first event names; null: the decision changes nothing. If it throws, nothing is recorded.
   */
  readonly writeTree?: (handled: CommandResult) => Promise<string | null>
}

type Target = { readonly taskId: string; readonly contract: Contract }

/** The only place that appends events. Commands on one task are decided one at a time and pipelined to the disk. */
export class Ledger {
  readonly #entries: Entries
  /** Per-task lock: no command is decided while it is held. */
  readonly #holds = new KeyedLock()
  readonly #registry: RegistryBook
  readonly #listeners = new Set<(events: readonly StoredEvent[]) => void>()

  constructor(
    readonly store: Store,
    private readonly clean: Cleaner['clean'],
    private readonly redact: Cleaner['redact'],
    private readonly fence: TreeFence = NO_FENCE,
  ) {
    this.#entries = new Entries(store)
    this.#registry = new RegistryBook(
      store,
      clean,
      (append) => store.append(append),
      (events) => this.#tell(events),
    )
    store.cluster?.follow((events) => this.#follow(events))
  }

  /** The other servers on this ledger; undefined: there are none. */
  get cluster(): Cluster | undefined {
    return this.store.cluster
  }

  /** The other node that decides on the stream; null: this one does, or any. */
  async findOtherHome(stream: string): Promise<string | null> {
    const home = await this.cluster?.findHome(stream)
    return home == null || home === this.cluster?.nodeId ? null : home
  }

  /** Whether another node decides on the stream. */
  async isElsewhere(stream: string): Promise<boolean> {
    return (await this.findOtherHome(stream)) !== null
  }

  get registry(): Registry {
    return this.#registry.registry
  }

  /** Whether this node decides on the stream, which exists. */
  async isHere(stream: string): Promise<boolean> {
    return this.cluster === undefined || (await this.cluster.findHome(stream)) === this.cluster.nodeId
  }

  /**
   * Called with every batch of events once it is durable, whichever node appended them. Batches of one stream come in
   * order; those of one transaction may not: `Feed` sorts them.
   */
  listen(listener: (events: readonly StoredEvent[]) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  start(): Promise<void> {
    return this.#registry.start()
  }

  /** The durable state of a task; null when the id is unknown. */
  async read(taskId: string): Promise<TaskState | null> {
    const entry = await this.#entries.get(taskId)
    return entry?.durable ?? null
  }

  /** The state on which the next command for this task would be decided. */
  async peek(taskId: string): Promise<TaskState | null> {
    const entry = await this.#entries.get(taskId)
    return entry?.tip ?? null
  }

  /** Waits until everything decided on the task so far is written or given up. False: nothing was under way. */
  settle(taskId: string): Promise<boolean> {
    return this.#entries.settle(taskId)
  }

  /**
   * Holds the task's lock while the work runs, because its result belongs to the state that it found. The work may
   * change the task's tree: no other node can adopt it meanwhile.
   */
  hold<T>(taskId: string, work: () => Promise<T>): Promise<T> {
    return this.#holds.run(taskId, () => this.fence.run(work))
  }

  /** Decides the command on the task and makes the result durable. Null when the task does not exist. */
  apply(target: Target, command: Command, context: Context, options: ApplyOptions = {}): Promise<CommandResult | null> {
    const attributes = { 'phaselock.command': command.type, 'phaselock.task.id': target.taskId }
    const onResult = (done: CommandResult | null) => ({ 'phaselock.outcome': done?.refusal?.code ?? 'allowed' })
    return runInSpan('decide', { attributes, onResult }, () => this.#apply(target, command, context, options))
  }

  async #apply(target: Target, command: Command, context: Context, options: ApplyOptions) {
    for (let attempt = 0; attempt < CONFLICTS_MAX; attempt += 1) {
      const entry = await this.#entries.get(target.taskId)
      if (entry === null) return null
      if (options.isHolding !== true && this.#holds.isHeld(target.taskId)) {
        await this.#holds.free(target.taskId)
        attempt -= 1
        continue
      }
      const before = entry.tip
      const refused = options.guard?.(before) ?? null
      const decision: Decision =
        refused === null ? decide(target.contract, before, command, context) : { kind: 'unrecorded', refusal: refused }
      if (decision.kind === 'unrecorded') return { refusal: decision.refusal, events: [], state: before }
      if (decision.facts.length === 0) return { refusal: decision.refusal, events: [], state: before }
      const stamped = stamp(target.contract, before, decision.facts, context)
      const cleaned = stamped.events.map((event) => toNewEvent(event, this.clean))
      const rows = addConfirmation(cleaned.map((one) => one.row))
      // If redaction changed the events, fold the state from the redacted ones, as a replay would.
      const after = cleaned.some((one) => one.isChanged)
        ? rows.reduce<TaskState>((state, row) => evolve(state, toTaskEvent(row)), before)
        : stamped.state
      const handled: CommandResult = { refusal: decision.refusal, events: stamped.events, state: after }
      // Without one nothing is waited for: commands are decided one after the other, in the order of their calls.
      const change = options.writeTree === undefined ? null : await options.writeTree(handled)
      const named = change === null ? rows : addToFirst(rows, { [TREE_CHANGE]: change })
      const written = await this.#write(entry, { before, after, rows: named, handled, options })
      if (written) return handled
      this.#entries.delete(target.taskId)
    }
    throw new StoreUnavailable(`task ${target.taskId} changed too often while a command was decided`)
  }

  /** Makes a new task. */
  async create(
    contract: Contract,
    task: NewTask,
    context: Context,
    options: ApplyOptions = {},
  ): Promise<CommandResult | Refusal> {
    const decision = createTask(contract, task)
    if (decision.kind === 'unrecorded') return decision.refusal
    const rows = stamp(contract, null, decision.facts, context).events.map((event) => toNewEvent(event, this.clean).row)
    const events = rows.map(toTaskEvent)
    const state = events.reduce<TaskState | null>(evolve, null)
    if (state === null) throw new Error('a new task has no state')
    const handled: CommandResult = { refusal: null, events, state }
    const remember = this.#cleaned(options.remember?.(handled))
    const result = await this.store.append({
      stream: formatStream(task.id),
      expectedVersion: 0,
      events: this.#addNode(addConfirmation(rows)),
      task: toTaskRow(state),
      ...(options.blobs === undefined ? {} : { blobs: options.blobs }),
      ...(remember === undefined ? {} : { remember }),
    })
    if (!result.ok) return { code: 'conflict', detail: `Task ${JSON.stringify(task.id)} already exists.` }
    this.#tell(result.events)
    return handled
  }

  /**
   * Records an event of the system stream: who may act, which contracts are known, which anonymous requests were
   * refused.
   */
  record(
    fact: RegistryCommand,
    context: { readonly now: number; readonly actor: string },
    options: RecordOptions = {},
  ): Promise<Refusal | null> {
    return this.#registry.record(fact, context, options)
  }

  /** Events as they would be stored: without secrets, within bounds. */
  toRows(events: readonly Plain[]): readonly NewEvent[] {
    return events.map((event) => toNewEvent(event, this.clean).row)
  }

  /** Resolves after everything that was sent to the store before is written or given up, also what was not acknowledged. */
  async waitForWrites(): Promise<void> {
    const [principal, key] = ['system', `written-${randomUUID()}`]
    const remember = { principal, key, bodyHash: '', status: 200, answer: null }
    await this.store.append({ stream: 'written', expectedVersion: 0, events: [], remember })
  }

  /** Appends to a stream that is not a task's; false when the stream has changed. */
  async writeTo(one: Append): Promise<boolean> {
    const remember = this.#cleaned(one.remember)
    const result = await this.store.append(remember === undefined ? one : { ...one, remember })
    if (result.ok) this.#tell(result.events)
    else if (result.reason === 'wrong_node') throw new WrongNode(one.stream, result.home)
    return result.ok
  }

  async #write(
    entry: Entry,
    one: {
      readonly before: TaskState
      readonly after: TaskState
      readonly rows: readonly NewEvent[]
      readonly handled: CommandResult
      readonly options: ApplyOptions
    },
  ): Promise<boolean> {
    const { before, after, options } = one
    const remember = this.#cleaned(options.remember?.(one.handled))
    const append: Append = {
      stream: formatStream(after.id),
      expectedVersion: before.version,
      line: entry.line,
      events: one.rows,
      ...(needsRow(before, after, entry.rowLease) ? { task: toTaskRow(after) } : {}),
      ...(options.blobs === undefined ? {} : { blobs: options.blobs }),
      ...(remember === undefined ? {} : { remember }),
    }
    entry.tip = after
    if (append.task !== undefined) entry.rowLease = append.task.leaseExpiresAt ?? 0
    try {
      const result = await this.#entries.track(entry, this.store.append(append))
      if (result.ok) {
        if (after.version > entry.durable.version) entry.durable = after
        this.#tell(result.events)
        return true
      }
      if (result.reason === 'agent_busy') throw new AgentBusy(after.held?.agentId ?? '')
      if (result.reason === 'wrong_node') throw new WrongNode(append.stream, result.home)
      return false
    } catch (error) {
      // The write failed, so it did not happen: drop the cached state, and the next caller reads the stream again.
      this.#entries.delete(after.id)
      throw error
    }
  }

  /** Answers quote what was sent, so they are redacted like events. */
  #cleaned(remember: Remembered | undefined): Remembered | undefined {
    return remember === undefined ? undefined : { ...remember, answer: this.redact(remember.answer) }
  }

  // Protected by the chain: the home of a stream cannot be changed unnoticed.
  #addNode(rows: readonly NewEvent[]): readonly NewEvent[] {
    return this.cluster === undefined ? rows : addToFirst(rows, { node: this.cluster.nodeId })
  }

  #tell(events: readonly StoredEvent[]): void {
    if (this.cluster === undefined) for (const listener of this.#listeners) listener(events)
    else this.cluster.note(events)
  }

  #follow(events: readonly StoredEvent[]): void {
    for (const event of events) {
      if (event.stream === SYSTEM_STREAM) this.#registry.follow(event)
      else if (this.cluster?.isElsewhere(event.stream) === true) this.#entries.follow(event)
    }
    for (const listener of this.#listeners) listener(events)
  }
}

function addToFirst(rows: readonly NewEvent[], fields: JsonObject): readonly NewEvent[] {
  const [first, ...rest] = rows
  if (first === undefined) return rows
  const data = { ...first.data, ...fields }
  return [{ ...first, data, text: JSON.stringify(data) }, ...rest]
}
