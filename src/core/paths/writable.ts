import type { Contract, Phase } from '../contract/contract.js'
import type { Context } from '../task/command.js'
import type { ChangedPath, GitAccess } from '../task/fact-parts.js'
import type { TaskState } from '../task/state.js'
import { BUILT_IN_TOOLS } from '../tool-calls/built-in-tools.js'
import { isOffered, requirePhase } from '../tool-calls/offered-tools.js'
import { foldPath } from './fold-path.js'
import { findProtection, PROTECTED_WHY } from './protected-paths.js'
import { findSnapshotTest } from './snapshot-names.js'

/** What may change in the work tree in a phase: paths that match an allowed pattern and no forbidden one. */
export interface Writable {
  readonly allowed: readonly string[]
  readonly forbidden: readonly string[]
}

/**
 * The `writable` of the phase, or what its write tools may write. A phase without a write tool writes nothing, even
 * with bash.
 */
export function getWritable(phase: Phase): Writable {
  if (phase.writable !== null) return { allowed: phase.writable, forbidden: [] }
  const writers = [...BUILT_IN_TOOLS.values()].filter((tool) => tool.paths === 'write' && isOffered(phase, tool.name))
  const constraints = writers.map(
    (tool) => phase.constraints.get(tool.name) ?? phase.constraints.get(tool.inherits ?? '') ?? null,
  )
  return {
    allowed: [...new Set(constraints.flatMap((constraint) => constraint?.allowedPatterns ?? ['**']))],
    forbidden: [...new Set(constraints.flatMap((constraint) => constraint?.forbiddenPatterns ?? []))],
  }
}

export interface RefusedPath {
  readonly path: string
  readonly reason: string
  /** Refused in every mode. */
  readonly isFinal: boolean
}

/** The paths that may not change in the task's phase, each with its reason. Folders follow their contents. */
export function findRefusedPaths(
  contract: Contract,
  state: TaskState,
  changed: readonly ChangedPath[],
  given: { readonly context: Context; readonly git: GitAccess },
): readonly RefusedPath[] {
  const phase = requirePhase(contract, state.phase)
  const writable = getWritable(phase)
  const { matchesGlob, reservedPaths = [], innerRepositories = [] } = given.context
  const matches = (patterns: readonly string[], path: string): boolean =>
    patterns.some((pattern) => matchesGlob(pattern, path))
  const reasonOf = (change: ChangedPath): Omit<RefusedPath, 'path'> | null => {
    const { path } = change
    if (reservedPaths.some((one) => isBelow(one, path)) || isContractPath(path))
      return { reason: 'is part of the contract', isFinal: true }
    if (GIT_DIRECTORY.test(foldPath(path))) return findGitReason(change, given.git)
    const inner = innerRepositories.find((repository) => isBelow(repository, path))
    if (inner !== undefined)
      return {
        reason: `belongs to the submodule ${inner}, which git_commit does not commit; ${ASK_OPERATOR}`,
        isFinal: true,
      }
    const kept = findProtection(path)
    const isOpened = writable.allowed.some((one) => findProtection(one) !== null && matchesGlob(one, path))
    if (kept !== null && !isOpened)
      return {
        reason: `is protected (${kept.name} ${PROTECTED_WHY[kept.why]}); ask an operator to change it, or to name it in \`writable\` of ${phase.id} in the contract`,
        isFinal: true,
      }
    const installed = PACKAGES.exec(path)?.[0]
    if (installed !== undefined && !isNamed(writable.allowed, installed.replace(/\/$/, '')))
      return {
        reason: 'belongs to installed packages, which are read-only unless the contract names them',
        isFinal: false,
      }
    if (isSnapshotOfTask(state, path) && writable.allowed.length > 0) return null
    if (matches(writable.forbidden, path)) return { reason: 'matches a forbidden pattern', isFinal: false }
    if (matches(writable.allowed, path)) return null
    return { reason: `is not writable in ${phase.id} (${formatPatterns(writable.allowed)})`, isFinal: false }
  }
  const refused: RefusedPath[] = []
  const filled = findFolders(changed)
  for (const change of changed) {
    if (change.problem !== null) refused.push({ path: change.path, reason: change.problem, isFinal: true })
    else if (change.type !== 'directory' || !filled.has(`${change.kind} ${change.path}`)) {
      const reason = reasonOf(change)
      if (reason !== null) refused.push({ path: change.path, ...reason })
    }
  }
  return refused
}

/**
 * Whether a path is the snapshot file of a pinned test. Its entries at RED stay pinned; new ones appear when a test
 * first passes.
 */
export function isSnapshotOfTask({ pinnedTests }: TaskState, path: string): boolean {
  const test = findSnapshotTest(path)
  return test !== null && pinnedTests?.has(test) === true
}

// A folder that was added or removed with files in it is judged by those files.
function findFolders(changed: readonly ChangedPath[]): ReadonlySet<string> {
  const filled = new Set<string>()
  for (const { path, kind, type } of changed) {
    if (type === 'directory' || kind === 'modified') continue
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1))
      filled.add(`${kind} ${path.slice(0, at)}`)
  }
  return filled
}

const CONTRACT_PATH = /^(agent_workflow(\.(ya?ml|json|md|markdown))?|agent_~\d+(\.(ya?ml?|jso|md|mar))?)(\/|$)/

/** All forms of contract that a work tree can contain, in use or not: the next start would find them. */
function isContractPath(path: string): boolean {
  return CONTRACT_PATH.test(foldPath(path))
}

const ASK_OPERATOR = 'ask an operator to change it there'

const PACKAGES = /^(.*\/)?(node_modules|\.venv|venv)(\/|$)/

// At any depth: a tool started in that folder later would run what its settings say.
const GIT_DIRECTORY = /(^|\/)(\.git|git~\d+)(\/|$)/

// Files that a commit writes. Anything else there can make git run something, or look elsewhere for what to run.
const GIT_CONTENT =
  /^\.git\/(HEAD|ORIG_HEAD|index|COMMIT_EDITMSG|packed-refs|(refs|logs)(\/.*)?|objects(\/([0-9a-f]{2}|pack)(\/[^/]+)?)?)$/

function findGitReason(change: ChangedPath, git: GitAccess): Omit<RefusedPath, 'path'> | null {
  const { path, type } = change
  if (git === 'none' || !isBelow('.git', path))
    return { reason: 'is in the git directory, which only the git tools write', isFinal: true }
  return GIT_CONTENT.test(path) && type !== 'link'
    ? null
    : { reason: 'is not a file that a commit writes', isFinal: true }
}

// `**` matches them too but does not mean them: only a pattern that begins with the name itself is explicit.
function isNamed(patterns: readonly string[], path: string): boolean {
  return patterns.some((pattern) => pattern === path || pattern.startsWith(`${path}/`))
}

function isBelow(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}

function formatPatterns(patterns: readonly string[]): string {
  return patterns.length === 0 ? 'nothing may be written' : `only ${patterns.join(', ')}`
}
