import { existsSync, realpathSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { isAtOrBelow } from '../../base/is-at-or-below.js'
import { GUARDS_FOLDER } from './test-guards.js'

/**
 * Whether a file in a coverage report is outside the work tree, such as the guards or installed programs. Paths may be
 * relative to a folder inside the tree: a path that leads out of the tree counts as outside only if the file exists.
 */
export function makeOutsideMatcher(tree: string): (file: string) => boolean {
  const roots = [tree, realpathSync(tree)]
  return (file) => {
    const at = resolve(tree, file.replace(/^file:\/\//, ''))
    if (isAtOrBelow(GUARDS_FOLDER, at)) return true
    return (
      !roots.some((root) => isAtOrBelow(root, at)) && (isAbsolute(file) || file.startsWith('file://') || existsSync(at))
    )
  }
}
