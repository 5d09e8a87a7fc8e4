import type { Confinement, Job } from '../../confinement/confinement.js'
import { type CommandRun, runCommand } from '../../confinement/run-command.js'
import type { HookRecord } from '../../core/contract/git-rules.js'
import { failTool, type ToolOutcome } from '../tool-place.js'
import { COMMIT_TREE, type CommitPlan } from './git-commit.js'

const TIMEOUT_MS = 300_000
const LINES_TOLD_MAX = 20
const CHARS_TOLD_MAX = 2000
const PATHS_TOLD_MAX = 10
const MESSAGE_CHARS_MAX = 64 * 1024
/** Runs after the commit, and cannot refuse it. */
const NEVER_RUN = 'post-commit'
const REFUSED = 91

/** The hooks that git would run for a commit. */
export interface RepositoryHooks {
  readonly names: readonly string[]
  /** Where sandboxed commands find them; null: nowhere, or not all of them. */
  readonly folder: string | null
  /** The same path for display. */
  readonly place: string
  /** Those in the work tree, relative to it. */
  readonly files: readonly string[]
}

export interface HookedCommit {
  readonly message: string
  /** The tree that the hooks saw: exactly this one is committed. */
  readonly tree: string
}

/** The result of a repository's hooks. */
export function recordHooks({ names }: RepositoryHooks, runs: boolean): HookRecord {
  const ran = runs ? names.filter((name) => name !== NEVER_RUN) : []
  return { ran, skipped: names.filter((name) => !ran.includes(name)) }
}

const SCRIPT = `folder="$1" message="$2" names="$3"; shift 3
${COMMIT_TREE}
tree=$(commit_tree "$@") || exit 90
printf '%s\\n' "$tree"
file=.git/COMMIT_EDITMSG; printf '%s\\n' "$message" > "$file"
export GIT_INDEX_FILE="$index" GIT_EDITOR=:
for name in $names; do
  case "$name" in pre-commit) words=();; prepare-commit-msg) words=("$file" message);; *) words=("$file");; esac
  "$folder/$name" "\${words[@]}" </dev/null >&2 || { printf '%s %s' "$name" $?; exit ${REFUSED}; }
done
cat "$file"`

/**
 * Runs the hooks in the sandbox on the pending commit. The repository decides what they run, and agents may have
 * written it: all their changes are discarded, and only the commit message is taken from them.
 */
export async function runHooks(
  confinement: Confinement,
  place: Pick<Job, 'tree' | 'hidden' | 'layer' | 'aside' | 'signal'>,
  about: { readonly plan: CommitPlan; readonly hooks: RepositoryHooks; readonly isWritten: (path: string) => boolean },
): Promise<HookedCommit | ToolOutcome> {
  const { plan, hooks, isWritten } = about
  const { ran } = recordHooks(hooks, true)
  if (hooks.folder === null || confinement.provider === 'none')
    return failTool(
      `git_commit: the contract says git.hooks: run, and the hooks in ${hooks.place} cannot be run in the sandbox. Ask an operator.`,
    )
  const changed = hooks.files.find(isWritten)
  if (changed !== undefined)
    return failTool(
      `git_commit: the hook ${changed} was changed by this task and is not run. Restore it and call git_commit again, or ask an operator to commit.`,
    )
  const words = [...plan.paths, ...plan.covered]
  const run = await runCommand(confinement, {
    ...place,
    argv: ['bash', '-c', SCRIPT, 'git_commit', hooks.folder, plan.message, ran.join(' '), ...words],
    cwd: '.',
    env: { GIT_TERMINAL_PROMPT: '0' },
    network: false,
    timeoutMs: TIMEOUT_MS,
    writes: 'keep',
    git: 'write',
    shown: hooks.folder.startsWith(`${place.tree}/`) ? [] : [hooks.folder],
  })
  const written = run.changes.list.filter(
    ({ path, type }) =>
      !/^\.git(\/|$)/.test(path) && type !== 'directory' && (place.aside?.(path, false) ?? null) === null,
  )
  await run.changes.discard()
  return judge(run, ran, [...new Set(written.map(({ path }) => path))])
}

function judge(run: CommandRun, ran: readonly string[], written: readonly string[]): HookedCommit | ToolOutcome {
  const [tree = '', ...rest] = run.stdout.split('\n')
  const message = rest.join('\n').trim()
  const who = ran.length === 1 ? `the hook ${ran[0]}` : `the hooks ${ran.join(', ')}`
  if (run.stopped !== null)
    return failTool(
      `git_commit: ${who} did not end within ${TIMEOUT_MS / 1000} s; nothing was committed${formatLines(run)}`,
    )
  if (run.exitCode === REFUSED) {
    const [name = '', code = ''] = message.split(' ')
    return failTool(
      `git_commit: the hook ${name} refused the commit (exit code ${code})${formatLines(run)}\nFix what it names, then call git_commit again.`,
    )
  }
  if (run.exitCode !== 0) return failTool(`git_commit: ${who} could not be run${formatLines(run)}`)
  if (written.length > 0)
    return failTool(
      `git_commit: ${who} changed ${formatPaths(written)}. Changes of hooks are discarded, and nothing was committed. Make these changes yourself, then call git_commit again.`,
    )
  if (message === '' || message.length > MESSAGE_CHARS_MAX || run.truncated)
    return failTool(`git_commit: ${who} left a message that is empty or too long; nothing was committed.`)
  return { message, tree }
}

function formatPaths(paths: readonly string[]): string {
  const more = paths.length > PATHS_TOLD_MAX ? ` and ${paths.length - PATHS_TOLD_MAX} more` : ''
  return `${paths.slice(0, PATHS_TOLD_MAX).join(', ')}${more}`
}

function formatLines({ stderr }: CommandRun): string {
  const last = stderr.trim().split('\n').slice(-LINES_TOLD_MAX).join('\n').slice(-CHARS_TOLD_MAX)
  return last === '' ? '.' : `:\n${last}`
}
