import type { CommandRun } from '../../confinement/run-command.js'
import { AGENT_CLI_FILES } from '../../core/agent-cli-files.js'
import type { JsonObject } from '../../core/contract.js'
import { failed, type ToolOutcome } from '../port.js'
import type { CommandCall } from './command-tools.js'

/** git runs inside the confinement only: a repository can make it run whatever its settings say. */
export const GIT_TOOLS: ReadonlySet<string> = new Set(['git_status', 'git_diff', 'git_log', 'git_commit'])

const TIMEOUT_MS = 60_000
const COMMITS_DEFAULT = 20
const COMMITS_MAX = 500
const FIELD = '\u001f'
const RECORD = '\u001e'

// What a repository's own settings could start, or put between us and what is really there.
const QUIET = [
  ...['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', '-c', 'core.pager=cat', '-c', 'color.ui=false'],
  ...['-c', 'commit.gpgSign=false', '-c', 'gc.auto=0', '-c', 'maintenance.auto=false', '-c', 'core.quotePath=false'],
]

export function gitCall(tool: string, args: JsonObject, hidden: readonly string[]): CommandCall {
  switch (tool) {
    case 'git_status':
      return reading(['status', '--porcelain=v1', '-z', '--branch', '--untracked-files=all'], statusOf)
    case 'git_diff':
      return reading(
        [
          'diff',
          '--no-ext-diff',
          '--no-textconv',
          ...(args.staged === true ? ['--cached'] : []),
          ...pathsOf(args, hidden),
        ],
        (run) => ({ diff: run.stdout, truncated: run.truncated }),
      )
    case 'git_log':
      return reading(
        ['log', `--max-count=${limitOf(args)}`, `--format=%H${FIELD}%an${FIELD}%ae${FIELD}%aI${FIELD}%s${RECORD}`],
        logOf,
      )
    default:
      return committing(args)
  }
}

function reading(words: readonly string[], result: (run: CommandRun) => JsonObject): CommandCall {
  return {
    job: { ...JOB, argv: ['git', '--no-optional-locks', ...QUIET, ...words], writes: 'discard', git: 'read' },
    git: 'none',
    outcome: (run) => gitOutcome(run, result),
  }
}

// The message and the paths are words of their own: nothing in them is read as an option or by a shell.
function committing(args: JsonObject): CommandCall {
  const git = ['git', ...QUIET].map((word) => `'${word}'`).join(' ')
  const script = `m="$1"; shift; ${git} add --all -- "$@" && ${git} commit --quiet --no-verify --message="$m" -- "$@" >&2 && ${git} rev-parse HEAD`
  const paths = Array.isArray(args.paths) ? (args.paths as readonly string[]).map(literal) : ['.']
  const leftOut = [...AGENT_CLI_FILES.keys()].map((path) => `:(exclude,literal)${path}`)
  return {
    job: {
      ...JOB,
      argv: ['bash', '-c', script, 'git_commit', String(args.message), ...paths, ...leftOut],
      writes: 'keep',
      git: 'write',
    },
    git: 'tool',
    outcome: (run) => gitOutcome(run, ({ stdout }) => ({ commit: stdout.trim() })),
  }
}

const JOB = { cwd: '.', network: false, timeoutMs: TIMEOUT_MS, env: { GIT_TERMINAL_PROMPT: '0' } } as const

function gitOutcome(run: CommandRun, result: (run: CommandRun) => JsonObject): ToolOutcome {
  if (run.exitCode === 0) return { ok: true, result: result(run), changes: run.changes.list }
  const said = `${run.stderr}\n${run.stdout}`.trim()
  if (/not a git repository/i.test(said))
    return failed('The work tree is not a git repository; an operator can make it one with `git init`.')
  if (/nothing to commit|nothing added to commit/i.test(said)) return failed('There is nothing to commit.')
  return failed(`git: ${said.slice(0, 2000) || `exit code ${run.exitCode}`}`)
}

// What agents may not read is not shown as a change either.
function pathsOf(args: JsonObject, hidden: readonly string[]): readonly string[] {
  const asked = Array.isArray(args.paths) ? (args.paths as readonly string[]).map(literal) : ['.']
  return ['--', ...asked, ...hidden.map((path) => `:(exclude,literal)${path}`)]
}

// git reads patterns and magic words in paths; an agent's path means the file of that name.
function literal(path: string): string {
  return `:(literal)${path}`
}

function limitOf(args: JsonObject): number {
  return typeof args.limit === 'number' && args.limit > 0 ? Math.min(args.limit, COMMITS_MAX) : COMMITS_DEFAULT
}

function statusOf(run: CommandRun): JsonObject {
  const staged: string[] = []
  const changed: string[] = []
  const untracked: string[] = []
  let branch: string | null = null
  const entries = run.stdout.split('\0').filter((entry) => entry !== '')
  for (let at = 0; at < entries.length; at += 1) {
    const entry = entries[at] ?? ''
    const [index = ' ', tree = ' '] = entry
    const path = entry.slice(3)
    if (index === '#') branch = path.replace(/\.\.\..*$/, '').replace(/^No commits yet on /, '')
    else if (index === '?') untracked.push(path)
    else {
      if (index !== ' ') staged.push(path)
      if (tree !== ' ') changed.push(path)
      // The old name of what was renamed or copied follows as an entry of its own.
      if (index === 'R' || index === 'C') at += 1
    }
  }
  const clean = staged.length + changed.length + untracked.length === 0
  return { branch, clean, staged, changed, untracked, truncated: run.truncated }
}

function logOf(run: CommandRun): JsonObject {
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
