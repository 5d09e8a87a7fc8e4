import { QUIET_GIT } from './git-listing.js'

const GIT = `git ${QUIET_GIT.join(' ')}`

/**
 * Bash functions over tracked files that git may report as unchanged although they differ: attributes (`filter`,
 * `ident`, `working-tree-encoding`) and flags of the index (`assume-unchanged`, `skip-worktree`) hide the change.
 * `unlike REV PATHSPEC…` prints the paths, each ended by NUL, that differ from what a checkout of REV would write
 * without filters. `written REV PATH` prints that content.
 */
export const UNLIKE = `set -o pipefail
filters=$(${GIT} config --name-only --get-regexp '^filter[.]' | sort -u) || filters=
off=(); while IFS= read -r key; do [ -z "$key" ] || off+=(-c "$key="); done <<< "$filters"
written() { ${GIT} "\${off[@]}" cat-file --filters "$1:$2" 2>/dev/null; }
same() { sed -e 's/\\$Id: [0-9a-f]\\{40,64\\} \\$/$Id$/g' | sha256sum; }
converted() {
  ${GIT} ls-files -z -v -- "$@" | { grep -z '^[a-zS] ' || :; } | cut -z -b3-
  ${GIT} ls-files -z -- "$@" ':(exclude,attr:!ident)'
  ${GIT} ls-files -z -- "$@" ':(exclude,attr:!working-tree-encoding)'
  [ -z "$filters" ] || ${GIT} ls-files -z -- "$@" ':(exclude,attr:!filter)'
}
unlike() {
  local rev="$1"; shift
  converted "$@" | sort -zu | while IFS= read -r -d '' path; do
    [ -f "$path" ] && [ ! -L "$path" ] || continue
    [ "$(written "$rev" "$path" | same)" = "$(same < "$path")" ] || printf '%s\\0' "$path"
  done
}
`
