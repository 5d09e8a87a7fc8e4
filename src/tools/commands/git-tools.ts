import { GIT_ENV, LISTING_ARGV, LISTING_KEPT, QUIET_GIT, readListing } from '../../confinement/changes/git-listing.js'
import type { CommandRun } from '../../confinement/run-command.js'
import type { JsonObject } from '../../core/json.js'
import { type CommitRules, commitScope } from '../../core/paths/commit-scope.js'
import { failTool, type ToolOutcome } from '../tool-place.js'
import type { CommandCall } from './command-call.js'

/** git runs only in the sandbox: a repository's settings can make it run any program. */
export const GIT_TOOLS: ReadonlySet<string> = new Set(['git_status', 'git_diff', 'git_log', 'git_commit'])

const TIMEOUT_MS = 60_000
const COMMITS_DEFAULT = 20
const COMMITS_MAX = 500
const PATHS_TOLD_MAX = 2000
const FIELD = '\u001f'
const RECORD = '\u001e'
const GIT = ['git', ...QUIET_GIT]
export const JOB = { cwd: '.', network: false, timeoutMs: TIMEOUT_MS, env: GIT_ENV } as const

/** Lists everything that differs from the last commit. */
export const LISTING = {
  job: { ...JOB, argv: LISTING_ARGV, writes: 'discard', git: 'read' },
  kept: LISTING_KEPT,
} as const

/** The call of `git_status` or `git_log`. The contract is neither shown nor counted as a change. */
export function buildGitCall(tool: string, args: JsonObject, rules: CommitRules): CommandCall {
  if (tool === 'git_status')
    return { ...LISTING, git: 'none', outcome: (run) => toGitOutcome(run, (ended) => parseStatus(ended, rules)) }
  return buildReadCall(
    [
      ...[...GIT, 'log', `--max-count=${getLimit(args)}`],
      `--format=%H${FIELD}%an${FIELD}%ae${FIELD}%aI${FIELD}%s${RECORD}`,
    ],
    parseLog,
  )
}

export function buildReadCall(argv: readonly string[], result: (run: CommandRun) => JsonObject): CommandCall {
  return {
    job: { ...JOB, argv, writes: 'discard', git: 'read' },
    git: 'none',
    outcome: (run) => toGitOutcome(run, result),
  }
}

export const NOTHING = 'There is nothing to commit'

export function toGitOutcome(run: CommandRun, result: (run: CommandRun) => JsonObject): ToolOutcome {
  if (run.exitCode === 0) return { ok: true, result: result(run), changes: run.changes.list }
  const said = `${run.stderr}\n${run.stdout}`.trim()
  if (/not a git repository/i.test(said))
    return failTool('The work tree is not a git repository; an operator can make it one with `git init`.')
  if (/nothing to commit|nothing added to commit/i.test(said)) return failTool(`${NOTHING}.`)
  const [, lock] = /'([^'\n]*\/\.git\/[^'\n]*\.lock)': File exists/.exec(said) ?? []
  if (lock !== undefined)
    return failTool(
      `git: ${lock} is in the way. It belongs to another git process that is running in this repository, or was left behind by one that was killed. Try again in a moment. If it stays, ask an operator to make sure that no git is running there and to remove it: rm '${lock}'`,
    )
  return failTool(`git: ${said.slice(0, 2000) || `exit code ${run.exitCode}`}`)
}

export function getPaths(args: JsonObject): readonly string[] | null {
  return Array.isArray(args.paths) ? (args.paths as readonly string[]) : null
}

// git reads patterns and magic words in paths; an agent's path means the file of that name.
export function listPathspecs(args: JsonObject): readonly string[] {
  return getPaths(args)?.map((path) => `:(literal)${path}`) ?? ['.']
}

function getLimit(args: JsonObject): number {
  return typeof args.limit === 'number' && args.limit > 0 ? Math.min(args.limit, COMMITS_MAX) : COMMITS_DEFAULT
}

function parseStatus(run: CommandRun, rules: CommitRules): JsonObject {
  const listing = readListing(run)
  const { changed: entries } = commitScope(listing, rules)
  const isTracked = ({ index }: { readonly index: string }): boolean => index !== '?'
  const paths = (some: typeof entries): readonly string[] => some.slice(0, PATHS_TOLD_MAX).map(({ path }) => path)
  return {
    branch: listing.branch,
    clean: entries.length === 0,
    staged: paths(entries.filter((entry) => isTracked(entry) && entry.index !== ' ')),
    changed: paths(entries.filter((entry) => isTracked(entry) && entry.tree !== ' ')),
    untracked: paths(entries.filter((entry) => !isTracked(entry))),
    truncated: run.truncated || entries.length > PATHS_TOLD_MAX,
  }
}

function parseLog(run: CommandRun): JsonObject {
  const commits = run.stdout
    .split(RECORD)
    .map((record) => record.replace(/^\n/, ''))
    .filter((record) => record !== '')
    .map((record) => {
      const [commit = '', author = '', email = '', date = '', subject = ''] = record.split(FIELD)
      return { commit, author, email, date, subject }
    })
  return { commits, truncated: run.truncated }
}
