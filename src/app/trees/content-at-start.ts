import { sha256Hex } from '../../base/sha256.js'
import type { TaskState } from '../../core/task/state.js'
import { findFileHash } from '../../tree/find-file-hash.js'
import type { TreeIndex } from '../../tree/tree-contents.js'
import { openWorkTree } from '../../tree/work-tree.js'
import type { App } from '../app.js'
import { findContentByHash } from './reconcile.js'
import { formatVisitMoment } from './tree-moments.js'

/** Returns a file's content at the start of the visit: '' if it did not exist, null if unknown. */
export function makeStartContentReader(app: App, state: TaskState): (path: string) => Promise<string | null> {
  const tree = state.workspace
  // Read on first use: most phases add no comments that look like code.
  let start: TreeIndex | null | undefined
  return async (path) => {
    start ??=
      app.trees.readMark(tree, state.id, formatVisitMoment(state.visit)) ??
      app.trees.readMark(tree, state.id, state.phase)
    if (start === null) return null
    const sha256 = findFileHash(start.entries[path])
    if (sha256 === null) return ''
    const now = await openWorkTree(tree).read(path)
    if (now !== null && sha256Hex(now) === sha256) return now.toString('utf8')
    return (await findContentByHash(app, { tree, path, sha256 }))?.toString('utf8') ?? null
  }
}
