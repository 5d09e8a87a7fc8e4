import { formatExcludePathspec, QUIET_GIT, readListing } from '../../confinement/changes/git-listing.js'
import { UNLIKE } from '../../confinement/changes/hidden-from-git.js'
import type { CommandRun } from '../../confinement/run-command.js'
import type { JsonObject } from '../../core/json.js'
import { type CommitRules, commitScope, makeFolderMatcher } from '../../core/paths/commit-scope.js'
import { readPath } from '../read-path.js'
import type { CommandCall } from './command-call.js'
import { buildReadCall, getPaths, listPathspecs } from './git-tools.js'

const NEW_FILES_MAX = 1000

// Binary files are shown too. Changes that git does not see are added unchanged.
const GIT_DIFF = `git ${QUIET_GIT.join(' ')} diff --text --no-ext-diff --no-textconv --ignore-submodules=all`
const STAGED_DIFF = `${GIT_DIFF} --cached -- "$@"`

// New files are shown as git shows them once it knows of them, without changing the index. Links are not followed.
const NEW_FILES = `shown() { case "$1" in *[[:cntrl:]]*) printf '%q' "$1" ;; *) printf '%s' "$1" ;; esac; }
new_file() {
  local name; name=$(shown "$1")
  if [ -L "$1" ]; then
    printf 'diff --git a/%s b/%s\\nnew file mode 120000\\n--- /dev/null\\n+++ b/%s\\n@@ -0,0 +1 @@\\n+%s\\n' \\
      "$name" "$name" "$name" "$(shown "$(readlink -- "$1")")"
  elif [ -f "$1" ]; then
    printf 'diff --git a/%s b/%s\\nnew file mode %s\\n' "$name" "$name" "$([ -x "$1" ] && echo 100755 || echo 100644)"
    diff -u --text --label /dev/null --label "b/$name" -- /dev/null "./$1" || :
  fi
}
count="$1"; shift
new=("\${@:1:count}"); shift "$count"
`
const DIFF = `${UNLIKE}${NEW_FILES}${GIT_DIFF} -- "$@" || exit $?
unlike '' "$@" | while IFS= read -r -d '' path; do
  printf 'attributes or flags hide this from git: %s\\n' "$path"
  written '' "$path" | diff -u --text --label "a/$path" --label "b/$path" - "$path" || :
done || exit $?
for path in "\${new[@]}"; do new_file "$path"; done`

/** The call of git_diff for what is staged. */
export function buildStagedDiffCall(args: JsonObject, { reserved }: CommitRules): CommandCall {
  return buildReadCall(['bash', '-c', STAGED_DIFF, 'git_diff', ...listWords(args, reserved)], toDiff)
}

/** The call of git_diff: what differs from the index, and the new files that git_status lists. */
export function buildDiffCall(
  args: JsonObject,
  about: { readonly listed: CommandRun; readonly rules: CommitRules; readonly hidden: readonly string[] },
): CommandCall {
  const added = listNewFiles(args, about)
  const shown = added.slice(0, NEW_FILES_MAX)
  const words = [String(shown.length), ...shown, ...listWords(args, about.rules.reserved)]
  const more = added.length - shown.length
  const note = more === 0 ? {} : { note: `${more} more new files are not shown; name their folder in "paths".` }
  return buildReadCall(['bash', '-c', DIFF, 'git_diff', ...words], (run) => ({ ...toDiff(run), ...note }))
}

function toDiff(run: CommandRun): JsonObject {
  return { diff: run.stdout, truncated: run.truncated }
}

function listWords(args: JsonObject, reserved: readonly string[]): readonly string[] {
  return [...listPathspecs(args), ...reserved.map(formatExcludePathspec)]
}

function listNewFiles(
  args: JsonObject,
  { listed, rules, hidden }: Parameters<typeof buildDiffCall>[1],
): readonly string[] {
  const isHidden = makeFolderMatcher(hidden)
  const isAsked = makePathMatcher(getPaths(args))
  return commitScope(readListing(listed), rules)
    .changed.filter(({ index, path }) => index === '?' && isAsked(path) && !isHidden(path))
    .map(({ path }) => path)
}

function makePathMatcher(paths: readonly string[] | null): (path: string) => boolean {
  const asked = paths?.map((path) => readPath(path).path) ?? ['.']
  return asked.includes('.') || asked.includes('') ? () => true : makeFolderMatcher(asked)
}
