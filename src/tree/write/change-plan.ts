import { closeSync, readlinkSync } from 'node:fs'
import { chmod, rename, rmdir, unlink } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sha256Hex } from '../../base/sha256.js'
import { type Entry, formatFdPath, formatInode, openEntry, openParent } from '../lookup.js'
import { getErrno, ignoreGone, TreeUnreadable } from '../problems.js'
import { runAtSpot, type Spot, syncTouched } from './commit-run.js'
import { hashEntry } from './hash-entry.js'
import { removeWhole } from './remove-whole.js'
import { MODE_MASK } from './stage-file.js'
import { makeTemporaryName } from './temporary-name.js'
import { getParentPath, type TreeStep } from './tree-steps.js'

const STEPS_PER_TURN = 200
const NAME_BYTES_MAX = 255

/**
 * What is needed to take a change of a tree back, or to finish it, when the process that made it was killed. The names of
 * temporary entries follow from the secret.
 */
export interface ChangePlan {
  readonly secret: string
  readonly steps: readonly PlannedStep[]
  /** Folders that the change makes on the way, the upper ones first. */
  readonly folders: readonly string[]
}

interface PlannedStep {
  readonly type: TreeStep['type']
  readonly path: string
  /** What was there before; null: nothing. */
  readonly was: 'file' | 'directory' | 'link' | 'special' | null
  /** The mode before, where the step changes it. */
  readonly mode?: number
  /** SHA-256 of the new file, or the new target of a link. */
  readonly becomes?: string
}

/** Plans a change before it begins. */
export async function planChange(root: string, secret: string, steps: readonly TreeStep[]): Promise<ChangePlan> {
  const planned: PlannedStep[] = []
  const folders = new Set<string>()
  const deleted = new Set<string>()
  for (const [index, step] of steps.entries()) {
    if (index % STEPS_PER_TURN === STEPS_PER_TURN - 1) await nextTurn()
    const before = findAbove(deleted, step.path) ?? readBefore(root, step.path)
    if (step.type === 'delete') deleted.add(step.path)
    else for (const folder of before.missing) folders.add(folder)
    const becomes = findNewContent(step)
    planned.push({
      type: step.type,
      path: step.path,
      was: before.kind,
      ...(before.mode === null ? {} : { mode: before.mode }),
      ...(becomes === null ? {} : { becomes }),
    })
  }
  return { secret, steps: planned, folders: [...folders].sort() }
}

/** The same plan with the hashes of files that are ready by now. */
export function addHashes(plan: ChangePlan, findHash: (index: number) => string | null): ChangePlan {
  const steps = plan.steps.map((step, index) => {
    const becomes = findHash(index)
    return becomes === null ? step : { ...step, becomes }
  })
  return { ...plan, steps }
}

// What is appended becomes another file, unless there is none yet.
function findNewContent(step: TreeStep): string | null {
  if (step.type === 'make_link') return step.target
  if (step.type === 'append') return sha256Hex(step.content)
  if (step.type !== 'write') return null
  return typeof step.content === 'function' ? (step.sha256 ?? null) : sha256Hex(step.content)
}

/** What is left of a path at or below one that an earlier step deletes: nothing. */
function findAbove(deleted: ReadonlySet<string>, path: string): Before | null {
  const missing: string[] = []
  for (let at = path; at !== ''; at = getParentPath(at)) {
    if (at !== path) missing.unshift(at)
    if (deleted.has(at)) return { kind: null, mode: null, missing }
  }
  return null
}

interface Before {
  readonly kind: PlannedStep['was']
  readonly mode: number | null
  /** The folders above that do not exist. */
  readonly missing: readonly string[]
}

function readBefore(root: string, path: string): Before {
  const parent = openParent(root, path)
  if (!parent.ok) {
    const missing: string[] = []
    const top = parent.problem === 'missing' ? parent.path : null
    for (let at = getParentPath(path); at !== ''; at = getParentPath(at)) {
      if (top !== null) missing.unshift(at)
      if (at === top) break
    }
    return { kind: null, mode: null, missing }
  }
  try {
    const entry = openEntry(parent.fd, parent.name)
    if (!entry.ok) return { kind: null, mode: null, missing: [] }
    closeSync(entry.fd)
    return { kind: entry.kind, mode: Number(entry.stat.mode) & 0o7777, missing: [] }
  } finally {
    closeSync(parent.fd)
  }
}

/**
 * Takes a change back that was interrupted anywhere. What somebody else has put in a place since stays there: returns
 * these paths. What was removed and cannot return to its place is put next to it.
 */
export async function undoPlan(root: string, plan: ChangePlan): Promise<readonly string[]> {
  const touched = new Set<string>()
  const conflicts: string[] = []
  for (let index = plan.steps.length - 1; index >= 0; index -= 1) {
    const step = plan.steps[index]
    if (step === undefined) continue
    if (index % STEPS_PER_TURN === 0) await nextTurn()
    const names = {
      fresh: makeTemporaryName(plan.secret, index, 'new'),
      old: makeTemporaryName(plan.secret, index, 'old'),
    }
    const done = await runAtSpot(root, step.path, (spot) => tryUndo(touched, step, { ...spot, ...names }))
    // Without its folder nothing was made there. What was there before has gone with the folder: by somebody else.
    if (done === 'conflict' || (typeof done === 'object' && step.was !== null)) conflicts.push(step.path)
  }
  for (const path of plan.folders.toReversed()) await runAtSpot(root, path, (spot) => removeEmptyFolder(touched, spot))
  await syncTouched({ root, touched })
  return conflicts
}

type UndoneStep = 'done' | 'conflict'

interface StepSpot extends Spot {
  readonly fresh: string
  readonly old: string
}

// What others put under our names, or in our way, must not keep the rest from being taken back. Everything else, such as
// a full disk, leaves the change open: it is taken back later.
async function tryUndo(touched: Set<string>, step: PlannedStep, spot: StepSpot): Promise<UndoneStep> {
  try {
    return await undoStep(touched, step, spot)
  } catch (error) {
    if (!IN_THE_WAY.has(getErrno(error))) throw error
    return 'conflict'
  }
}

const IN_THE_WAY: ReadonlySet<string> = new Set([
  ...['ENOTDIR', 'EISDIR', 'ENOTEMPTY', 'EEXIST', 'ELOOP', 'ENAMETOOLONG', 'ENOENT', 'EPERM', 'EBUSY', 'EXDEV'],
])

async function undoStep(touched: Set<string>, step: PlannedStep, spot: StepSpot): Promise<UndoneStep> {
  touched.add(getParentPath(step.path))
  switch (step.type) {
    case 'delete':
      return putBackDeleted(spot)
    case 'make_directory':
      return step.was === null ? removeMade(touched, spot) : restoreMode(step, spot)
    case 'write':
    case 'append':
    case 'make_link':
      return undoReplaced(step, spot)
    case 'set_mode': {
      const replaced = await undoReplaced(step, spot)
      return replaced === 'done' ? restoreMode(step, spot) : replaced
    }
  }
}

async function putBackDeleted({ fd, name, old }: StepSpot): Promise<UndoneStep> {
  if (!isThere(fd, old)) return 'done'
  if (!isThere(fd, name)) {
    await rename(formatFdPath(fd, old), formatFdPath(fd, name))
    return 'done'
  }
  await putNextTo({ fd, name, old })
  return 'conflict'
}

// The entry would be lost otherwise. As a new path it is found and named by the next comparison of the tree.
async function putNextTo({ fd, name, old }: Pick<StepSpot, 'fd' | 'name' | 'old'>): Promise<void> {
  const suffix = `.before-${old.slice(-8)}`
  await rename(formatFdPath(fd, old), formatFdPath(fd, shorten(name, NAME_BYTES_MAX - suffix.length) + suffix))
}

function shorten(name: string, bytesMax: number): string {
  let short = name
  while (Buffer.byteLength(short) > bytesMax) short = [...short].slice(0, -1).join('')
  return short
}

async function undoReplaced(step: PlannedStep, spot: StepSpot): Promise<UndoneStep> {
  const { fd, name, fresh, old } = spot
  const wasUnused = isThere(fd, fresh)
  await ignoreGone(unlink(formatFdPath(fd, fresh)))
  const kept = openEntry(fd, old)
  if (kept.ok) closeSync(kept.fd)
  const now = openEntry(fd, name)
  try {
    if (kept.ok) {
      if (now.ok && formatInode(now.stat) === formatInode(kept.stat)) await unlink(formatFdPath(fd, old))
      else if (!now.ok || (await isOurs(step, now, spot))) await rename(formatFdPath(fd, old), formatFdPath(fd, name))
      else {
        await putNextTo(spot)
        return 'conflict'
      }
      return 'done'
    }
    // Replaced entries are kept first: without one, nothing was replaced here.
    if (wasUnused || step.was !== null || !now.ok) return 'done'
    if (!(await isOurs(step, now, spot))) return 'conflict'
    await ignoreGone(unlink(formatFdPath(fd, name)))
    return 'done'
  } finally {
    if (now.ok) closeSync(now.fd)
  }
}

async function isOurs({ type, becomes }: PlannedStep, now: Entry, spot: Spot): Promise<boolean> {
  if (becomes === undefined) return false
  if (type === 'make_link') return now.kind === 'link' && readlinkSync(formatFdPath(spot.fd, spot.name)) === becomes
  return now.kind === 'file' && (await hashEntry(now)) === becomes
}

async function restoreMode({ mode }: PlannedStep, { fd, name }: Spot): Promise<UndoneStep> {
  const now = openEntry(fd, name)
  if (!now.ok) return 'conflict'
  try {
    if (now.kind === 'link' || mode === undefined || (Number(now.stat.mode) & 0o7777) === mode) return 'done'
    // It may be a file of somebody else by now, with a name outside the tree.
    if (now.kind === 'file' && now.stat.nlink > 1n) return 'conflict'
    await chmod(`/proc/self/fd/${now.fd}`, mode & (now.kind === 'directory' ? 0o7777 : MODE_MASK))
    return 'done'
  } finally {
    closeSync(now.fd)
  }
}

async function removeMade(touched: Set<string>, spot: Spot): Promise<UndoneStep> {
  await removeEmptyFolder(touched, spot)
  return 'done'
}

async function removeEmptyFolder(touched: Set<string>, { fd, name, path }: Spot): Promise<void> {
  try {
    await rmdir(formatFdPath(fd, name))
    touched.add(getParentPath(path))
  } catch (error) {
    // Somebody else put something into it, or it was never made.
    if (!['ENOTEMPTY', 'ENOENT', 'ENOTDIR'].includes(getErrno(error))) throw error
  }
}

/** Removes the temporary entries of a change that is recorded. */
export async function finishPlan(root: string, plan: ChangePlan): Promise<void> {
  for (const [index, { path }] of plan.steps.entries()) {
    if (index % STEPS_PER_TURN === STEPS_PER_TURN - 1) await nextTurn()
    await runAtSpot(root, path, async ({ fd }) => {
      const old = makeTemporaryName(plan.secret, index, 'old')
      if (isThere(fd, old)) await removeWhole(fd, old)
    })
  }
}

// What cannot be looked for may be there.
function isThere(directoryFd: number, name: string): boolean {
  const entry = openEntry(directoryFd, name)
  if (entry.ok) closeSync(entry.fd)
  else if (entry.problem !== 'missing') throw new TreeUnreadable(`${name} cannot be read: ${entry.problem}`)
  return entry.ok
}

/** The names of all temporary entries of a change. */
export function listTemporaryNames({ secret, steps }: ChangePlan): ReadonlySet<string> {
  return new Set(
    steps.flatMap((_, index) => [makeTemporaryName(secret, index, 'new'), makeTemporaryName(secret, index, 'old')]),
  )
}
