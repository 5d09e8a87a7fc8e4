import { lstatSync, type Stats } from 'node:fs'
import { join } from 'node:path'

/** Whether a folder on the way to a path is a link: what lies behind it is not of this place. */
export function isThroughLink(place: string, path: string): boolean {
  const folders = path.split('/').slice(0, -1)
  return folders.some((_, at) => readStats(join(place, ...folders.slice(0, at + 1)))?.isSymbolicLink() === true)
}

/** What lies there, if anything does. */
export function readStats(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Below a file there is nothing.
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}

/** Whether a file lies where a folder on the way to a path would. */
export function isBelowFile(place: string, path: string): boolean {
  const folders = path.split('/').slice(0, -1)
  return folders.some((_, at) => readStats(join(place, ...folders.slice(0, at + 1)))?.isFile() === true)
}
