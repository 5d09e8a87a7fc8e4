import { FOLDERS_MAX, PATH_BYTES_MAX } from './limits.js'

/** The tree contains something that prevents reading it as a whole. The message is for people. */
export class TreeUnreadable extends Error {
  override readonly name: string = 'TreeUnreadable'
}

/** The folder of the work tree itself cannot be opened: then nothing in it can be. */
export class TreeMissing extends TreeUnreadable {
  override readonly name = 'TreeMissing'
  readonly problem: string

  constructor(
    readonly tree: string,
    readonly code: string,
  ) {
    const problem = MISSING_BECAUSE[code] ?? `cannot be opened (${code})`
    super(`The work tree ${tree} ${problem}`)
    this.problem = problem
  }
}

const MISSING_BECAUSE: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'is not a folder',
  ELOOP: 'is a link that leads to itself',
  EACCES: 'cannot be opened: permission denied',
}

/** Why a path in a work tree was not opened, read or changed. The texts are for agents. */
export const TREE_PROBLEMS = {
  outside: 'is not a path inside the work tree',
  missing: 'not found',
  link: 'is a link; links are not followed',
  not_a_directory: 'is not a directory',
  directory: 'is a directory',
  special: 'is a special file (pipe, socket or device)',
  foreign: 'is a hard link to a file of another owner',
  leaving_link: 'is a link that would leave the work tree',
  exists: 'is already there',
  not_empty: 'is a directory that is not empty',
  too_long: 'has a name that is too long',
  too_deep: `is in more than ${FOLDERS_MAX} nested folders, or has a path of more than ${PATH_BYTES_MAX} bytes`,
  too_large: 'is too large',
  too_many: 'has too many entries below it',
  denied: 'permission denied',
  full: 'no space left on the disk',
  read_only: 'the file system is read-only',
  changed: 'was changed by somebody else meanwhile',
  aborted: 'the call was ended before it was written',
} as const
export type TreeProblem = keyof typeof TREE_PROBLEMS

export interface TreeRefusal {
  readonly ok: false
  readonly problem: TreeProblem
  /** The path, or the part of it, that caused the problem. */
  readonly path: string
}

export function makeRefused(problem: TreeProblem, path: string): TreeRefusal {
  return { ok: false, problem, path }
}

const PROBLEM_OF_ERRNO: ReadonlyMap<string, TreeProblem> = new Map([
  ['ENOENT', 'missing'],
  ['ENOTDIR', 'not_a_directory'],
  ['ELOOP', 'link'],
  ['ENXIO', 'special'],
  ['EISDIR', 'directory'],
  ['EEXIST', 'exists'],
  ['ENOTEMPTY', 'not_empty'],
  ['ENAMETOOLONG', 'too_long'],
  ['EFBIG', 'too_large'],
  ['EACCES', 'denied'],
  ['EPERM', 'denied'],
  ['ENOSPC', 'full'],
  ['EDQUOT', 'full'],
  ['EROFS', 'read_only'],
])

/** What the operating system said, as a refusal; anything that no path can cause is a fault and thrown. */
export function toRefused(error: unknown, path: string): TreeRefusal {
  const problem = PROBLEM_OF_ERRNO.get(getErrno(error))
  if (problem === undefined) throw error
  return makeRefused(problem, path)
}

export function getErrno(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/** A name may be gone by the time it is removed. */
export async function ignoreGone(work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (getErrno(error) !== 'ENOENT') throw error
  }
}
