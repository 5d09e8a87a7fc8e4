import { realpathSync } from 'node:fs'
import { delimiter, join, relative } from 'node:path'
import { packagePath } from '../base/package-root.js'

const SCRIPT = packagePath('bin/phaselock')
const HOOK_SCRIPT = packagePath('bin/phaselock-hook')

/** How to call this program from a folder: by name when it is on the PATH, else by its path in the checkout. */
export function findProgramName(cwd = process.cwd()): string {
  const folders = (process.env.PATH ?? '').split(delimiter)
  if (folders.some((folder) => isSame(join(folder, 'phaselock'), SCRIPT))) return 'phaselock'
  const from = relative(cwd, SCRIPT)
  return quoteShellWord(from.startsWith('..') ? SCRIPT : from)
}

/** How to call the small program for hooks: like this one. */
export function findHookProgram(): string {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const isOnPath = folders.some((folder) => isSame(join(folder, 'phaselock-hook'), HOOK_SCRIPT))
  return isOnPath ? 'phaselock-hook' : quoteShellWord(HOOK_SCRIPT)
}

export function findHookScript(): string {
  return HOOK_SCRIPT
}

/** As one word of a command line that can be copied. */
export function quoteShellWord(path: string): string {
  return /^[\p{L}\p{N}_./+@%=:,-]+$/u.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}

/** How to call this program from any folder. */
export function findProgramAnywhere(): string {
  return findProgramName() === 'phaselock' ? 'phaselock' : quoteShellWord(SCRIPT)
}

export function findProgramScript(): string {
  return SCRIPT
}

function isSame(path: string, script: string): boolean {
  try {
    return realpathSync(path) === realpathSync(script)
  } catch {
    // Not there: another folder of the PATH may have it.
    return false
  }
}
