import { KeyedLock } from '../../base/keyed-lock.js'
import type { Contract } from '../../core/contract/contract.js'
import {
  decideRegistry,
  EMPTY_REGISTRY,
  evolveRegistry,
  type Registry,
  type RegistryCommand,
} from '../../core/identity/registry.js'
import type { Command, Context } from '../../core/task/command.js'
import { createTask, decide, stamp } from '../../core/task/decide.js'
import type { TaskEvent } from '../../core/task/event.js'
import { evolve } from '../../core/task/evolve.js'
import type { NewTask } from '../../core/task/fact-parts.js'
import type { Decision, Refusal } from '../../core/task/refusal.js'
import type { TaskState } from '../../core/task/state.js'
import type { Cleaner } from '../../store/redaction/clean-data.js'
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
import { type Plain, toNewEvent, toRegistryEvent, toTaskEvent } from '../wire.js'
import { addConfirmation } from './confirmed-act.js'
import { Entries, type Entry, formatStream } from './entries.js'
import { needsRow, toTaskRow } from './task-row.js'

const SYSTEM_STREAM = 'system'
const CONFLICTS_MAX = 5
const PAGE = 1000

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
}

export class AgentBusy extends Error {
  override readonly name = 'AgentBusy'
}

/** The only place that appends events. Commands on one task are decided one at a time and pipelined to the disk. */
export class Ledger {
  readonly #entries: Entries
  /** Per-task lock: no command is decided while it is held. */
  readonly #holds = new KeyedLock()
  #registry: Registry = EMPTY_REGISTRY
  #registryTip: Registry = EMPTY_REGISTRY
  readonly #listeners = new Set<(events: readonly StoredEvent[]) => void>()

  constructor(
    readonly store: Store,
    private readonly clean: Cleaner['clean'],
    private readonly redact: Cleaner['redact'],
  ) {
    this.#entries = new Entries(store)
  }

  get registry(): Registry {
    return this.#registry
  }

  /** Called with every batch of events once it is durable. */
  listen(listener: (events: readonly StoredEvent[]) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async start(): Promise<void> {
    const registry = await readRegistry(this.store)
    this.#registry = registry
    this.#registryTip = registry
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

  /** Holds the task's lock while the work runs, because its result belongs to the state that it found. */
  hold<T>(taskId: string, work: () => Promise<T>): Promise<T> {
    return this.#holds.run(taskId, work)
  }

  /** Decides the command on the task and makes the result durable. Null when the task does not exist. */
  async apply(
    target: { readonly taskId: string; readonly contract: Contract },
    command: Command,
    context: Context,
    options: ApplyOptions = {},
  ): Promise<CommandResult | null> {
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
      const written = await this.#write(entry, { before, after, rows, handled, options })
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
      events: addConfirmation(rows),
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
  async record(
    fact: RegistryCommand,
    context: { readonly now: number; readonly actor: string },
    options: { readonly blobs?: readonly Blob[]; readonly remember?: Kept | undefined } = {},
  ): Promise<Refusal | null> {
    const facts = decideRegistry(this.#registryTip, fact)
    if ('code' in facts) return facts
    const rows = facts.map((one) => toNewEvent({ ...one, at: context.now, actor: context.actor }, this.clean).row)
    if (rows.length === 0) return null
    const before = this.#registryTip
    const after = rows.reduce((registry, row) => evolveRegistry(registry, toRegistryEvent(row)), before)
    this.#registryTip = after
    try {
      const result = await this.store.append({
        stream: SYSTEM_STREAM,
        expectedVersion: before.version,
        events: addConfirmation(rows),
        ...(options.blobs === undefined ? {} : { blobs: options.blobs }),
        ...(options.remember === undefined ? {} : { remember: options.remember }),
      })
      if (!result.ok) throw new StoreUnavailable(`the system stream could not be written (${result.reason})`)
      if (after.version > this.#registry.version) this.#registry = after
      this.#tell(result.events)
      return null
    } catch (error) {
      await this.#reloadRegistry()
      throw error
    }
  }

  /** Events as they would be stored: without secrets, within bounds. */
  toRows(events: readonly Plain[]): readonly NewEvent[] {
    return events.map((event) => toNewEvent(event, this.clean).row)
  }

  /** Appends to a stream that is not a task's; false when the stream has changed. */
  async writeTo(one: Append): Promise<boolean> {
    const remember = this.#cleaned(one.remember)
    const result = await this.store.append(remember === undefined ? one : { ...one, remember })
    if (result.ok) this.#tell(result.events)
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
      const result = await this.store.append(append)
      if (result.ok) {
        if (after.version > entry.durable.version) entry.durable = after
        this.#tell(result.events)
        return true
      }
      if (result.reason === 'agent_busy') throw new AgentBusy(after.held?.agentId ?? '')
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

  async #reloadRegistry(): Promise<void> {
    try {
      await this.start()
    } catch {
      this.#registryTip = this.#registry
    }
  }

  #tell(events: readonly StoredEvent[]): void {
    for (const listener of this.#listeners) listener(events)
  }
}

/** The registry folded from the stored events. */
export async function readRegistry(store: Pick<Store, 'readStream'>): Promise<Registry> {
  let registry = EMPTY_REGISTRY
  for (;;) {
    const page = await store.readStream(SYSTEM_STREAM, registry.version, PAGE)
    for (const stored of page) registry = evolveRegistry(registry, toRegistryEvent(stored))
    if (page.length < PAGE) return registry
  }
}
