import type { CheckName, Contract } from '../contract/contract.js'
import { isOffered } from '../tool-calls/offered-tools.js'

/** Git's status of a work tree. Paths are relative to it. */
export interface GitListing {
  readonly branch: string | null
  readonly entries: readonly StatusEntry[]
  /** Folders without tracked files. */
  readonly untrackedFolders: readonly string[]
  readonly submodules: readonly string[]
}

/** One line of `git status`: the state in the index, the state in the tree, and the path. Both states of an untracked path are `?`. */
export interface StatusEntry {
  readonly index: string
  readonly tree: string
  readonly path: string
}

/** The rules that decide which changes a task commits, all from the start of the task. */
export interface CommitRules {
  /** The contract, its files and the files that agent CLIs write for themselves: agents never commit them, tracked or not. */
  readonly reserved: readonly string[]
  /** Whether git ignored the path when work began. */
  readonly isIgnored: (path: string) => boolean
  /** The folder of installed packages that contains the path; null: none. Its contents are not tracked. */
  readonly packagesAt: (path: string) => string | null
  /** Whether the path is build output, part of a virtual environment, or left behind by tools. */
  readonly isLeftover: (path: string) => boolean
  /** Whether the task wrote the path. */
  readonly isWritten: (path: string) => boolean
  /** Whether the path differed from the last commit when work began, and the task has not changed it. */
  readonly isEarlier: (path: string) => boolean
  /** Whether the path differed from the last commit when work began. */
  readonly hadChanges: (path: string) => boolean
  /** Whether the path was changed since then, and the ledger does not explain it by a call of this task. */
  readonly isForeign: (path: string) => boolean
}

/** The changes that the task commits. */
interface CommitScope {
  readonly changed: readonly StatusEntry[]
  /** Uncommitted differences, and the submodules. A folder stands for everything in it. */
  readonly leftOut: readonly string[]
}

const COMMIT_CHECKS: ReadonlySet<CheckName> = new Set(['committed', 'work_tree_clean'])

/** True when a gate of the contract checks committed changes. */
export function requiresCommits(contract: Contract): boolean {
  const gates = [...contract.phases.values()].flatMap((phase) => phase.gates)
  return gates.some((gate) =>
    gate.blockers.some(({ check, severity }) => severity === 'blocking' && COMMIT_CHECKS.has(check)),
  )
}

/** True when agents can commit under the contract, or one of its gates checks committed changes. */
export function usesCommits(contract: Contract): boolean {
  const phases = [...contract.phases.values()]
  return requiresCommits(contract) || phases.some((phase) => isOffered(phase, 'git_commit'))
}

/** Splits the differences from the last commit into those to commit and those to leave alone. */
export function commitScope(listing: GitListing, rules: CommitRules): CommitScope {
  const isOut = makeLeftOutMatcher(listing.untrackedFolders, rules)
  const isReserved = makeFolderMatcher(rules.reserved)
  const isSubmodule = makeFolderMatcher(listing.submodules)
  const changed: StatusEntry[] = []
  const out: string[] = []
  for (const entry of listing.entries) {
    // A trailing slash marks an inner repository, which git would record as a submodule.
    const isRepository = entry.path.endsWith('/')
    const path = isRepository ? entry.path.slice(0, -1) : entry.path
    if (isSubmodule(path)) continue
    const isLeft = isRepository || isReserved(path) || rules.isEarlier(path) || rules.isForeign(path)
    if (isLeft || (entry.index === '?' && isOut(path))) out.push(path)
    else changed.push(entry)
  }
  const folded = foldInto(listing.untrackedFolders, out, changed)
  return { changed, leftOut: [...folded, ...listing.submodules] }
}

/**
 * Whether an untracked path is left alone. Packages that git tracks are part of the project, and so is what the task
 * wrote.
 */
export function makeLeftOutMatcher(untrackedFolders: readonly string[], rules: CommitRules): (path: string) => boolean {
  const isReserved = makeFolderMatcher(rules.reserved)
  const isUntracked = makeFolderMatcher(untrackedFolders)
  return (path) => {
    if (isReserved(path) || rules.isIgnored(path) || rules.isEarlier(path) || rules.isForeign(path)) return true
    const packages = rules.packagesAt(path)
    if (packages !== null) return packages === path || isUntracked(packages)
    return rules.isLeftover(path) && !rules.isWritten(path)
  }
}

/** Whether a path is one of these, or lies in one of them. */
export function makeFolderMatcher(folders: readonly string[]): (path: string) => boolean {
  const known = new Set(folders)
  return (path) => known.has(path) || listFolders(path).some((folder) => known.has(folder))
}

// A folder with thousands of files is listed by its name, if nothing in it is tracked or committed.
function foldInto(
  untrackedFolders: readonly string[],
  out: readonly string[],
  changed: readonly StatusEntry[],
): readonly string[] {
  const isUntracked = makeFolderMatcher(untrackedFolders)
  const committed = new Set(changed.flatMap(({ path }) => listFolders(path)))
  const folded = out.map(
    (path) => listFolders(path).find((folder) => !committed.has(folder) && isUntracked(folder)) ?? path,
  )
  return [...new Set(folded)]
}

// From the outermost to the innermost.
function listFolders(path: string): readonly string[] {
  const names = path.split('/').slice(0, -1)
  return names.map((_, at) => names.slice(0, at + 1).join('/'))
}
