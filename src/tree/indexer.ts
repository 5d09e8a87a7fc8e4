import { Worker } from 'node:worker_threads'
import { PACKAGE_ROOT } from '../base/package-root.js'
import type { DependencyRules } from './dependencies.js'
import type { Fingerprint } from './fingerprint.js'
import { restoreIndex } from './only-paths.js'
import { TreeMissing, TreeUnreadable } from './problems.js'
import type { ProjectFiles } from './project-files.js'
import type { Stamps } from './stamps.js'
import type { Ignoring, TreeIndex } from './tree-contents.js'

const WORKER_FILE = new URL('dist/threads/index-worker.cjs', PACKAGE_ROOT)

/** A list of dependencies is kept in a file: it may be large, and only the thread reads it. */
type Listing = DependencyRules & { readonly file: string }

/** What is read along with an index. */
export interface Wanted {
  /** Files that do not count for the fingerprint; null: no fingerprint is wanted. */
  readonly except: readonly string[] | null
  readonly stamps: boolean
  /** Whether to list the files of the project. */
  readonly files: boolean
}

export const INDEX_ONLY: Wanted = { except: null, stamps: false, files: false }

export type Asked =
  | ({ readonly type: 'index' } & Wanted & Ignoring)
  | ({ readonly type: 'keep_dependencies'; readonly before: number } & Listing)
  | ({ readonly type: 'dependencies_since' } & Listing)
  | ({ readonly type: 'accept_dependencies'; readonly paths: readonly string[]; readonly before: number } & Listing)

export interface TreeLook {
  readonly index: TreeIndex
  /** Null: not asked for. */
  readonly fingerprint: Fingerprint | null
  /** Null: not asked for. */
  readonly stamps: Stamps | null
  /** Null: not asked for, or not to be had. */
  readonly files: ProjectFiles | null
  /** Files of the index whose content matches the pattern of the indexer, or is too long to tell. */
  readonly noted: readonly string[]
}

interface Answer {
  readonly id: number
  readonly value?: unknown
  readonly problem?: string
  /** Why the folder of the tree itself could not be opened. */
  readonly missing?: string
}

interface Waiting {
  readonly root: string
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

/** Reads whole trees on a separate thread, which caches what it read. */
export class Indexer {
  #worker: Worker | null = null
  #count = 0
  readonly #waiting = new Map<number, Waiting>()

  /** `pattern`: contents to take note of. It must match bytes as latin1. */
  constructor(private readonly pattern: RegExp | null = null) {}

  async look(root: string, ignoring: Ignoring, wanted: Wanted): Promise<TreeLook> {
    const look = (await this.#ask(root, { type: 'index', ...ignoring, ...wanted })) as TreeLook
    return { ...look, index: restoreIndex(look.index) }
  }

  /** Records dependencies and ignored files of a tree; see `dependencies.ts`. */
  async keepDependencies(root: string, listing: Listing & { readonly before: number }): Promise<void> {
    await this.#ask(root, { type: 'keep_dependencies', ...listing })
  }

  async scanDependencyChanges(root: string, listing: Listing): Promise<readonly string[]> {
    return (await this.#ask(root, { type: 'dependencies_since', ...listing })) as readonly string[]
  }

  async acceptDependencies(
    root: string,
    listing: Listing & { readonly paths: readonly string[]; readonly before: number },
  ): Promise<void> {
    await this.#ask(root, { type: 'accept_dependencies', ...listing })
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
    this.#worker = null
  }

  #ask(root: string, asked: Asked): Promise<unknown> {
    this.#count += 1
    const id = this.#count
    const worker = this.#started()
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { root, resolve, reject })
      worker.postMessage({ id, root, asked })
    })
  }

  #started(): Worker {
    if (this.#worker !== null) return this.#worker
    const worker = new Worker(WORKER_FILE, { workerData: { pattern: this.pattern?.source ?? null } })
    worker.unref()
    worker.on('message', ({ id, value, problem, missing }: Answer) => {
      const waiting = this.#waiting.get(id)
      this.#waiting.delete(id)
      if (problem === undefined) waiting?.resolve(value)
      else waiting?.reject(missing === undefined ? new TreeUnreadable(problem) : new TreeMissing(waiting.root, missing))
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
