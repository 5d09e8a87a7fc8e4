import type { GateRun } from '../../core/task/next-step.js'

/** Why nothing else may change a task now: its gates are being checked, or its work tree is being restored. */
type Busy = 'gates' | 'tree'

/** Busy tasks of this process. A flag, not an event: after a restart nothing is being checked. */
export class Checking {
  readonly #tasks = new Map<string, { readonly why: Busy; readonly gateRun: GateRun | null }>()
  readonly #listeners = new Set<(taskId: string) => void>()

  has(taskId: string): boolean {
    return this.#tasks.has(taskId)
  }

  /** Whether the gates of the task are being checked, as views say it. */
  isChecking(taskId: string): boolean {
    return this.#tasks.get(taskId)?.why === 'gates'
  }

  /** The request whose gates are being checked, and since when. */
  findGateRun(taskId: string): GateRun | null {
    return this.#tasks.get(taskId)?.gateRun ?? null
  }

  begin(taskId: string, why: Busy, gateRun: GateRun | null = null): void {
    this.#tasks.set(taskId, { why, gateRun })
    this.#tell(taskId)
  }

  end(taskId: string): void {
    this.#tasks.delete(taskId)
    this.#tell(taskId)
  }

  /** Called whenever a task becomes busy or idle. */
  listen(listener: (taskId: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #tell(taskId: string): void {
    for (const listener of this.#listeners) listener(taskId)
  }
}
