import { existsSync, realpathSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { GUARDS_FOLDER } from './test-guards.js'

/**
 * Whether a file that a coverage report names lies outside the work tree: the guards, and what is installed on the machine. Paths
 * may be relative to a folder inside the tree: one that leads out of it counts as outside only where there is such a file.
 */
export function makeOutsideMatcher(tree: string): (file: string) => boolean {
  const roots = [tree, realpathSync(tree)]
  return (file) => {
    const at = resolve(tree, file.replace(/^file:\/\//, ''))
    if (isIn(GUARDS_FOLDER, at)) return true
    return !roots.some((root) => isIn(root, at)) && (isAbsolute(file) || file.startsWith('file://') || existsSync(at))
  }
}

function isIn(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}
