import { existsSync } from 'node:fs'
import { ok, type Result, refuse } from '../result.js'
import { refuseFiltered } from './filtered-paths.js'
import { askGit, type GitPlace, listLocalSettings, runGit } from './run-git.js'

const CONFLICTS_TOLD_MAX = 200
const NAMED_MAX = 20

export interface MergedCommit {
  /** The branch's commit before and after. Equal if there is nothing new. */
  readonly before: string
  readonly after: string
  readonly isForward: boolean
  /** The repository's work tree has this branch checked out. */
  readonly isShown: boolean
}

interface MergeWanted {
  readonly into: string
  readonly tip: string
  readonly message: string
}

/** Creates the commit that merges one commit into a branch. Touches neither the branch nor any file. */
export async function mergeCommit(origin: GitPlace, wanted: MergeWanted): Promise<Result<MergedCommit>> {
  const made = await makeCommit(origin, wanted)
  return made.ok ? ((await refuseFiltered(origin, made.value)) ?? made) : made
}

async function makeCommit(origin: GitPlace, one: MergeWanted): Promise<Result<MergedCommit>> {
  const { into, tip } = one
  const ref = `refs/heads/${into}`
  const before = await askGit(origin, ['rev-parse', '--verify', '--quiet', `${ref}^{commit}`])
  if (before === null) return refuse('conflict', `There is no branch ${JSON.stringify(into)} in the repository.`)
  const busy = await findUnfinishedOperation(origin)
  if (busy !== null)
    return refuse('conflict', `The repository is in the middle of a ${busy}; finish or abort it first.`)
  const isShown = (await askGit(origin, ['symbolic-ref', '--quiet', 'HEAD'])) === ref
  if (!isShown && (await isShownElsewhere(origin, ref)))
    return refuse('conflict', `Branch ${into} is checked out in another work tree of the repository; merge it there.`)
  const about = { before, isShown }
  if (await isAncestor(origin, tip, before)) return ok({ ...about, after: before, isForward: true })
  if (await isAncestor(origin, before, tip)) return ok({ ...about, after: tip, isForward: true })
  const tree = await mergeTrees(origin, { before, tip, into })
  if (!tree.ok) return tree
  const parents = ['-p', before, '-p', tip]
  const made = await runGit({ ...origin, input: one.message }, ['commit-tree', tree.value, ...parents, '-F', '-'])
  if (made.code !== 0) return refuse('conflict', `git commit-tree failed: ${made.said}`)
  return ok({ ...about, after: made.stdout.trim(), isForward: false })
}

async function mergeTrees(
  origin: GitPlace,
  { before, tip, into }: { readonly before: string; readonly tip: string; readonly into: string },
): Promise<Result<string>> {
  const run = await runGit(origin, ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', before, tip])
  const [tree = '', ...paths] = run.stdout.split('\0').filter((one) => one !== '')
  if (run.code === 0) return ok(tree)
  if (run.code !== 1) return refuse('conflict', `git merge-tree failed: ${run.said}`)
  const unique = [...new Set(paths)]
  const drivers = (await listLocalSettings(origin)).hasDrivers
    ? ' The server does not run merge drivers from the settings of the repository, only those from your own settings (`git config --global`).'
    : ''
  return refuse(
    'conflict',
    `The work and ${into} both changed: ${unique.slice(0, NAMED_MAX).join(', ')}. Nothing was merged.`,
    {
      conflicts: unique.slice(0, CONFLICTS_TOLD_MAX),
      conflict_count: unique.length,
      remedy: `Hand the branch over with \`phaselock task handover\`, and merge it with git by hand.${drivers}`,
    },
  )
}

async function isAncestor(origin: GitPlace, older: string, newer: string): Promise<boolean> {
  return (await runGit(origin, ['merge-base', '--is-ancestor', older, newer])).code === 0
}

async function isShownElsewhere(origin: GitPlace, ref: string): Promise<boolean> {
  const listed = await runGit(origin, ['worktree', 'list', '--porcelain', '-z'])
  return listed.stdout.split('\0').includes(`branch ${ref}`)
}

const UNDER_WAY = [
  ['MERGE_HEAD', 'merge'],
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
] as const

async function findUnfinishedOperation(origin: GitPlace): Promise<string | null> {
  for (const [file, name] of UNDER_WAY) {
    const path = await askGit(origin, ['rev-parse', '--path-format=absolute', '--git-path', file])
    if (path !== null && existsSync(path)) return name
  }
  return null
}
