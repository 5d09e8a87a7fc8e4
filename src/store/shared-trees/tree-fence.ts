import type { Cluster } from '../cluster.js'
import { StoreUnavailable } from '../store.js'
import type { FileLock } from './file-lock.js'

const TAKE_MS_MAX = 10_000

/** What must hold while a work tree is changed, or what is kept about it. */
export interface TreeFence {
  /** Runs the work while no other node can adopt the tasks of this one. Rejects when one has. */
  run<T>(work: () => Promise<T>): Promise<T>
  /** Throws outside of `run`. */
  requireHeld(): void
}

/** Trees that only this server has: nothing can take them away from it. */
export const NO_FENCE: TreeFence = { run: (work) => work(), requireHeld: () => undefined }

/**
 * The ledger fences appends, and nothing fences files: a node that was paused could write a tree that another one has
 * adopted. So a node changes trees only while it holds its own lock file, and after it has asked the database, holding
 * the lock, whether its lease holds. Who adopts the node, and its own next start, take the same lock: before they have
 * it nothing is decided, and after it this node is refused.
 */
export class NodeFence implements TreeFence {
  #inside = 0
  #taking: Promise<void> | null = null
  #isHeld = false

  constructor(
    private readonly lock: FileLock,
    private readonly cluster: Pick<Cluster, 'nodeId' | 'confirmLease'>,
    private readonly takeMsMax = TAKE_MS_MAX,
  ) {}

  async run<T>(work: () => Promise<T>): Promise<T> {
    this.#inside += 1
    try {
      // The answer of the database counts for as long as the lock is held, also for those who come later.
      this.#taking ??= this.#take()
      await this.#taking
      return await work()
    } finally {
      this.#inside -= 1
      if (this.#inside === 0) this.#release()
    }
  }

  requireHeld(): void {
    if (!this.#isHeld) throw new Error('a shared work tree is changed outside of its fence')
  }

  async #take(): Promise<void> {
    try {
      if (!(await this.lock.take(this.takeMsMax)))
        throw new StoreUnavailable(`${this.cluster.nodeId} is being adopted, or another process of it changes a tree.`)
      await this.cluster.confirmLease()
      this.#isHeld = true
    } catch (error) {
      this.#release()
      throw error
    }
  }

  #release(): void {
    this.#isHeld = false
    this.#taking = null
    this.lock.release()
  }
}
