import { copyFileSync, existsSync, mkdirSync, realpathSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { NewWorktree } from '../../core/task/tree-event.js'
import { ok, type Result, refuse } from '../result.js'
import { takeAlong } from './copy-ignored.js'
import { askGit, FETCH, type GitPlace, IGNORE_SUBMODULES, listLocalSettings, runGit } from './run-git.js'
import { formatBranch, getPlace, makeBegunPlace, removePlace, type TreePlace } from './worktree-place.js'

const DIRTY_TOLD_MAX = 20

export interface MadeWorktree {
  readonly workspace: string
  readonly worktree: NewWorktree
  /** Uncommitted changes of the repository's own work tree, which are not in the new one. */
  readonly uncommitted: { readonly paths: readonly string[]; readonly count: number }
}

/**
 * Creates a work tree for one task: a separate repository with the history of one branch and no settings, hooks or
 * other branches. docs/parallel.md says why.
 */
export async function makeWorktree(
  stateDir: string,
  about: {
    readonly taskId: string
    readonly repository: string
    readonly take: readonly string[]
    /** What git ignores there besides its `.gitignore` files; copied files are ignored in the new tree too. */
    readonly excludes: string
  },
): Promise<Result<MadeWorktree>> {
  const { taskId, repository } = about
  const origin: GitPlace = { at: repository, settings: 'operator' }
  const { problem } = await listLocalSettings(origin)
  if (problem !== null) return refuse('invalid_request', `worktree: ${problem}.`)
  const top = await askGit(origin, ['rev-parse', '--show-toplevel'])
  if (top === null || top === '' || realpathSync(top) !== repository)
    return refuse(
      'invalid_request',
      `worktree: ${JSON.stringify(repository)} is not the top folder of a git repository.`,
    )
  if ((await askGit(origin, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'])) === null)
    return refuse('invalid_request', 'worktree: the repository has no commit yet; commit something first.')
  const branch = formatBranch(taskId)
  const place = getPlace(stateDir, taskId)
  const isTaken = (await askGit(origin, ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`])) !== null
  if (isTaken || existsSync(place.folder))
    return refuse(
      'conflict',
      `worktree: the ${isTaken ? 'branch' : 'work tree'} ${branch} already exists; choose another id.`,
    )
  const begun = makeBegunPlace(stateDir, taskId)
  try {
    const base = await clone(origin, begun, branch)
    if (!base.ok) return base
    const uncommitted = await listUncommitted(origin)
    if (!uncommitted.ok) return uncommitted
    const taken = await takeAlong(repository, begun.tree, about.take)
    if (!taken.ok) return taken
    writeFileSync(begun.excludes, about.excludes)
    exclude(begun)
    writeFileSync(begun.owner, taskId)
    writeFileSync(begun.unused, '')
    if (!claimName(begun, place)) return refuse('conflict', `worktree: ${branch} was made by somebody else just now.`)
    const into = await askGit(origin, ['symbolic-ref', '--quiet', '--short', 'HEAD'])
    const worktree = { repository, branch, base: base.value, into }
    return ok({ workspace: realpathSync(place.tree), worktree, uncommitted: uncommitted.value })
  } finally {
    removePlace(begun)
  }
}

/** Makes git ignore the same files in a task's tree as in the repository. */
export function exclude({ tree, excludes }: Pick<TreePlace, 'tree' | 'excludes'>): void {
  mkdirSync(join(tree, '.git', 'info'), { recursive: true })
  copyFileSync(excludes, join(tree, '.git', 'info', 'exclude'))
}

// The first one gets the name.
function claimName(begun: TreePlace, place: TreePlace): boolean {
  try {
    renameSync(begun.folder, place.folder)
    return true
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false
    throw error
  }
}

async function clone(origin: GitPlace, begun: TreePlace, branch: string): Promise<Result<string>> {
  mkdirSync(dirname(begun.folder), { recursive: true, mode: 0o700 })
  mkdirSync(begun.tree, { recursive: true })
  const here: GitPlace = { at: begun.tree, settings: 'none' }
  const format = (await askGit(origin, ['rev-parse', '--show-object-format'])) ?? 'sha1'
  const steps: readonly (readonly string[])[] = [
    ['init', '--quiet', '--template=', `--object-format=${format}`, `--initial-branch=${branch}`],
    ...(await readIdentity(origin)),
    [...[...FETCH, '--update-head-ok', origin.at, `HEAD:refs/heads/${branch}`]],
    ['reset', '--quiet', '--hard'],
  ]
  for (const step of steps) {
    const run = await runGit(here, step)
    if (run.code !== 0) return refuse('conflict', `worktree: git ${step[0]} failed: ${run.said}`)
  }
  copyFileSync(join(begun.tree, '.git', 'config'), begun.config)
  const base = await askGit(here, ['rev-parse', 'HEAD'])
  return base === null ? refuse('conflict', 'worktree: the new work tree has no commit.') : ok(base)
}

// Commits there use the same author as in the repository.
async function readIdentity(origin: GitPlace): Promise<readonly (readonly string[])[]> {
  const found: (readonly string[])[] = []
  for (const key of ['user.name', 'user.email']) {
    const value = await askGit(origin, ['config', '--get', key])
    if (value !== null && value !== '') found.push(['config', key, value])
  }
  return found
}

async function listUncommitted(origin: GitPlace): Promise<Result<MadeWorktree['uncommitted']>> {
  const run = await runGit(origin, [
    ...['--no-optional-locks', 'status', '--porcelain=v1', '-z', '--no-renames', IGNORE_SUBMODULES],
  ])
  if (run.code !== 0) return refuse('conflict', `worktree: git status failed: ${run.said}`)
  const paths = run.stdout.split('\0').flatMap((entry) => (entry.length > 3 ? [entry.slice(3)] : []))
  return ok({ paths: paths.slice(0, DIRTY_TOLD_MAX), count: paths.length })
}
