import { constants } from 'node:fs'
import { cp, lstat, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ok, type Result, refuse } from '../result.js'
import { runGit } from './run-git.js'

const ENTRIES_MAX = 300_000
const BYTES_MAX = 8 * 1024 * 1024 * 1024

class TooMuch extends Error {
  override readonly name = 'TooMuch'
}

/**
 * Copies ignored files, such as installed packages, from the repository's own work tree, because a commit does not
 * contain them.
 */
export async function takeAlong(repository: string, tree: string, paths: readonly string[]): Promise<Result<true>> {
  const taken = { entries: 0, bytes: 0 }
  for (const path of paths) {
    if (
      path === '' ||
      path.startsWith('/') ||
      path.split('/').some((one) => one === '..' || one === '.git' || one === '.')
    )
      return refuse('invalid_request', `take: ${JSON.stringify(path)} is not a plain path inside the repository.`)
    // Tracked files are already in the tree, and files that git does not ignore would appear as unexplained changes.
    const ignored = await runGit({ at: repository, settings: 'operator' }, ['check-ignore', '--quiet', '--', path])
    if (ignored.code !== 0) return refuse('invalid_request', `take: ${JSON.stringify(path)} is not ignored by git.`)
    if (!(await isReal(repository, path)))
      return refuse('invalid_request', `take: ${JSON.stringify(path)} does not exist, or is behind a link.`)
    try {
      await copyTree(join(repository, path), join(tree, path), taken)
    } catch (error) {
      if (!(error instanceof TooMuch)) throw error
      return refuse('invalid_request', `take: more than ${ENTRIES_MAX} files or ${BYTES_MAX / 1024 ** 3} GiB.`)
    }
  }
  return ok(true)
}

async function copyTree(from: string, to: string, taken: { entries: number; bytes: number }): Promise<void> {
  await mkdir(dirname(to), { recursive: true })
  await cp(from, to, {
    recursive: true,
    verbatimSymlinks: true,
    mode: constants.COPYFILE_FICLONE,
    filter: async (file) => {
      const stats = await lstat(file)
      taken.entries += 1
      taken.bytes += stats.isFile() ? stats.size : 0
      if (taken.entries > ENTRIES_MAX || taken.bytes > BYTES_MAX) throw new TooMuch()
      return stats.isFile() || stats.isDirectory() || stats.isSymbolicLink()
    },
  })
}

async function isReal(repository: string, path: string): Promise<boolean> {
  let at = repository
  for (const name of path.split('/').filter((one) => one !== '')) {
    at = join(at, name)
    try {
      if ((await lstat(at)).isSymbolicLink()) return false
    } catch {
      return false
    }
  }
  return true
}
