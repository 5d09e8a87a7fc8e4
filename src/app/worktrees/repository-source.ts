import { copyFileSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { AGENT_CLI_FILES } from '../../core/paths/agent-cli-files.js'
import type { TaskState, Worktree } from '../../core/task/state.js'
import type { Resources } from '../resources.js'
import { ok, type Result, refuse } from '../result.js'
import { dropLock, waitForGit } from './left-git.js'
import { isThroughLink, readStats } from './link-on-path.js'
import { exclude } from './make-worktree.js'
import { askGit, FETCH, type GitPlace, IGNORE_SUBMODULES, listLocalSettings, runGit } from './run-git.js'
import { findPlace, type TreePlace } from './worktree-place.js'

const PATHS_TOLD_MAX = 200
const NAMED_MAX = 20
// The operator's git writes here and must not be redirected.
const WRITTEN = ['index', 'HEAD', 'COMMIT_EDITMSG', 'objects', 'refs/heads', 'logs/HEAD', 'logs/refs/heads']
const COMMIT = ['commit', '--quiet', '--no-verify', '--file=-']

/** The source from which the work of a task is read. */
export interface Source {
  readonly state: TaskState
  readonly worktree: Worktree
  readonly place: TreePlace
}

/** The tree of the task with its original settings, whatever an agent without a sandbox may have done to them. */
export function openSource(app: Pick<Resources, 'stateDir' | 'keptDir'>, state: TaskState): Result<Source> {
  const { worktree } = state
  if (worktree === null) return refuse('conflict', `Task ${state.id} has no work tree of its own.`)
  const place = findPlace(app, state.id)
  const git = join(place.tree, '.git')
  const isMade = readStats(git)?.isDirectory() === true && existsSync(place.config)
  if (!isMade || WRITTEN.some((part) => isThroughLink(git, `${part}/${worktree.branch}/.`)))
    return refuse('conflict', `The work tree of task ${state.id} does not exist any more, or was changed.`)
  for (const part of ['config', 'config.worktree', 'commondir', 'hooks', 'info', 'objects/info/alternates'])
    rmSync(join(git, part), { recursive: true, force: true })
  copyFileSync(place.config, join(git, 'config'))
  if (existsSync(place.excludes)) exclude(place)
  return ok({ state, worktree, place })
}

/** Commits uncommitted changes if requested, and refuses otherwise, so that nothing is lost silently. */
export async function commitSource(source: Source, wants: { readonly commit: boolean }): Promise<Result<string>> {
  const { state, worktree, place } = source
  const here: GitPlace = { at: place.tree, settings: 'none' }
  if (!(await waitForGit(place.tree)))
    return refuse('conflict', `git is still running in the work tree of task ${state.id}. Try again when it is done.`)
  for (const locked of ['index', 'HEAD', `refs/heads/${worktree.branch}`])
    await dropLock(join(place.tree, '.git', `${locked}.lock`))
  if ((await askGit(here, ['symbolic-ref', '--quiet', '--short', 'HEAD'])) !== worktree.branch)
    return refuse('conflict', `The work tree of task ${state.id} is not on its branch ${worktree.branch} any more.`)
  const status = await runGit(here, [
    'status',
    '--porcelain=v1',
    '-z',
    '--no-renames',
    '--untracked-files=all',
    IGNORE_SUBMODULES,
  ])
  if (status.code !== 0) return refuse('conflict', `git status failed in the work tree: ${status.said}`)
  const open = status.stdout
    .split('\0')
    .flatMap((entry) => (entry.length > 3 && !AGENT_CLI_FILES.has(entry.slice(3)) ? [entry.slice(3)] : []))
  if (open.length > 0 && !wants.commit)
    return refuse('conflict', `Not committed: ${open.slice(0, NAMED_MAX).join(', ')}. Nothing was done.`, {
      uncommitted: open.slice(0, PATHS_TOLD_MAX),
      uncommitted_count: open.length,
      remedy: 'Look at them; --commit commits them.',
    })
  for (const step of open.length === 0 ? [] : [await addWords(here, open), COMMIT]) {
    const run = await runGit({ ...here, input: `${state.title}\n\nTask: ${state.id}\n` }, step)
    if (run.code !== 0) return refuse('conflict', `git ${step[0]} failed in the work tree: ${run.said}`)
  }
  const tip = await askGit(here, ['rev-parse', 'HEAD'])
  return tip === null ? refuse('conflict', 'The work tree has no commit.') : ok(tip)
}

// A submodule at its recorded commit is skipped: git would run another git in it to look for changes.
async function addWords(here: GitPlace, open: readonly string[]): Promise<readonly string[]> {
  const listed = await runGit(here, ['ls-files', '--stage', '-z'])
  const submodules = listed.stdout.split('\0').filter((entry) => entry.startsWith('160000 '))
  const unchanged = submodules
    .map((entry) => entry.slice(entry.indexOf('\t') + 1))
    .filter((path) => !open.includes(path))
  return [
    'add',
    '--all',
    '--',
    '.',
    ...[...AGENT_CLI_FILES.keys(), ...unchanged].map((path) => `:(exclude,literal)${path}`),
  ]
}

/** Fetches the commits of the task into the repository, under a ref that is ours until the work tree is removed. */
export async function fetchInto({ worktree, place }: Source, tip: string, ref: string): Promise<Result<true>> {
  const origin: GitPlace = { at: worktree.repository, settings: 'operator' }
  const { problem } = await listLocalSettings(origin)
  if (problem !== null) return refuse('conflict', `git cannot be run in the repository: ${problem}.`)
  if (!(await waitForGit(origin.at)))
    return refuse('conflict', 'git is still running in the repository. Nothing was done; try again when it is done.')
  const lock = await askGit(origin, ['rev-parse', '--path-format=absolute', '--git-path', `${ref}.lock`])
  if (lock !== null) await dropLock(lock)
  // Exactly this commit: the repository's settings can map the name to another one.
  const run = await runGit(origin, [...FETCH, place.tree, `+${tip}:${ref}`])
  return run.code === 0 ? ok(true) : refuse('conflict', `git fetch failed: ${run.said}`)
}
