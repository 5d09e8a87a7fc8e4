import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder and those above it that are missing. Unlike `mkdirSync` with `recursive` it fails below `/proc` of a
 * process that has ended: Node.js takes that failure for a missing parent and tries again without end.
 */
export function makeFolders(path: string, mode?: number): void {
  try {
    mkdirSync(path, mode)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && statSync(path).isDirectory()) return
    if (code !== 'ENOENT' || existsSync(dirname(path))) throw error
    makeFolders(dirname(path), mode)
    mkdirSync(path, mode)
  }
}
