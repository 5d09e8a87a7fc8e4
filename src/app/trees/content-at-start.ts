import type { TaskState } from '../../core/task/state.js'
import type { TreeIndex } from '../../tree/tree-contents.js'
import { openWorkTree } from '../../tree/work-tree.js'
import type { App } from '../app.js'
import { hashContent } from './kept-contents.js'
import { findContentByHash } from './reconcile.js'

/** Gives what a file held when the visit began: '' where there was no such file, null where it is not known. */
export function makeStartContentReader(app: App, state: TaskState): (path: string) => Promise<string | null> {
  const tree = state.workspace
  // Read when it is first asked for: most phases add no comments that look like code.
  let start: TreeIndex | null | undefined
  return async (path) => {
    start ??=
      app.trees.readMark(tree, state.id, formatRewindMark(state.visit)) ??
      app.trees.readMark(tree, state.id, state.phase)
    if (start === null) return null
    const [, sha256] = /^file ([0-9a-f]{64})$/.exec(start.entries[path] ?? '') ?? []
    if (sha256 === undefined) return ''
    const now = await openWorkTree(tree).read(path)
    if (now !== null && hashContent(now) === sha256) return now.toString('utf8')
    return (await findContentByHash(app, { tree, path, sha256 }))?.toString('utf8') ?? null
  }
}

/** The mark of a visit that began with a rewind. That of its phase still says how the tree was when it was entered before. */
export function formatRewindMark(visit: number): string {
  return `visit ${visit}`
}
