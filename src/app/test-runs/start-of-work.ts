import { posix } from 'node:path'
import { sha256Hex } from '../../base/sha256.js'
import type { StartOfWork } from '../../checks/check-inputs.js'
import { matchesGlob } from '../../contract/glob.js'
import type { Contract } from '../../core/contract/contract.js'
import { allowsPinnedChange, type FileWrite } from '../../core/paths/opened-paths.js'
import type { TaskState } from '../../core/task/state.js'
import { findFileHash } from '../../tree/find-file-hash.js'
import type { TreeIndex } from '../../tree/tree-contents.js'
import { openWorkTree, type SkippedNames } from '../../tree/work-tree.js'
import type { Resources } from '../resources.js'
import { makeIgnored } from '../tool-calls/ignored-paths.js'
import { readEventsSince } from '../trees/phase-changes.js'
import { findContentByHash } from '../trees/reconcile.js'
import { WORK_BEGAN } from '../trees/trees.js'

/**
 * The work tree as it was when work on the task began. Files not recorded then (ignored files and installed packages,
 * or all with `reconcile: off`) count as they are now, unless a call wrote them since.
 */
export function startOfWork(app: Resources, contract: Contract, state: TaskState): StartOfWork {
  const root = state.workspace
  const now = openWorkTree(root)
  let marked: { readonly index: TreeIndex | null; readonly isIgnored: (path: string) => boolean } | undefined
  const looked = () => {
    if (marked !== undefined) return marked
    const index = app.trees.readMark(root, state.id, WORK_BEGAN)
    const ignored = makeIgnored(index?.rules ?? [])
    const isIgnored = (path: string): boolean => index === null || UNSEEN.test(path) || ignored(path, false)
    marked = { index, isIgnored }
    return marked
  }
  let written: Promise<ReadonlyMap<string, readonly FileWrite[]>> | undefined
  const writes = () => {
    written ??= collectWrites(app, state)
    return written
  }
  const entryOf = (path: string): string | undefined => looked().index?.entries[path]
  const read = async (path: string): Promise<Buffer | null> => {
    const entry = entryOf(path)
    const sha256 = findFileHash(entry)
    if (sha256 === null) return entry === undefined && (await isStill(path)) ? now.read(path) : null
    const present = await now.read(path)
    return present !== null && sha256Hex(present) === sha256
      ? present
      : findContentByHash(app, { tree: root, path, sha256 })
  }
  const isStill = async (path: string): Promise<boolean> => looked().isIgnored(path) && !(await writes()).has(path)
  const hash = async (path: string): Promise<string | null> => {
    const entry = entryOf(path)
    if (entry === undefined) return (await isStill(path)) ? now.hash(path) : null
    const sha256 = findFileHash(entry)
    if (sha256 !== null) return sha256
    const [, target] = /^link (.*)$/s.exec(entry) ?? []
    const content = target === undefined ? null : await read(posix.join(posix.dirname(path), target))
    return content === null ? null : sha256Hex(`link:${target}:`, content)
  }
  const list = async (skipped: SkippedNames) => {
    const entries = Object.entries(looked().index?.entries ?? {})
    const then = entries.map(([path, entry]) => ({ path, isLink: !entry.startsWith('file ') }))
    const known = new Set(then.map(({ path }) => path))
    const still: typeof then = []
    for (const one of await now.list(skipped)) if (!known.has(one.path) && (await isStill(one.path))) still.push(one)
    const isIn = ({ path }: { readonly path: string }): boolean => !isSkipped(path, skipped)
    return [...then.filter(isIn), ...still].sort((a, b) => (a.path < b.path ? -1 : 1))
  }
  const isPermitted = async (path: string): Promise<boolean> => {
    const sha256 = await now.hash(path)
    const file = { path, sha256, writes: (await writes()).get(path) ?? [] }
    return allowsPinnedChange(contract, file, { phase: state.phase, matchesGlob })
  }
  return { tree: { list, hash, read }, isPermitted }
}

// Indexes hold only a digest of these.
const UNSEEN = /(^|\/)(\.git|node_modules|\.venv|venv)(\/|$)/
// 0.2.0 wrote this reason when it restored a stash: changes of the task itself, which nobody recorded.
const POPPED = /^stash \S+ popped: /

async function collectWrites(app: Resources, state: TaskState): Promise<ReadonlyMap<string, readonly FileWrite[]>> {
  const { events } = await readEventsSince(app, state, 'task')
  const found = new Map<string, FileWrite[]>()
  const note = (path: string, write: FileWrite): void => {
    const list = found.get(path) ?? []
    list.push(write)
    found.set(path, list)
  }
  for (const event of events) {
    const { phase } = event
    if (event.type === 'tool_finished' || event.type === 'fact_recorded')
      for (const { path, sha256 } of event.changes ?? []) note(path, { phase, by: 'agent', sha256: sha256 ?? null })
    if (event.type === 'tree_accepted' && !POPPED.test(event.reason))
      for (const path of event.paths) note(path, { phase, by: 'operator', sha256: null })
    // A person requested or approved every install, so its changes count as the operator's.
    if (event.type === 'install_finished' && event.success)
      for (const path of event.paths) note(path, { phase, by: 'operator', sha256: null })
  }
  return found
}

function isSkipped(path: string, { anywhere, atRoot }: SkippedNames): boolean {
  const [first = '', ...rest] = path.split('/')
  return (rest.length > 0 && atRoot.has(first)) || [first, ...rest].slice(0, -1).some((name) => anywhere.has(name))
}
