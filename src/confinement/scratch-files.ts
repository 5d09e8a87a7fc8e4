import { closeSync, constants, openSync } from 'node:fs'
import { chmod, copyFile, lstat, mkdir, readlink, rm, rmdir, symlink, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import type { Change } from '../tree/change.js'

const COPIED_AT_ONCE = 4
const MODE_MASK = 0o777
const REMOVED = { recursive: true, force: true } as const

/** Does to a folder what a command did to its view, for some of its changes. What is there is replaced, never written through. */
export async function copyChanges(view: string, files: string, changes: readonly Change[]): Promise<void> {
  for (const { path, kind } of changes) if (kind === 'deleted') await rm(join(files, path), REMOVED)
  const stays = changes.filter((change) => change.kind !== 'deleted')
  for (const { path, type } of stays) {
    await makeFolders(files, type === 'directory' ? path : parentOf(path))
    if (type === 'directory') await copyMode(join(view, path), join(files, path), 0o700)
  }
  await inLanes(
    stays.filter((change) => change.type !== 'directory'),
    (change) => copyEntry(join(view, change.path), join(files, change.path), change.type),
  )
}

/** Takes away folders that led to something and lead to nothing now, but for those that are there for their own sake. */
export async function removeEmpty(
  files: string,
  gone: readonly string[],
  entries: Readonly<Record<string, unknown>>,
): Promise<void> {
  const folders = new Set(gone.flatMap((path) => selfAndAbove(parentOf(path))).filter((path) => !(path in entries)))
  const deepestFirst = [...folders].sort((a, b) => b.length - a.length)
  for (const folder of deepestFirst)
    await rmdir(join(files, folder)).catch((error: NodeJS.ErrnoException) => {
      if (!LEFT_ALONE.has(error.code ?? '')) throw error
    })
}

const LEFT_ALONE: ReadonlySet<string> = new Set(['ENOTEMPTY', 'ENOENT', 'EEXIST', 'ENOTDIR'])

// A link or file of an earlier command may lie where a folder is now: nothing is ever made through it.
async function makeFolders(files: string, path: string): Promise<void> {
  if (path === '') return
  await makeFolders(files, parentOf(path))
  const folder = join(files, path)
  const there = await lstat(folder).catch(() => null)
  if (there?.isDirectory() === true) return
  if (there !== null) await rm(folder, REMOVED)
  await mkdir(folder, { mode: 0o755 })
}

// The command and all it started are gone: nobody changes the view any more.
async function copyEntry(from: string, to: string, type: Change['type']): Promise<void> {
  await rm(to, REMOVED)
  if (type === 'link') return symlink(await readlink(from), to)
  const fd = openSync(from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    await copyFile(`/proc/self/fd/${fd}`, to, constants.COPYFILE_EXCL)
  } finally {
    closeSync(fd)
  }
  await copyMode(from, to, 0o600)
  // What builds again only what is older than its source looks at the times.
  const { atime, mtime } = await lstat(from)
  await utimes(to, atime, mtime)
}

async function copyMode(from: string, to: string, least: number): Promise<void> {
  await chmod(to, ((await lstat(from)).mode & MODE_MASK) | least)
}

async function inLanes<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    for (let one = all[next++]; one !== undefined; one = all[next++]) await work(one)
  }
  await Promise.all(Array.from({ length: COPIED_AT_ONCE }, lane))
}

export function selfAndAbove(path: string): readonly string[] {
  const all: string[] = []
  for (let at = path; at !== ''; at = parentOf(at)) all.push(at)
  return all
}

export function isAt(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0))
}
