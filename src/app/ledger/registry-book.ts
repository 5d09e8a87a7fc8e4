import { KeyedLock } from '../../base/keyed-lock.js'
import {
  decideRegistry,
  EMPTY_REGISTRY,
  evolveRegistry,
  type Registry,
  type RegistryCommand,
} from '../../core/identity/registry.js'
import type { Refusal } from '../../core/task/refusal.js'
import { SYSTEM_STREAM } from '../../store/cluster.js'
import type { Cleaner } from '../../store/redaction/clean-data.js'
import {
  type Append,
  type AppendResult,
  type Blob,
  type Store,
  type StoredEvent,
  StoreUnavailable,
} from '../../store/store.js'
import type { Kept } from '../kept-answer.js'
import { toNewEvent, toRegistryEvent } from '../wire.js'
import { addConfirmation } from './confirmed-act.js'
import { makeLine } from './entries.js'

const CONFLICTS_MAX = 10
const PAGE = 1000

export interface RecordOptions {
  readonly blobs?: readonly Blob[]
  readonly remember?: Kept | undefined
}

interface RecordContext {
  readonly now: number
  readonly actor: string
}

/** The system stream: every node appends to it and follows what the others append. */
export class RegistryBook {
  #registry: Registry = EMPTY_REGISTRY
  /** With what is decided and perhaps not on disk yet. */
  #tip: Registry = EMPTY_REGISTRY
  #line = makeLine()
  /** Held while the registry is read again, after another node has appended first. */
  readonly #reads = new KeyedLock()

  constructor(
    private readonly store: Pick<Store, 'readStream'>,
    private readonly clean: Cleaner['clean'],
    private readonly write: (append: Append) => Promise<AppendResult>,
    private readonly tell: (events: readonly StoredEvent[]) => void,
  ) {}

  get registry(): Registry {
    return this.#registry
  }

  async start(): Promise<void> {
    const registry = await readRegistry(this.store)
    this.#registry = registry
    this.#tip = registry
  }

  async record(fact: RegistryCommand, context: RecordContext, options: RecordOptions): Promise<Refusal | null> {
    for (let attempt = 0; attempt < CONFLICTS_MAX; attempt += 1) {
      if (this.#reads.isHeld(SYSTEM_STREAM)) await this.#reads.free(SYSTEM_STREAM)
      const recorded = await this.#recordOnce(fact, context, options)
      if (recorded !== 'conflict') return recorded
    }
    throw new StoreUnavailable('the system stream changed too often while an event was recorded')
  }

  /** Another node's event; those of this process are known already. Decisions under way are refused and made again. */
  follow(event: StoredEvent): void {
    if (event.version !== this.#registry.version + 1) return
    const isIdle = this.#tip === this.#registry
    this.#registry = evolveRegistry(this.#registry, toRegistryEvent(event))
    if (isIdle) this.#tip = this.#registry
  }

  async #recordOnce(
    fact: RegistryCommand,
    context: RecordContext,
    options: RecordOptions,
  ): Promise<Refusal | null | 'conflict'> {
    const before = this.#tip
    const facts = decideRegistry(before, fact)
    if ('code' in facts) return facts
    const rows = facts.map((one) => toNewEvent({ ...one, at: context.now, actor: context.actor }, this.clean).row)
    if (rows.length === 0) return null
    const after = rows.reduce((registry, row) => evolveRegistry(registry, toRegistryEvent(row)), before)
    const line = this.#line
    this.#tip = after
    try {
      const result = await this.write({
        ...{ stream: SYSTEM_STREAM, expectedVersion: before.version, line, events: addConfirmation(rows) },
        ...(options.blobs === undefined ? {} : { blobs: options.blobs }),
        ...(options.remember === undefined ? {} : { remember: options.remember }),
      })
      if (result.ok) {
        if (after.version > this.#registry.version) this.#registry = after
        this.tell(result.events)
        return null
      }
      if (result.reason !== 'version_conflict')
        throw new StoreUnavailable(`the system stream could not be written (${result.reason})`)
    } catch (error) {
      await this.#reload(line)
      throw error
    }
    await this.#reload(line)
    return 'conflict'
  }

  // The store refuses what else was decided on the same line: it builds on something that was not written.
  #reload(line: number): Promise<void> {
    return this.#reads.run(SYSTEM_STREAM, async () => {
      if (line !== this.#line) return
      this.#line = makeLine()
      try {
        await this.start()
      } catch {
        this.#tip = this.#registry
      }
    })
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
