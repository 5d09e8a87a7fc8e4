import type { GitListing, StatusEntry } from '../../core/paths/commit-scope.js'
import type { Confinement, Job } from '../confinement.js'
import { type CommandRun, type OutputLimits, runCommand } from '../run-command.js'

/** Maximum output: names of some 100,000 files. */
export const LISTING_KEPT = { headBytes: 16 * 1024 * 1024, tailBytes: 0 }

/** Settings of a repository that could start programs, or hide the real content. */
export const QUIET_GIT: readonly string[] = [
  ...['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', '-c', 'core.pager=cat', '-c', 'color.ui=false'],
  ...['-c', 'commit.gpgSign=false', '-c', 'gc.auto=0', '-c', 'maintenance.auto=false', '-c', 'core.quotePath=false'],
  ...[
    '-c',
    'diff.renames=false',
    '-c',
    'core.checkStat=default',
    '-c',
    'core.trustctime=true',
    '-c',
    'core.ignoreStat=false',
  ],
]

/** Never prompts, and does not touch the index when it only reads, not even that of a submodule. */
export const GIT_ENV = { GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0' } as const

const GIT_MS_MAX = 60_000

/** Where git is asked: a tree, and the sandbox to run git in. */
export interface GitPlace extends Pick<Job, 'tree' | 'hidden' | 'signal'> {
  readonly confinement: Pick<Confinement, 'start'>
}

/** Runs a command that only reads the git directory; its writes to the tree are discarded. */
export function askGit(
  { confinement, ...place }: GitPlace,
  argv: Job['argv'],
  { kept = LISTING_KEPT, ...more }: Pick<Job, 'collect'> & { readonly kept?: OutputLimits } = {},
): Promise<CommandRun> {
  const job = { ...place, ...more, argv, cwd: '.', env: GIT_ENV, network: false, timeoutMs: GIT_MS_MAX } as const
  return runCommand(confinement, { ...job, writes: 'discard', git: 'read' }, kept)
}

const PART = '//'
const QUIET = QUIET_GIT.join(' ')
const SCRIPT = `set -eo pipefail
git ${QUIET} status --porcelain=v1 -z --branch --untracked-files=all --no-renames --ignore-submodules=all
printf '${PART}\\0'
git ${QUIET} ls-files --others --exclude-standard --directory -z
printf '${PART}\\0'
git ${QUIET} ls-files --stage -z | { grep -z '^160000 ' || :; }`

/** The arguments that list differences from the last commit. */
export const LISTING_ARGV: Job['argv'] = ['bash', '-c', SCRIPT]

/** The pathspec that excludes a file, or a folder with everything in it. */
export function formatExcludePathspec(path: string): string {
  return `:(exclude,literal)${path}`
}

export function readListing({ stdout }: Pick<CommandRun, 'stdout'>): GitListing {
  const parts: string[][] = [[]]
  for (const entry of stdout.split('\0'))
    if (entry === PART) parts.push([])
    else if (entry !== '') parts.at(-1)?.push(entry)
  const [status = [], untracked = [], submodules = []] = parts
  const [head = ''] = status.filter((entry) => entry.startsWith('## '))
  return {
    branch: head === '' ? null : parseBranch(head.slice(3)),
    entries: status.filter((entry) => !entry.startsWith('## ')).map(parseEntry),
    untrackedFolders: untracked.flatMap((path) => (path.endsWith('/') ? [path.slice(0, -1)] : [])),
    // Mode, object, stage, and after a tab the path.
    submodules: submodules.map((entry) => entry.slice(entry.indexOf('\t') + 1)),
  }
}

function parseBranch(text: string): string {
  return text.replace(/\.\.\..*$/, '').replace(/^No commits yet on /, '')
}

function parseEntry(entry: string): StatusEntry {
  const [index = ' ', tree = ' '] = entry
  return { index, tree, path: entry.slice(3) }
}
