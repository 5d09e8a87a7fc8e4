import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { link, rename, unlink } from 'node:fs/promises'
import {
  formatFdPath,
  formatIdentity,
  formatInode,
  isForeign,
  type OpenResult,
  openEntry,
  openParent,
} from '../lookup.js'
import { getErrno, ignoreGone, makeRefused, type TreeRefusal, toRefused } from '../problems.js'
import { type Home, nameTemporary, type Run, returnToSpot, type Spot, toHome } from './commit-run.js'
import { MODE_MASK, type StagedFile, stage } from './stage-file.js'
import type { Content, TreeStep } from './tree-steps.js'
import { getParentPath, replaceLastName } from './tree-steps.js'

// Only regular files are expected; another kind must not block.
const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK

/**
 * Steps that create a new file: an existing file is never written in place, so that its other hard links keep their
 * content.
 */
export type FileStep = Extract<TreeStep, { readonly type: 'write' | 'append' | 'set_mode' }>

export interface Prepared {
  readonly staged: StagedFile
  /** The file as it was checked; null when there was none. */
  readonly old: string | null
}

/** Writes the new file next to the old one, under a temporary name. */
export async function prepareFile(run: Run, step: FileStep, spot: Spot): Promise<OpenResult<Prepared>> {
  const target = openEntry(spot.fd, spot.name)
  try {
    const problem = target.ok ? (target.kind === 'file' ? null : target.kind) : target.problem
    if (problem !== null && problem !== 'missing') return makeRefused(problem, step.path)
    const old = target.ok ? formatIdentity(target.stat) : null
    if (step.type === 'set_mode' && old === null) return makeRefused('missing', step.path)
    if (step.type === 'write' && step.expected !== undefined && step.expected !== old)
      return makeRefused('changed', step.path)
    if (step.type !== 'write' && target.ok && isForeign(run.root, target.stat)) return makeRefused('foreign', step.path)
    const kept = target.ok ? Number(target.stat.mode) & MODE_MASK : null
    const mode = (step.type === 'append' ? undefined : step.mode) ?? kept
    const contents = listContents(step, target.ok ? target.fd : null)
    const name = nameTemporary(run, step, 'new')
    const done = await stage({ directoryFd: spot.fd, name, contents, mode, path: step.path })
    if (!done.ok) return done
    run.unused.set(done.staged.name, toHome(spot))
    return { ok: true, staged: done.staged, old }
  } catch (error) {
    return toRefused(error, step.path)
  } finally {
    if (target.ok) closeSync(target.fd)
  }
}

function listContents(step: FileStep, oldFd: number | null): readonly Content[] {
  if (step.type === 'write') return [step.content]
  const old: readonly Content[] = oldFd === null ? [] : [() => openSync(`/proc/self/fd/${oldFd}`, READ_FLAGS)]
  return step.type === 'append' ? [...old, step.content] : old
}

export async function putFile(run: Run, step: FileStep, one: Spot & Prepared): Promise<TreeRefusal | null> {
  const { staged, old, path } = one
  const target = openEntry(one.fd, one.name)
  if (target.ok) closeSync(target.fd)
  const now = target.ok ? formatIdentity(target.stat) : null
  // The copied or expected file must still be the one that is replaced; a plain write replaces any file.
  const isBound = step.type !== 'write' || step.expected !== undefined
  if (isBound && now !== old) return makeRefused('changed', path)
  if (target.ok && target.kind !== 'file') return makeRefused(target.kind, path)
  const problem = await swapIn(run, { ...one, step, temp: staged.name, inode: staged.inode, isReplacing: target.ok })
  if (problem !== null) return problem
  run.unused.delete(staged.name)
  const kind = target.ok ? 'modified' : 'created'
  run.changes.push({ path, kind, type: 'file', bytes: staged.bytes, sha256: staged.sha256, problem: null })
  return null
}

interface Swap extends Spot {
  readonly step: TreeStep
  /** The replacement, in the same directory. */
  readonly temp: string
  readonly inode: string
  readonly isReplacing: boolean
}

/** Renames a prepared entry to its name, keeping the old one until the whole commit is done. */
export async function swapIn(run: Run, swap: Swap): Promise<TreeRefusal | null> {
  const { fd, name, path, temp, inode } = swap
  const home = toHome(swap)
  run.touched.add(getParentPath(path))
  try {
    const kept = swap.isReplacing && run.keepsOld ? await keepAside(run, swap) : null
    run.undo.push(async () => {
      const done = await returnToSpot(run.root, home, (spot) => restore(spot, inode, kept))
      if (done !== true && kept !== null) throw new Error(`${path} could not be put back: ${done.problem}`)
    })
    if (kept !== null) run.finish.push({ path: replaceLastName(path, kept), remove: () => removeKept(run, home, kept) })
    if (!isStillAt(run, swap)) return makeRefused('changed', path)
    await rename(formatFdPath(fd, temp), formatFdPath(fd, name))
  } catch (error) {
    return toRefused(error, path)
  }
  const put = openEntry(fd, name)
  if (put.ok) closeSync(put.fd)
  // Another process put an entry under our name before the rename, or after it.
  return put.ok && formatInode(put.stat) === inode ? null : makeRefused('changed', path)
}

// A directory that was moved elsewhere meanwhile is no longer the one of the path.
function isStillAt(run: Run, { fd, path }: Spot): boolean {
  const now = openParent(run.root, path)
  if (!now.ok) return false
  const isSame = formatInode(fstatSync(now.fd, { bigint: true })) === formatInode(fstatSync(fd, { bigint: true }))
  closeSync(now.fd)
  return isSame
}

async function keepAside(run: Run, { fd, name, step }: Swap): Promise<string> {
  const kept = nameTemporary(run, step, 'old')
  try {
    await link(formatFdPath(fd, name), formatFdPath(fd, kept))
  } catch (error) {
    // Some systems do not allow hard links to files of others; then the name is missing for a moment.
    if (!['EPERM', 'EMLINK', 'EOPNOTSUPP', 'ENOTSUP', 'ENOSYS'].includes(getErrno(error))) throw error
    await rename(formatFdPath(fd, name), formatFdPath(fd, kept))
  }
  return kept
}

async function restore({ fd, name }: Spot, inode: string, kept: string | null): Promise<true> {
  const now = openEntry(fd, name)
  if (now.ok) closeSync(now.fd)
  const isOurs = now.ok && formatInode(now.stat) === inode
  if (kept !== null && (isOurs || !now.ok)) await rename(formatFdPath(fd, kept), formatFdPath(fd, name))
  else if (isOurs) await ignoreGone(unlink(formatFdPath(fd, name)))
  else if (kept !== null) await ignoreGone(unlink(formatFdPath(fd, kept)))
  return true
}

async function removeKept(run: Run, home: Home, kept: string): Promise<boolean> {
  const removed = await returnToSpot(run.root, home, async ({ fd }) => {
    await ignoreGone(unlink(formatFdPath(fd, kept)))
    return true
  })
  return removed === true
}
