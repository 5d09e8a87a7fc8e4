import ignore from 'ignore'
import type { Aside } from '../../confinement/confinement.js'
import type { ToolOutcome } from '../../tools/tool-place.js'
import type { Change } from '../../tree/change.js'
import { type IgnoreText, reuseRules } from '../../tree/ignore-rules.js'

/** Files that tools leave behind wherever they run. A project that commits such files is not considered. */
export const LEFT_BEHIND = [
  '__pycache__/',
  '*.pyc',
  '.pytest_cache/',
  '.mypy_cache/',
  '.ruff_cache/',
  '.nyc_output/',
  '.coverage',
  '.coverage.*',
  '.DS_Store',
  'node_modules/.cache/',
  'node_modules/.vite/',
  'node_modules/.vite-temp/',
  'node_modules/.vitest/',
  'node_modules/.vitest-cache/',
  '*.tsbuildinfo',
]
/** What build tools and package managers fill; part of the project where git tracks files in it. */
const FILLED = /^(?:(?:target|\.gradle|vendor\/bundle)|(?:.*?\/)?\.(?:tox|nox))(?=\/|$)/
const COVERAGE = 'coverage'
const PACKAGES = /^(?:.*\/)?(?:node_modules|\.venv|venv)(?=\/|$)/
const GIT_DIRECTORY = /(^|\/)\.git(\/|$)/

/** The rules that decide which changes count. */
export interface ScratchRules {
  /** The ignore rules when work in the tree began. */
  readonly rules: readonly IgnoreText[]
  /** Whether a folder named coverage is part of the project. */
  readonly isSource: (folder: string) => boolean
  /** Whether the phase names the path as writable. */
  readonly isNamed: (path: string) => boolean
  /** Whether git may track files in a folder. */
  readonly isTracked: (folder: string) => boolean
  /** What is mounted over in the view of commands: nothing of the layer may lie in the way. */
  readonly covered: readonly string[]
}

interface SplitResult {
  /** Changes that count. */
  readonly kept: readonly Change[]
  /** Caches and other ignored files: they never reach the tree and never block a gate; the next command sees them. */
  readonly scratch: readonly Change[]
  /** Also ignored, and discarded after the command: installed packages, sockets, links that leave the tree. */
  readonly left: readonly Change[]
  /** The folders of installed packages among them. */
  readonly packages: readonly string[]
}

/** Classifies a path by the ignore rules at the start of work, not by a .gitignore that was edited since. */
export function makeAside(rules: ScratchRules): Aside {
  const isIgnored = makeIgnored(rules.rules)
  const always = makeLeftoverMatcher(rules.isSource)
  const tracked = new Map<string, boolean>()
  const isTracked = (folder: string): boolean => {
    const known = tracked.get(folder) ?? rules.isTracked(folder)
    tracked.set(folder, known)
    return known
  }
  return (path, isDirectory) => {
    // The refused tree root is not a path that could be ignored.
    if (!ignore.isPathValid(path) || GIT_DIRECTORY.test(path) || rules.isNamed(path)) return null
    if (always(path, isDirectory)) return 'kept'
    const filled = FILLED.exec(path)?.[0]
    if (filled !== undefined && !isTracked(filled)) return 'kept'
    if (!isIgnored(path, isDirectory)) return null
    const installed = PACKAGES.exec(path)?.[0]
    // The folder itself may contain caches, which are kept.
    return installed === undefined || installed === path ? 'kept' : 'dropped'
  }
}

/** Splits changes by the ignore rules at the start of work, not by a .gitignore that was edited since. */
export function splitChanges(changes: readonly Change[], rules: ScratchRules): SplitResult {
  if (changes.length === 0) return { kept: [], scratch: [], left: [], packages: [] }
  const becomes = makeAside(rules)
  const aside = new Set(changes.filter(({ path, type }) => becomes(path, type === 'directory') !== null))
  for (const folder of findAsideFolders(changes, aside)) aside.add(folder)
  const kept: Change[] = []
  const scratch: Change[] = []
  const left: Change[] = []
  const packages = new Set<string>()
  for (const change of changes) {
    const installed = PACKAGES.exec(change.path)?.[0]
    if (!aside.has(change)) kept.push(change)
    else if (installed !== undefined && isOfPackages(change, becomes)) {
      left.push(change)
      if (change.path !== installed || change.kind === 'deleted') packages.add(installed)
    } else if (change.problem !== null || isInTheWay(change, rules.covered)) left.push(change)
    else scratch.push(change)
  }
  return { kept, scratch, left, packages: [...packages] }
}

// A package folder that only exists because of a cache in it is overlaid like the cache.
function isOfPackages({ path, type, kind }: Change, becomes: Aside): boolean {
  return becomes(path, type === 'directory') === 'dropped' || (kind === 'deleted' && PACKAGES.exec(path)?.[0] === path)
}

/** Whether a path is a file that tools leave behind. */
export function makeLeftoverMatcher(
  isSource: ScratchRules['isSource'],
): (path: string, isDirectory: boolean) => boolean {
  const rules = reuseRules([{ base: '', text: LEFT_BEHIND.join('\n') }])
  return (path, isDirectory) => {
    if (!ignore.isPathValid(path)) return false
    if (rules.isIgnored(path, isDirectory)) return true
    if (!path.includes(COVERAGE)) return false
    const folder = findCoverageFolder(path, isDirectory)
    return folder !== null && !isSource(folder)
  }
}

function findCoverageFolder(path: string, isDirectory: boolean): string | null {
  const names = path.split('/')
  const at = (isDirectory ? names : names.slice(0, -1)).indexOf(COVERAGE)
  return at === -1 ? null : names.slice(0, at + 1).join('/')
}

const REPORTS =
  /^(lcov\.info|lcov-report|coverage-final\.json|coverage-summary\.json|clover\.xml|cobertura-coverage\.xml|index\.html|\.tmp)$/

/** The folders named coverage that contain more than reports, among the paths of a project. */
export function findSourceCoverageFolders(paths: Iterable<string>): ReadonlySet<string> {
  const reports = new Set<string>()
  const found = new Set<string>()
  for (const path of paths) {
    if (!path.includes(COVERAGE)) continue
    const folder = findCoverageFolder(path, false)
    if (folder === null) continue
    found.add(folder)
    const [name = ''] = path.slice(folder.length + 1).split('/')
    if (REPORTS.test(name)) reports.add(folder)
  }
  return new Set([...found].filter((folder) => !reports.has(folder)))
}

/** Whether a path is ignored. The rules of the nearest folder win. */
export function makeIgnored(rules: readonly IgnoreText[]): (path: string, isDirectory: boolean) => boolean {
  const ready = reuseRules(rules)
  return (path, isDirectory) => ready.isIgnored(path, isDirectory)
}

/** The patterns that match ignored paths: by the name of such a folder, or because they begin in one. */
export function pickIgnored(patterns: readonly string[], isIgnored: (path: string) => boolean): readonly string[] {
  return patterns.filter((pattern) => {
    if (/^\*\*(\/\*)?$/.test(pattern)) return false
    const literal = pattern.split('/').filter((_, at, all) => !all.slice(0, at + 1).some((part) => /[*?[{]/.test(part)))
    return IGNORED_FOLDER.test(pattern) || (literal.length > 0 && isIgnored(`${literal.join('/')}/x`))
  })
}

// Patterns that name installed packages or caches.
const IGNORED_FOLDER = /(^|\/)(node_modules|\.venv|venv|coverage|__pycache__|\.\w+_cache)(\/|$)/

// A folder that was created only for ignored files is not shown to others.
function findAsideFolders(changes: readonly Change[], aside: ReadonlySet<Change>): readonly Change[] {
  const filled = new Set<string>()
  const counted = new Set<string>()
  for (const change of changes) {
    if (change.type === 'directory' && !aside.has(change)) continue
    const into = aside.has(change) ? filled : counted
    for (let at = change.path.lastIndexOf('/'); at > 0; at = change.path.lastIndexOf('/', at - 1))
      into.add(change.path.slice(0, at))
  }
  return changes.filter(
    (one) =>
      one.type === 'directory' &&
      one.kind === 'created' &&
      !aside.has(one) &&
      filled.has(one.path) &&
      !counted.has(one.path),
  )
}

function isInTheWay({ path, type }: Change, covered: readonly string[]): boolean {
  return covered.some((one) => one === path || (type !== 'directory' && one.startsWith(`${path}/`)))
}

/** What the agent is told about discarded changes. */
export function listNotes({ packages }: SplitResult): readonly string[] {
  if (packages.length === 0) return []
  return [
    `What was changed in ${packages.slice(0, FOLDERS_TOLD_MAX).join(', ')} was discarded: installed packages are read-only. Changes of package and lock files count like those of any other file. Ask for them with request_dependency, or ask an operator to install (phaselock install) or to list the folder under \`writable\` of this phase.`,
  ]
}

const FOLDERS_TOLD_MAX = 5

/** The answer of a command without the changes that do not count, and with notes about them. */
export function addNotes(
  outcome: ToolOutcome,
  about: { readonly kept: readonly Change[]; readonly notes: readonly string[]; readonly aside: number },
): ToolOutcome {
  const { kept, notes, aside } = about
  if (!outcome.ok || (aside === 0 && notes.length === 0)) return outcome
  const { changes_total: _, ...result } = outcome.result
  const told = kept.slice(0, CHANGES_TOLD_MAX).map(({ path, kind, type, bytes }) => ({ path, kind, type, bytes }))
  return {
    ok: true,
    result: {
      ...result,
      ...(Array.isArray(result.changes) ? { changes: told } : {}),
      ...(kept.length > CHANGES_TOLD_MAX ? { changes_total: kept.length } : {}),
      ...(aside === 0 ? {} : { scratch: aside }),
      ...(notes.length === 0 ? {} : { notes }),
    },
    changes: kept,
  }
}

const CHANGES_TOLD_MAX = 200
