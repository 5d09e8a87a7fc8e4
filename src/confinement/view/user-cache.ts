import { lstatSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

const PRIVATE = 0o700
const OTHERS_WRITE = 0o022

/**
 * A folder of Phaselock in the user's cache folder, made if it is missing. Null if it is a link, belongs to somebody
 * else, or others may write it: then what is in it could come from anybody.
 */
export function openUserCache({ XDG_CACHE_HOME, HOME = homedir() }: NodeJS.ProcessEnv, name: string): string | null {
  const home = XDG_CACHE_HOME !== undefined && isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(HOME, '.cache')
  const own = join(home, 'phaselock')
  const folder = join(own, name)
  try {
    mkdirSync(home, { recursive: true, mode: PRIVATE })
    for (const each of [own, folder]) mkdirSync(each, { recursive: true, mode: PRIVATE })
  } catch {
    return null
  }
  return [own, folder].every(isOwnFolder) ? folder : null
}

/** Whether it is a folder, and no link, that only this account can write. */
export function isOwnFolder(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & OTHERS_WRITE) === 0
}
