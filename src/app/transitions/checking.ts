import type { Contract } from '../../core/contract/contract.js'
import type { Refusal } from '../../core/task/refusal.js'
import type { TaskState } from '../../core/task/state.js'
import { type App, makeContext } from '../app.js'

/** Why nothing else may change a task now: its gates are checked, or its work tree is put aside or taken back. */
export type Busy = 'gates' | 'tree'

/** Tasks that are busy in this process. A flag and no event: after a restart nothing is being checked. */
export class Checking {
  readonly #tasks = new Map<string, Busy>()
  readonly #listeners = new Set<(taskId: string) => void>()

  has(taskId: string): boolean {
    return this.#tasks.has(taskId)
  }

  /** Whether the gates of the task are being checked, as views say it. */
  isChecking(taskId: string): boolean {
    return this.#tasks.get(taskId) === 'gates'
  }

  begin(taskId: string, why: Busy): void {
    this.#tasks.set(taskId, why)
    this.#tell(taskId)
  }

  end(taskId: string): void {
    this.#tasks.delete(taskId)
    this.#tell(taskId)
  }

  /** Called whenever a task begins or ends to be busy. */
  listen(listener: (taskId: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #tell(taskId: string): void {
    for (const listener of this.#listeners) listener(taskId)
  }
}

/** An agent that waits for Phaselock does not lose its lease: it is extended as often as needed, until the returned function is called. */
export function keepLease(
  app: App,
  { contract, state }: { readonly contract: Contract; readonly state: TaskState },
): () => void {
  const guard = (now: TaskState): Refusal | null =>
    now.held !== null && now.epoch === state.epoch ? null : { code: 'token_stale', detail: 'The task moved on.' }
  const extend = () =>
    app.ledger.apply({ taskId: state.id, contract }, { type: 'extend_lease' }, makeContext(app, 'orchestrator'), {
      guard,
    })
  // Where the store is gone for a moment the next turn extends it.
  const timer = setInterval(() => extend().catch(() => undefined), contract.enforcement.leaseSeconds * 500)
  return () => clearInterval(timer)
}

/** Does the work while nothing else may change the task. */
export async function runWhileChecking<T>(
  app: App,
  { contract, state }: { readonly contract: Contract; readonly state: TaskState },
  work: () => Promise<T>,
): Promise<T> {
  const stop = keepLease(app, { contract, state })
  app.checking.begin(state.id, 'gates')
  try {
    return await work()
  } finally {
    stop()
    app.checking.end(state.id)
  }
}
