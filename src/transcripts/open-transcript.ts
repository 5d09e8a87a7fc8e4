import { type BigIntStats, closeSync, constants, fstatSync, openSync } from 'node:fs'
import type { TranscriptFolder, TranscriptFormat } from './folders.js'

const PATH_CHARS_MAX = 4096
const PARTS_MAX = 64
const SUFFIX = '.jsonl'
// Opens a name without opening its target: no pipe blocks, no device notices. Node has no constant for it.
const O_PATH = 0o10000000
const DIRECTORY_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW

/** Why a transcript was not read. */
type TranscriptProblem =
  /** Not a path of a transcript inside one of the folders. */
  | 'outside'
  | 'missing'
  /** A link, a directory, a pipe or a device, or something below one. */
  | 'not_a_file'
  /** A hard link to a file whose owner differs from the folder's. */
  | 'foreign'
  | 'unreadable'

export interface TranscriptRefused {
  readonly ok: false
  readonly problem: TranscriptProblem
}

export interface OpenTranscript {
  readonly ok: true
  readonly fd: number
  readonly stat: BigIntStats
  readonly format: TranscriptFormat
}

/**
 * Opens a transcript that an agent named. Every name below the folder is opened inside the previous one and never
 * through a link: the agent could change the path between a check and the opening. The caller closes the descriptor.
 */
export function openTranscript(path: string, folders: readonly TranscriptFolder[]): OpenTranscript | TranscriptRefused {
  const place = findPlace(path, folders)
  if (place === null) return { ok: false, problem: 'outside' }
  const held: number[] = []
  try {
    return openIn(place, held)
  } catch (error) {
    return toRefused(error)
  } finally {
    for (const fd of held) closeSync(fd)
  }
}

interface Place {
  readonly folder: TranscriptFolder
  readonly directories: readonly string[]
  readonly name: string
}

function findPlace(path: string, folders: readonly TranscriptFolder[]): Place | null {
  if (path.length > PATH_CHARS_MAX || path.includes('\0') || !path.endsWith(SUFFIX)) return null
  for (const folder of folders) {
    const root = folder.path.replace(/\/+$/, '')
    if (!root.startsWith('/') || !path.startsWith(`${root}/`)) continue
    const parts = path.slice(root.length + 1).split('/')
    const name = parts.at(-1)
    const isPlain = parts.length <= PARTS_MAX && parts.every((part) => part !== '' && part !== '.' && part !== '..')
    return isPlain && name !== undefined ? { folder, directories: parts.slice(0, -1), name } : null
  }
  return null
}

function openIn(place: Place, held: number[]): OpenTranscript | TranscriptRefused {
  const hold = (path: string, flags: number): number => {
    const fd = openSync(path, flags)
    held.push(fd)
    return fd
  }
  // The folder itself is the operator's choice and may be a link; nothing below it may.
  const root = hold(place.folder.path, constants.O_RDONLY | constants.O_DIRECTORY)
  let directory = root
  for (const part of place.directories) directory = hold(formatFdPath(directory, part), DIRECTORY_FLAGS)
  const entry = hold(formatFdPath(directory, place.name), O_PATH | constants.O_NOFOLLOW)
  const stat = fstatSync(entry, { bigint: true })
  if (!stat.isFile()) return { ok: false, problem: 'not_a_file' }
  if (stat.nlink > 1n && stat.uid !== fstatSync(root, { bigint: true }).uid) return { ok: false, problem: 'foreign' }
  const fd = openSync(`/proc/self/fd/${entry}`, constants.O_RDONLY | constants.O_NONBLOCK)
  return { ok: true, fd, stat, format: place.folder.format }
}

function formatFdPath(directoryFd: number, name: string): string {
  return `/proc/self/fd/${directoryFd}/${name}`
}

const PROBLEM_OF_ERRNO: ReadonlyMap<string, TranscriptProblem> = new Map([
  ['ENOENT', 'missing'],
  ['ENAMETOOLONG', 'missing'],
  ['ENOTDIR', 'not_a_file'],
  ['ELOOP', 'not_a_file'],
  ['EISDIR', 'not_a_file'],
  ['EACCES', 'unreadable'],
  ['EPERM', 'unreadable'],
  ['EIO', 'unreadable'],
  ['ESTALE', 'unreadable'],
])

/** The operating system's error as a refusal; an error that no path can cause is a fault and thrown. */
export function toRefused(error: unknown): TranscriptRefused {
  const errno = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
  const problem = PROBLEM_OF_ERRNO.get(errno)
  if (problem === undefined) throw error
  return { ok: false, problem }
}
