import { closeSync, existsSync } from 'node:fs'
import { sha256Hex } from '../../base/sha256.js'
import type { TaskState } from '../../core/task/state.js'
import { findFileHash } from '../../tree/find-file-hash.js'
import { openFile } from '../../tree/lookup.js'
import { readBytes } from '../../tree/read-bytes.js'
import type { Resources } from '../resources.js'
import { findContentByHash } from '../trees/reconcile.js'

/** Asking git starts a process in the sandbox. */
const GIT_READS_MAX = 30

export type EntryContent = Buffer | 'too_large' | 'not_kept'

/** Reads what entries of a tree's index stand for: from the tree, from what was kept, or from git. */
export class EntryContents {
  #gitReads = 0
  readonly #tree: string
  readonly #repository: string

  constructor(
    private readonly app: Pick<Resources, 'trees' | 'confinement'>,
    { workspace, worktree }: Pick<TaskState, 'workspace' | 'worktree'>,
    private readonly bytesMax: number,
  ) {
    this.#tree = workspace
    // The tree of a task that was merged or discarded is gone; the repository still has its commits.
    this.#repository = worktree !== null && !existsSync(workspace) ? worktree.repository : workspace
  }

  /** The content of a path as its entry says; a link is shown as its entry and never followed. */
  async read(path: string, entry: string | undefined): Promise<EntryContent> {
    if (entry === undefined) return Buffer.alloc(0)
    const sha256 = findFileHash(entry)
    if (sha256 === null) return entry.startsWith('link ') ? Buffer.from(`${entry}\n`) : 'not_kept'
    const kept = this.app.trees.contents.get(sha256)
    if (kept !== null) return kept.length > this.bytesMax ? 'too_large' : kept
    const present = await this.#readPresent(path)
    if (present === 'too_large') return present
    // Only the content that the entry names is shown: the file may be written again at any time.
    if (present !== null && sha256Hex(present) === sha256) return present
    if (this.#gitReads >= GIT_READS_MAX || !existsSync(this.#repository)) return 'not_kept'
    this.#gitReads += 1
    const found = await findContentByHash(this.app, { tree: this.#repository, path, sha256 }).catch(() => null)
    if (found === null) return 'not_kept'
    return found.length > this.bytesMax ? 'too_large' : found
  }

  async #readPresent(path: string): Promise<Buffer | 'too_large' | null> {
    if (!existsSync(this.#tree)) return null
    const opened = openFile(this.#tree, path)
    if (!opened.ok) return null
    try {
      if (opened.stat.size > this.bytesMax) return 'too_large'
      const content = await readBytes(opened.fd, this.bytesMax + 1)
      return content.length > this.bytesMax ? 'too_large' : content
    } finally {
      closeSync(opened.fd)
    }
  }
}
