import { lstatSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'

const POINTER_BYTES_MAX = 4096

/**
 * The git directory of a linked worktree, which is outside the tree; null when the tree has its own or none. The
 * repository controls the `.git` file, so it is trusted only when the directory it names points back to this very tree.
 */
export function findLinkedGitDirectory(tree: string): string | null {
  const pointer = readSmall(join(tree, '.git'))
  const [, named] = /^gitdir: (.+)\n?$/.exec(pointer ?? '') ?? []
  if (named === undefined) return null
  try {
    const directory = realpathSync(resolve(tree, named))
    const inTree = relative(realpathSync(tree), directory)
    if (inTree === '' || !(inTree.startsWith('..') || isAbsolute(inTree))) return null
    const back = readSmall(join(directory, 'gitdir'))?.trim()
    if (back === undefined || realpathSync(dirname(back)) !== realpathSync(tree)) return null
    const common = realpathSync(resolve(directory, readSmall(join(directory, 'commondir'))?.trim() ?? '.'))
    const way = relative(join(common, 'worktrees'), directory)
    return way === '' || way.startsWith('..') || isAbsolute(way) ? null : common
  } catch {
    // It names a missing directory: then there is no repository.
    return null
  }
}

function readSmall(path: string): string | null {
  try {
    const stats = lstatSync(path)
    return stats.isFile() && stats.size <= POINTER_BYTES_MAX ? readFileSync(path, 'utf8') : null
  } catch {
    return null
  }
}
