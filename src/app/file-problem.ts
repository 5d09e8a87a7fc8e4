import { isAbsolute, relative } from 'node:path'
import { isAtOrBelow } from '../base/is-at-or-below.js'
import type { Resources } from './resources.js'
import { type Problem, refuse } from './result.js'

/** What the operating system says when a file or folder is gone, is something else, or may not be read. */
const CAUSES: Readonly<Record<string, string>> = {
  ENOENT: 'is missing',
  ENOTDIR: 'is not a folder, or a folder above it is none',
  EISDIR: 'is a folder',
  ELOOP: 'is a link that leads to itself',
  EACCES: 'may not be read or written by the server',
  EPERM: 'may not be changed by the server',
  EEXIST: 'is in the way',
  ENOTEMPTY: 'is a folder that is not empty',
  EINVAL: 'is not a link',
  ENXIO: 'is a pipe or a device',
}

/** The refusal for an error of the file system that no code foresaw; null: the error is another one. */
export function findFileProblem(app: Pick<Resources, 'stateDir' | 'keptDir'>, error: unknown): Problem | null {
  const { code = '', path } = error instanceof Error ? (error as NodeJS.ErrnoException) : {}
  const cause = CAUSES[code]
  // A folder that was opened as a file is found when it is read, and that error has no path.
  if (code === 'EISDIR' && path === undefined)
    return refuse('state_unreadable', `A file that the server needs ${cause}.`).problem
  // A path that is not absolute is the name of a program.
  if (cause === undefined || path === undefined || !isAbsolute(path)) return null
  const folder = [app.stateDir, app.keptDir].find((dir) => isAtOrBelow(dir, path))
  if (folder !== undefined)
    return refuse('state_unreadable', `${relative(folder, path) || 'The folder'} ${cause}.`).problem
  return refuse('conflict', `${path} ${cause}.`, { remedy: 'Ask an operator to put it back.' }).problem
}
