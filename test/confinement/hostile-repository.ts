import { quoted } from './account.js'

/** Every name that git knows a hook by. */
const HOOKS = [
  ...['applypatch-msg', 'pre-applypatch', 'post-applypatch', 'pre-commit', 'pre-merge-commit', 'prepare-commit-msg'],
  ...['commit-msg', 'post-commit', 'pre-rebase', 'post-checkout', 'post-merge', 'pre-push', 'pre-receive', 'update'],
  ...['proc-receive', 'post-receive', 'post-update', 'reference-transaction', 'push-to-checkout', 'pre-auto-gc'],
  ...['post-rewrite', 'sendemail-validate', 'fsmonitor-watchman', 'post-index-change'],
]

/** Settings that make git run something, each of which leaves a mark of its own. */
const PROGRAMS: Readonly<Record<string, string>> = {
  'core.fsmonitor': 'fsmonitor',
  'core.sshCommand': 'ssh',
  'core.pager': 'pager',
  'core.editor': 'editor',
  'core.askPass': 'askpass',
  'sequence.editor': 'sequence',
  'diff.external': 'external',
  'diff.x.textconv': 'textconv',
  'diff.x.command': 'driver',
  'filter.x.clean': 'clean',
  'filter.x.smudge': 'smudge',
  'merge.x.driver': 'merge',
  'credential.helper': 'credential',
  'gpg.program': 'gpg',
  'gpg.ssh.program': 'gpg-ssh',
  'alias.status': '!alias',
  'alias.st': '!alias',
  'trailer.x.command': 'trailer',
}

/** A script that makes the repository in the folder it runs in. What git is made to run leaves a file in `marks`. */
export function hostileRepository(marks: string): string {
  const leaving = (name: string): string => `touch ${marks}/${name}; cat 2>/dev/null`
  const set = (key: string, value: string): string => `git config ${key} ${quoted(value)}`
  const hook = (name: string): string => `printf '#!/bin/sh\\ntouch ${marks}/hook-${name}\\n'`
  return [
    'git init -q . && git config user.name x && git config user.email x@x',
    'mkdir -p src tests .git/other-hooks && echo one > src/a.txt && echo one > tests/a.txt && git add . && git commit -qm one',
    'echo two > tests/a.txt; echo staged > tests/staged.txt; git add tests/staged.txt; echo "* filter=x diff=x merge=x" > .gitattributes',
    `printf '[alias]\\n\\tincluded = !touch ${marks}/included\\n[core]\\n\\tpager = touch ${marks}/included-pager\\n' > "$HOME/included"`,
    ...HOOKS.map(
      (name) =>
        `${hook(name)} > .git/hooks/${name}; chmod 755 .git/hooks/${name}; cp -p .git/hooks/${name} .git/other-hooks/`,
    ),
    ...Object.entries(PROGRAMS).map(([key, name]) =>
      set(key, name.startsWith('!') ? `!${leaving(name.slice(1))}` : `sh -c '${leaving(name)}'`),
    ),
    set('core.hooksPath', '.git/other-hooks'),
    'git config include.path "$HOME/included"',
    'git config commit.gpgSign false; git config log.showSignature true; git config filter.x.required false',
  ].join('\n')
}

/** Names that are right for a file system and wrong for many programs. */
export const ODD_NAMES = `mkdir -p tests
for n in $'new\\nline' '"quoted"' "it's" '-rf' '--help' '$(touch x)' '\`id\`' 'ünïcode 名' $'tab\\there' ' ' '*' '\\back' '%s%n' "$(printf 'x%.0s' $(seq 255))"; do
  echo x > "tests/$n"
done`
