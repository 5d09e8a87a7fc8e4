import { askGit, type GitPlace, LISTING_ARGV, QUIET_GIT, readListing } from '../confinement/changes/git-listing.js'
import { UNLIKE } from '../confinement/changes/hidden-from-git.js'
import {
  type CommitRules,
  commitScope,
  type GitListing,
  makeFolderMatcher,
  makeLeftOutMatcher,
} from '../core/paths/commit-scope.js'
import type { TreeIndex } from '../tree/tree-contents.js'
import type { ObservePlace } from './observed-runs/run-in-view.js'

/** What git reports about a work tree. It is run in the sandbox. */
export interface GitFacts {
  readonly isRepository: boolean
  /** Paths that differ from the last commit and count for the task: see `CommitRules`. */
  readonly changed: readonly string[]
  /** The same, including files that are hidden only by a rule added after work began. */
  readonly uncommitted: readonly string[]
  /** Files that the task wrote and that attributes or flags hide from git. */
  readonly hidden: readonly string[]
  /** True when git could not list everything, or there is too much. */
  readonly isCut: boolean
}

/** Inspects the tree with git. `index` is the current tree, without files that were ignored when work began. */
export async function readGitFacts(place: ObservePlace, index: TreeIndex, rules: CommitRules): Promise<GitFacts> {
  const ask = (argv: readonly string[]) => askGit(place, argv)
  const status = await ask(LISTING_ARGV)
  if (status.stopped !== null) return { ...NO_REPOSITORY, isRepository: true, isCut: true }
  if (status.exitCode !== 0) return NO_REPOSITORY
  const listing = readListing(status)
  const scope = commitScope(listing, rules)
  const changed = scope.changed.map(({ path }) => path)
  const ignored = await ask(['git', ...QUIET_GIT, ...IGNORED])
  const uncommitted = new Set([...changed, ...findHidden(splitNames(ignored.stdout), index, { listing, rules })])
  const unlike = await ask(['bash', '-c', `${UNLIKE}unlike HEAD .`])
  const known = new Set(changed)
  const hidden = splitNames(unlike.stdout).filter((path) => rules.isWritten(path) && !known.has(path))
  const isCut = [status, ignored, unlike].some((run) => run.truncated || run.exitCode !== 0)
  return { isRepository: true, changed, uncommitted: [...uncommitted], hidden, isCut }
}

/** The differences from the last commit according to git; null if it is not a repository, or there are too many. */
export async function listGit(place: GitPlace): Promise<GitListing | null> {
  const run = await askGit(place, LISTING_ARGV)
  return run.stopped === null && run.exitCode === 0 && !run.truncated ? readListing(run) : null
}

const IGNORED = ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z']

const NO_REPOSITORY: GitFacts = { isRepository: false, changed: [], uncommitted: [], hidden: [], isCut: false }

function splitNames(output: string): readonly string[] {
  return output.split('\0').filter((entry) => entry !== '')
}

// Files that git ignores now but did not when work began, and files that the task wrote where git does not look: in a
// submodule.
function findHidden(
  ignored: readonly string[],
  index: TreeIndex,
  about: { readonly listing: GitListing; readonly rules: CommitRules },
): readonly string[] {
  const { listing, rules } = about
  const isIgnored = makeFolderMatcher(ignored.map((path) => path.replace(/\/$/, '')))
  const folders = ignored.flatMap((path) => (path.endsWith('/') ? [path.slice(0, -1)] : []))
  const isOut = makeLeftOutMatcher([...listing.untrackedFolders, ...folders], rules)
  const isInside = makeFolderMatcher(listing.submodules)
  return Object.keys(index.entries).filter((path) =>
    isInside(path) ? rules.isWritten(path) : isIgnored(path) && !isOut(path),
  )
}
