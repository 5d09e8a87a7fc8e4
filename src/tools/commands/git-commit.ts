import { formatExcludePathspec, QUIET_GIT, readListing } from '../../confinement/changes/git-listing.js'
import type { CommandRun } from '../../confinement/run-command.js'
import { type CommitAuthor, formatAuthor, type HookRecord, UNNAMED_AUTHOR } from '../../core/contract/git-rules.js'
import type { JsonObject } from '../../core/json.js'
import { type CommitRules, commitScope, makeFolderMatcher } from '../../core/paths/commit-scope.js'
import { failTool, type ToolOutcome } from '../tool-place.js'
import type { CommandCall } from './command-call.js'
import { getPaths, JOB, listPathspecs, NOTHING, toGitOutcome } from './git-tools.js'
import type { HookedCommit, RepositoryHooks } from './run-hooks.js'

/** Maximum number of arguments; the kernel accepts about 2 MB. */
const WORDS_BYTES_MAX = 1024 * 1024
const NAMED_MAX = 10
const GIT = ['git', ...QUIET_GIT].map((word) => `'${word}'`).join(' ')

/** How commits of a task are made, apart from their content. */
export interface Committing {
  readonly author: CommitAuthor
  /** The agent that requests the commit. */
  readonly coAuthor: CommitAuthor
  readonly hooks: RepositoryHooks
  readonly runsHooks: boolean
}

/** What git_commit is about to commit. */
export interface CommitPlan {
  readonly message: string
  /** Pathspecs, including exclusions. */
  readonly paths: readonly string[]
  /** Pathspecs that exclude what commands other than git do not see. */
  readonly covered: readonly string[]
  /** Files that had uncommitted changes when work began. */
  readonly mixed: readonly string[]
}

/**
 * Plans git_commit: it commits the paths that `committed` accepts, and leaves out the contract, what was ignored when
 * work began, untracked packages and submodules.
 */
export function planCommit(
  listed: CommandRun,
  args: JsonObject,
  about: { readonly rules: CommitRules; readonly hidden: readonly string[]; readonly coAuthor: CommitAuthor },
): CommitPlan | ToolOutcome {
  const { rules } = about
  if (listed.exitCode !== 0) return toGitOutcome(listed, () => ({}))
  const listing = readListing(listed)
  const { changed, leftOut } = commitScope(listing, rules)
  const named = getPaths(args)
  const refused = named?.find(makeFolderMatcher([...rules.reserved, ...leftOut]))
  if (refused !== undefined && rules.isEarlier(refused))
    return failTool(
      `git_commit: ${JSON.stringify(refused)} was changed before work on the task began, and the task has not changed it. Leave it out of "paths"; a person commits it.`,
    )
  if (refused !== undefined && rules.isForeign(refused))
    return failTool(
      `git_commit: ${JSON.stringify(refused)} was changed by somebody else while the task was under way. Leave it out of "paths"; the person who changed it commits it.`,
    )
  if (refused !== undefined)
    return failTool(
      `git_commit: ${JSON.stringify(refused)} is not committed by agents: it belongs to the contract, an agent CLI, a submodule or installed packages, or git ignored it when work began. Leave it out of "paths".`,
    )
  const earlier = listing.entries.filter(({ path }) => rules.isEarlier(path)).length
  if (changed.length === 0) return failTool(`${NOTHING}${earlier === 0 ? '.' : formatNothingChanged(earlier)}`)
  const isAsked = named === null ? () => true : makeFolderMatcher(named)
  // git finds nothing if excluded paths are next to the named ones.
  const words = leftOut.filter(isAsked).map(formatExcludePathspec)
  if (listed.truncated || Buffer.byteLength(words.join()) > WORDS_BYTES_MAX)
    return failTool(
      'git_commit: there are too many changed files that do not belong to the task. Ask an operator to commit them, or to add their folders to .gitignore.',
    )
  return {
    message: addCoAuthor(String(args.message), about.coAuthor),
    paths: [...listPathspecs(args), ...words],
    covered: about.hidden.filter(isAsked).map(formatExcludePathspec),
    mixed: changed.filter(({ path }) => isAsked(path) && rules.hadChanges(path)).map(({ path }) => path),
  }
}

function formatNothingChanged(earlier: number): string {
  return `: the task changed nothing. ${earlier} ${earlier === 1 ? 'file that was' : 'files that were'} changed before ${earlier === 1 ? 'is' : 'are'} left alone.`
}

// Trailers are the last paragraph of a message.
function addCoAuthor(message: string, agent: CommitAuthor): string {
  const text = message.trim()
  const last = text.split(/\n\s*\n/).at(-1) ?? ''
  const hasTrailers = last !== text && last.split('\n').every((line) => /^[A-Za-z0-9-]+: \S/.test(line))
  return `${text}${hasTrailers ? '\n' : '\n\n'}Co-authored-by: ${formatAuthor(agent)}`
}

/** A Bash function that prints the tree that `git commit -- PATHSPEC…` would commit; its index stays at `$index`. */
export const COMMIT_TREE = `index=$(mktemp -u)
sparse=(); [ "$(${GIT} config --type=bool core.sparseCheckout)" != true ] || sparse=(--sparse)
commit_tree() (
  export GIT_INDEX_FILE="$index"
  [ ! -f .git/index ] || cp .git/index "$index"
  if ${GIT} rev-parse --quiet --verify HEAD >/dev/null; then ${GIT} read-tree -m HEAD; else ${GIT} read-tree --empty; fi &&
  ${GIT} add --all "\${sparse[@]}" -- "$@" && ${GIT} write-tree
)`
const CHANGED = 'phaselock: changed while hooks ran'
// The message and the paths are separate arguments: nothing in them is read as an option or by a shell.
const SCRIPT = `m="$1" want="$2"; export GIT_AUTHOR_NAME="$3" GIT_AUTHOR_EMAIL="$4" GIT_COMMITTER_NAME="$3" GIT_COMMITTER_EMAIL="$4"; shift 4
${COMMIT_TREE}
[ -z "$want" ] || [ "$(commit_tree "$@")" = "$want" ] || { echo '${CHANGED}' >&2; exit 1; }
${GIT} add --all "\${sparse[@]}" -- "$@" && ${GIT} commit --quiet --no-verify --message="$m" -- "$@" >&2 && ${GIT} rev-parse HEAD`

export function buildCommitCall(
  plan: CommitPlan,
  author: CommitAuthor,
  about: { readonly hooked: HookedCommit | null; readonly hooks: HookRecord },
): CommandCall {
  const { hooked, hooks } = about
  const words = [hooked?.message ?? plan.message, hooked?.tree ?? '', author.name, author.email, ...plan.paths]
  const shown = hooks.ran.length + hooks.skipped.length === 0 ? {} : { hooks: { ...hooks } }
  return {
    job: { ...JOB, argv: ['bash', '-c', SCRIPT, 'git_commit', ...words], writes: 'keep', git: 'write' },
    git: 'tool',
    hooks,
    outcome: (run) =>
      run.stderr.includes(CHANGED)
        ? failTool('git_commit: files were changed while the hooks ran. Call git_commit again.')
        : toGitOutcome(run, ({ stdout }) => ({
            ...{ commit: stdout.trim(), author: formatAuthor(author) },
            ...shown,
            ...buildWarnings(plan.mixed),
            ...buildNote(author),
          })),
  }
}

function buildWarnings(mixed: readonly string[]): JsonObject {
  if (mixed.length === 0) return {}
  const more = mixed.length > NAMED_MAX ? ` and ${mixed.length - NAMED_MAX} more` : ''
  const text = `${mixed.slice(0, NAMED_MAX).join(', ')}${more} had uncommitted changes when work on the task began; this commit holds them too. Say so in your summary.`
  return { warnings: [text] }
}

function buildNote(author: CommitAuthor): JsonObject {
  if (author.name !== UNNAMED_AUTHOR.name || author.email !== UNNAMED_AUTHOR.email) return {}
  return {
    note: `git has no user.name and user.email here, so that the author is ${formatAuthor(author)}. Say so in your summary: a person sets them with git config, or git.author in the contract.`,
  }
}
