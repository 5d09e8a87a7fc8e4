import { closeSync } from 'node:fs'
import { isAtOrBelow } from '../../base/is-at-or-below.js'
import type { JsonObject } from '../../core/json.js'
import { findFileHash } from '../../tree/find-file-hash.js'
import { openFile } from '../../tree/lookup.js'
import { readBytes } from '../../tree/read-bytes.js'
import type { Resources } from '../resources.js'
import { KEPT_BYTES_MAX } from './kept-contents.js'
import type { BegunChange } from './tree-journal.js'
import type { Accepted } from './trees.js'

/** What belongs to a change beside its files. Each act can be repeated: a killed server does it again. */
export interface FollowUps extends JsonObject {
  /** The layer of the task must not hide what was written to the tree. */
  readonly uncovers?: boolean
  /** Everything that commands of the task wrote to ignored paths belongs to a tree that is gone. */
  readonly dropsLayer?: boolean
  /** Folders of packages that were installed, and the paths that the install named. */
  readonly installed?: { readonly folders: readonly string[]; readonly paths: readonly string[] }
  /** Paths that are expected with these entries and packages from now on. */
  readonly accepted?: readonly Accepted[]
  /** Unexplained changes that a person accepted or reverted. */
  readonly settled?: readonly string[]
  /** Changes of installed packages and ignored files that a person accepted. */
  readonly dependencies?: readonly string[]
  /** Moments that begin with the tree as it is now. */
  readonly moments?: readonly string[]
}

/** Does what belongs to a change that is recorded. `isLate`: the server that made the change was killed. */
export async function followChange(
  app: Resources,
  change: BegunChange,
  { isLate }: { readonly isLate: boolean },
): Promise<void> {
  const { tree, taskId, plan } = change
  const follow = change.follow as FollowUps
  await keepWritten(app, change)
  if (follow.dropsLayer === true) await app.scratch.drop(taskId)
  if (follow.uncovers === true && plan !== null) {
    const paths = plan.steps.filter(({ type }) => type !== 'make_directory').map(({ path }) => path)
    if (paths.length > 0) await app.scratch.forget(taskId, paths)
  }
  if (follow.installed !== undefined) {
    const before = isLate ? (change.madeAt ?? 0) : Number.POSITIVE_INFINITY
    await acceptInstalled(app, change, { ...follow.installed, before })
  }
  if (follow.accepted !== undefined) app.trees.acceptEntries(tree, follow.accepted)
  if (follow.settled !== undefined) app.trees.tasks.settle(tree, taskId, follow.settled)
  if (follow.dependencies !== undefined)
    await app.views.acceptDependencies(taskId, tree, { paths: follow.dependencies, before: Number.POSITIVE_INFINITY })
  for (const moment of follow.moments ?? []) app.trees.mark(tree, taskId, moment)
}

// What allowed calls wrote can be restored later. Large files are not stored.
async function keepWritten(app: Resources, { tree, lines }: BegunChange): Promise<void> {
  if (!app.trees.isKnown(tree)) return
  for (const [path, what] of lines) {
    const sha256 = what === null ? null : findFileHash(what)
    const opened = sha256 === null ? null : openFile(tree, path)
    if (opened === null || !opened.ok) continue
    try {
      if (opened.stat.size < KEPT_BYTES_MAX) app.trees.contents.keep(await readBytes(opened.fd, KEPT_BYTES_MAX))
    } finally {
      closeSync(opened.fd)
    }
  }
}

async function acceptInstalled(
  app: Resources,
  { tree, taskId }: BegunChange,
  { folders: all, paths, before }: NonNullable<FollowUps['installed']> & { readonly before: number },
): Promise<void> {
  await app.views.acceptDependencies(taskId, tree, { paths, before })
  const later = before === Number.POSITIVE_INFINITY ? [] : await app.views.findDependencyChanges(taskId, tree)
  // Nothing is known about a task of an earlier version: an operator accepts the packages.
  const folders = all.filter((folder) => later !== null && !later.some((path) => isAtOrBelow(folder, path)))
  const { index } = await app.trees.compare(tree)
  const packages = Object.keys(index.packages).filter((path) => folders.some((folder) => isAtOrBelow(folder, path)))
  const others = folders.filter((folder) => index.packages[folder] === undefined)
  app.trees.accept(tree, index, [...packages, ...others])
}
