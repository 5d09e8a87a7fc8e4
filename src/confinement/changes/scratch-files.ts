import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
} from 'node:fs'
import { copyFile, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Change } from '../../tree/change.js'

const MODE_MASK = 0o777
const REMOVED = { recursive: true, force: true } as const
/** Using a thread for each step of a small file takes longer than the steps. */
const SMALL_BYTES_MAX = 256 * 1024
const STEPS_PER_TURN = 50

/** Applies some changes of a command to a folder. Existing entries are replaced, never written through. */
export async function copyChanges(
  view: string,
  files: string,
  changes: readonly Change[],
  how: 'copy' | 'move' = 'copy',
): Promise<void> {
  const made = new Set<string>()
  const put = how === 'copy' ? copyEntry : moveEntry
  const inTurns = async (all: readonly Change[], work: (change: Change) => Promise<void> | void): Promise<void> => {
    for (const [index, change] of all.entries()) {
      if (index % STEPS_PER_TURN === STEPS_PER_TURN - 1) await nextTurn()
      await work(change)
    }
  }
  const gone = changes.filter((change) => change.kind === 'deleted')
  const stays = changes.filter((change) => change.kind !== 'deleted')
  await inTurns(gone, ({ path }) => rmSync(join(files, path), REMOVED))
  await inTurns(stays, ({ path, type }) => {
    makeFolders(files, type === 'directory' ? path : getParent(path), made)
    if (type === 'directory') chmodSync(join(files, path), (lstatSync(join(view, path)).mode & MODE_MASK) | 0o700)
  })
  await inTurns(stays, ({ path, type }) =>
    type === 'directory' ? undefined : put(join(view, path), join(files, path), type),
  )
}

/** Removes folders that led to a removed entry, unless they are ignored themselves. */
export async function removeEmpty(
  files: string,
  gone: readonly string[],
  entries: Readonly<Record<string, unknown>>,
): Promise<void> {
  const folders = new Set(
    gone.flatMap((path) => listSelfAndAbove(getParent(path))).filter((path) => !(path in entries)),
  )
  const deepestFirst = [...folders].sort((a, b) => b.length - a.length)
  for (const folder of deepestFirst)
    await rmdir(join(files, folder)).catch((error: NodeJS.ErrnoException) => {
      if (!LEFT_ALONE.has(error.code ?? '')) throw error
    })
}

const LEFT_ALONE: ReadonlySet<string> = new Set(['ENOTEMPTY', 'ENOENT', 'EEXIST', 'ENOTDIR'])

// A link or file of an earlier command may be where a folder is now: nothing is ever created through it.
function makeFolders(files: string, path: string, made: Set<string>): void {
  if (path === '' || made.has(path)) return
  makeFolders(files, getParent(path), made)
  const folder = join(files, path)
  const there = lstatSync(folder, { throwIfNoEntry: false })
  if (there !== undefined && !there.isDirectory()) rmSync(folder, REMOVED)
  if (there?.isDirectory() !== true) mkdirSync(folder, { mode: 0o755 })
  made.add(path)
}

// What an interrupted move has moved already is in its place.
async function moveEntry(from: string, to: string): Promise<void> {
  if (lstatSync(from, { throwIfNoEntry: false }) === undefined) return
  rmSync(to, REMOVED)
  renameSync(from, to)
}

// All processes of the command have ended, so the view no longer changes.
async function copyEntry(from: string, to: string, type: Change['type']): Promise<void> {
  rmSync(to, REMOVED)
  if (type === 'link') return symlinkSync(readlinkSync(from), to)
  const fd = openSync(from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const { size, mode, atime, mtime } = fstatSync(fd)
    if (size <= SMALL_BYTES_MAX) copyFileSync(`/proc/self/fd/${fd}`, to, constants.COPYFILE_EXCL)
    else await copyFile(`/proc/self/fd/${fd}`, to, constants.COPYFILE_EXCL)
    chmodSync(to, (mode & MODE_MASK) | 0o600)
    // Build tools compare modification times.
    utimesSync(to, atime, mtime)
  } finally {
    closeSync(fd)
  }
}

export function listSelfAndAbove(path: string): readonly string[] {
  const all: string[] = []
  for (let at = path; at !== ''; at = getParent(at)) all.push(at)
  return all
}

export function getParent(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0))
}
