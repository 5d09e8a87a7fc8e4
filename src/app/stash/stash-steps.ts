import { openSync } from 'node:fs'
import { findFileHash } from '../../tree/find-file-hash.js'
import { toPlainPaths } from '../../tree/only-paths.js'
import { TREE_PROBLEMS } from '../../tree/problems.js'
import { isTargetInside, type TreeStep } from '../../tree/write/tree-steps.js'
import { openTreeWriter } from '../../tree/write/tree-writer.js'
import type { App } from '../app.js'
import type { Stash, StashedPath, StashShelf } from './stash-store.js'

/** `was`: the tree without the work of the task. `now`: with it. */
type Side = 'was' | 'now'

type Done = { readonly ok: true } | { readonly ok: false; readonly why: string }

/**
 * Brings the paths of a stash to one side, whichever side each is on now. All of them or none, unless the process is
 * killed.
 */
export async function bringTo(app: App, shelf: StashShelf, stash: Stash, side: Side): Promise<Done> {
  const { index } = await app.trees.compare(stash.tree)
  const steps = planSteps(shelf, stash, side, index.entries)
  if (steps === null) return { ok: false, why: `the content of stash ${stash.id} is damaged` }
  if (steps.length > 0) {
    const done = await openTreeWriter(stash.tree).commit(steps)
    if (!done.ok) return { ok: false, why: `${JSON.stringify(done.path)} ${TREE_PROBLEMS[done.problem]}` }
  }
  expectSide(app, stash, { side, index: (await app.trees.compare(stash.tree)).index })
  return { ok: true }
}

// The expected content comes from the plan, not from the disk: somebody may have changed it first.
function expectSide(
  app: App,
  stash: Stash,
  one: { readonly side: Side; readonly index: Parameters<App['trees']['accept']>[1] },
): void {
  const entries = toPlainPaths(one.index.entries)
  for (const { path, was, expected } of stash.paths) {
    const what = one.side === 'was' ? was : expected
    if (what === null) delete entries[path]
    else entries[path] = what
  }
  const paths = stash.paths.map(({ path }) => path)
  if (paths.length > 0) app.trees.accept(stash.tree, { ...one.index, entries }, paths)
}

/** Paths that match neither side: somebody else changed them. */
export function findStrayPaths(
  stash: Stash,
  entries: Readonly<Record<string, string>>,
  sides: readonly Side[],
): readonly string[] {
  return stash.paths
    .filter((one) => !sides.some((side) => one[side] === (entries[one.path] ?? null)))
    .map(({ path }) => path)
}

// Obstacles are removed first. Null: a content is missing.
function planSteps(
  shelf: StashShelf,
  stash: Stash,
  side: Side,
  entries: Readonly<Record<string, string>>,
): readonly TreeStep[] | null {
  const gone: TreeStep[] = []
  const back: TreeStep[] = []
  const isFolder = listFolders(entries)
  const folders = stash.paths.filter((one) => one[side] !== null && isFolder.has(one.path)).map(({ path }) => path)
  const isCovered = (path: string): boolean => folders.some((folder) => path.startsWith(`${folder}/`))
  for (const path of folders) gone.push({ type: 'delete', path, isRecursive: true })
  for (const one of stash.paths) {
    const target = one[side]
    const there = entries[one.path] ?? null
    const isInTheWay = there !== null && parseKind(there) !== parseKind(target ?? '')
    if (isInTheWay && !isCovered(one.path)) gone.push({ type: 'delete', path: one.path })
    if (target === null || target === there) continue
    const step = makeStep(shelf, stash, one, side)
    if (step === null) return null
    back.push(step)
  }
  return [...gone, ...back]
}

function makeStep(shelf: StashShelf, stash: Stash, one: StashedPath, side: Side): TreeStep | null {
  const { path } = one
  const sha256 = findFileHash(one[side])
  if (sha256 === null) return { type: 'make_link', path, target: linkTarget(one[side]) ?? '' }
  const file = shelf.findContent(stash.id, sha256)
  if (file === null) return null
  const mode = side === 'now' && one.mode !== null ? { mode: one.mode } : {}
  return { type: 'write', path, content: () => openSync(file, 'r'), ...mode }
}

function listFolders(entries: Readonly<Record<string, string>>): ReadonlySet<string> {
  const folders = new Set<string>()
  for (const path of Object.keys(entries))
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const folder = path.slice(0, end)
      if (folders.has(folder)) break
      folders.add(folder)
    }
  return folders
}

function parseKind(entry: string): string {
  return entry.split(' ')[0] ?? ''
}

function linkTarget(entry: string | null): string | null {
  return /^link (.+)$/s.exec(entry ?? '')?.[1] ?? null
}

/** Whether it could be restored: a file, a link that stays inside the tree, or nothing. */
export function isKeepable(path: string, entry: string | null): boolean {
  if (entry === null || findFileHash(entry) !== null) return true
  const target = linkTarget(entry)
  return target !== null && target !== '?' && isTargetInside(path, target)
}
