import { lstatSync, type Stats } from 'node:fs'
import { join } from 'node:path'

/** Whether a parent folder of the path is a link: its target is outside this place. */
export function isThroughLink(place: string, path: string): boolean {
  const folders = path.split('/').slice(0, -1)
  return folders.some((_, at) => readStats(join(place, ...folders.slice(0, at + 1)))?.isSymbolicLink() === true)
}

/** The entry at a path, if any. */
export function readStats(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Nothing can be below a file.
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}

/** Whether a file is in place of a parent folder. */
export function isBelowFile(place: string, path: string): boolean {
  const folders = path.split('/').slice(0, -1)
  return folders.some((_, at) => readStats(join(place, ...folders.slice(0, at + 1)))?.isFile() === true)
}
