import { Worker } from 'node:worker_threads'
import { asMade } from './only-paths.js'
import { TreeUnreadable } from './problems.js'
import type { IgnoreText, TreeIndex } from './tree-contents.js'

const WORKER_FILE = new URL('../../dist/tree/index-worker.js', import.meta.url)

interface Waiting {
  readonly resolve: (index: TreeIndex) => void
  readonly reject: (error: Error) => void
}

/** Looks at whole trees on a thread of its own, which remembers what it read. */
export class Indexer {
  #worker: Worker | null = null
  #count = 0
  readonly #waiting = new Map<number, Waiting>()

  index(root: string, rules: readonly IgnoreText[] | null, excludes: string): Promise<TreeIndex> {
    this.#count += 1
    const id = this.#count
    const worker = this.#started()
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      worker.postMessage({ id, root, rules, excludes })
    })
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
    this.#worker = null
  }

  #started(): Worker {
    if (this.#worker !== null) return this.#worker
    const worker = new Worker(WORKER_FILE)
    worker.unref()
    worker.on('message', ({ id, index, problem }: { id: number; index?: TreeIndex; problem?: string }) => {
      const waiting = this.#waiting.get(id)
      this.#waiting.delete(id)
      if (index === undefined) waiting?.reject(new TreeUnreadable(problem ?? 'the tree could not be read'))
      else waiting?.resolve(asMade(index))
    })
    const lost = (error: Error): void => {
      this.#worker = null
      for (const waiting of this.#waiting.values()) waiting.reject(error)
      this.#waiting.clear()
    }
    worker.on('error', lost)
    worker.on('exit', () => lost(new Error('the thread that reads trees has ended')))
    this.#worker = worker
    return worker
  }
}
