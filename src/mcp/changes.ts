import type { App } from '../app/app.js'
import type { StoredEvent } from '../app/ledger/feed.js'

const WATCHERS_MAX = 1000
const WATCHERS_PER_AGENT_MAX = 16
const SETTLE_MS = 20

/** A client that is notified when what it was shown has changed. */
interface Watcher {
  readonly agentId: string
  readonly changed: () => void
  /** Its token is no longer valid. */
  readonly end: () => void
}

// After these an agent may use other tools, see other phases, or work on another task.
const CHANGES: ReadonlySet<string> = new Set([
  ...['phase_entered', 'task_claimed', 'task_released', 'task_reassigned', 'task_rewound', 'task_resumed'],
  ...['task_parked', 'task_cancelled', 'task_completed', 'lease_lapsed', 'agent_dropped', 'tools_accepted'],
])
const REPLACES_TOKEN: ReadonlySet<string> = new Set(['agent_revoked', 'agent_registered'])

/** Clients to notify of changes. Bounded; simultaneous changes are one notification. */
export class Changes {
  readonly #watchers = new Set<Watcher>()
  readonly #due = new Set<string>()
  readonly #stop: () => void
  #timer: NodeJS.Timeout | null = null

  constructor(
    private readonly app: App,
    private readonly onFault: (error: unknown) => void,
  ) {
    this.#stop = app.feed.follow((event) => this.#see(event))
  }

  hasRoom(agentId: string): boolean {
    return this.#watchers.size < WATCHERS_MAX && this.#of(agentId).length < WATCHERS_PER_AGENT_MAX
  }

  add(watcher: Watcher): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  close(): void {
    this.#stop()
    if (this.#timer !== null) clearTimeout(this.#timer)
    for (const watcher of [...this.#watchers]) watcher.end()
  }

  #of(agentId: string): readonly Watcher[] {
    return [...this.#watchers].filter((watcher) => watcher.agentId === agentId)
  }

  #see(event: StoredEvent): void {
    if (this.#watchers.size === 0) return
    if (REPLACES_TOKEN.has(event.type)) for (const watcher of this.#of(String(event.data.agent_id))) watcher.end()
    if (!CHANGES.has(event.type) || !event.stream.startsWith('task:')) return
    if (event.actor.startsWith('agent:')) this.#due.add(event.actor.slice('agent:'.length))
    this.#holders(event.stream.slice('task:'.length)).catch(this.onFault)
    this.#timer ??= setTimeout(() => this.#tell(), SETTLE_MS)
  }

  // The former holder of the task is notified too.
  async #holders(taskId: string): Promise<void> {
    const state = await this.app.ledger.read(taskId)
    for (const agentId of state?.holders ?? []) this.#due.add(agentId)
    if (this.#due.size > 0) this.#timer ??= setTimeout(() => this.#tell(), SETTLE_MS)
  }

  #tell(): void {
    this.#timer = null
    const due = [...this.#due]
    this.#due.clear()
    for (const agentId of due) for (const watcher of this.#of(agentId)) watcher.changed()
  }
}
