import { lstatSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, relative, resolve } from 'node:path'
import type { Contract } from '../../core/contract/contract.js'
import type { HookRecord } from '../../core/contract/git-rules.js'
import { findLinkedGitDirectory } from '../../tools/commands/git-directory.js'
import { type RepositoryHooks, recordHooks } from '../../tools/commands/run-hooks.js'
import { type GitSettings, readGitSettings } from './git-settings.js'

// In the order in which git runs them.
const HOOKS = ['pre-commit', 'prepare-commit-msg', 'commit-msg', 'post-commit']

/** Finds the hooks that git would run for a commit in the tree. `repository` is where the tree was cloned from, or the tree itself. */
export function findHooks(tree: string, repository: string, settings: GitSettings): RepositoryHooks {
  const set = settings.get('core.hookspath')
  const folder =
    set === undefined || set === ''
      ? join(findLinkedGitDirectory(repository) ?? join(repository, '.git'), 'hooks')
      : resolve(repository, set)
  const names = HOOKS.filter((name) => isProgram(join(folder, name)))
  const own = findOwnFolder(tree, repository, folder)
  const isInside =
    own !== null && names.every((name) => isProgram(join(own, name)) && isWithin([tree, own], join(own, name)))
  return {
    names,
    folder: isInside ? own : null,
    place: own ?? folder,
    files: isInside ? names.map((name) => relative(realpathSync(tree), realpathSync(join(own, name)))) : [],
  }
}

/** Which hooks of a work tree will be run when agents commit, and which will not. */
export async function readHookPlan(
  contract: Contract,
  tree: string,
  environment: NodeJS.ProcessEnv,
): Promise<HookRecord & Pick<RepositoryHooks, 'place'>> {
  const hooks = findHooks(tree, tree, await readGitSettings(tree, environment))
  return { ...recordHooks(hooks, contract.git?.hooks === 'run'), place: hooks.place }
}

// Hooks that git tracks are in the clone itself. Hooks in the repository's git directory stay there and are shown to
// the command.
function findOwnFolder(tree: string, repository: string, folder: string): string | null {
  const inRepository = relative(repository, folder)
  if (inRepository.startsWith('..') || isAbsolute(inRepository)) return null
  return inRepository.startsWith('.git/') ? folder : join(tree, inRepository)
}

function isProgram(path: string): boolean {
  try {
    const stats = statSync(path)
    return stats.isFile() && (stats.mode & 0o111) !== 0
  } catch {
    return false
  }
}

function isWithin(folders: readonly string[], path: string): boolean {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return false
  const real = realpathSync(path)
  return folders.some((folder) => !relative(realpathSync(folder), real).startsWith('..'))
}
