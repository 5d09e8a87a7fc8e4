import { describe, expect, it } from 'vitest'
import { describeCall, readPath } from '../../src/tools/describe-call.js'
import { readShell } from '../../src/tools/read-shell.js'
import { contractOf, phase } from '../core/world.js'

const words = (line: string) =>
  readShell(line)
    .commands.filter((one) => !one.isWrapper)
    .map((one) => one.words.map((word) => word ?? '?').join(' '))

describe('reading a shell line', () => {
  it.each([
    ['npm test', ['npm test']],
    ['a && b || c; d & e | f', ['a', 'b', 'c', 'd', 'e', 'f']],
    ['echo $(curl x) `wget y`', ['echo ? ?', 'curl x', 'wget y']],
    ['echo "a $(git push) b"', ['echo ?', 'git push']],
    ['X=$(git log) true', ['true', 'git log']],
    ['cat <<EOF\n$(rm -rf x)\nEOF', ['cat', 'rm -rf x']],
    ['if a; then b; elif c; then d; else e; fi', ['a', 'b', 'c', 'd', 'e']],
    ['for i in 1 2; do git add $i; done', ['git add ?']],
    ['while a; do b; done', ['a', 'b']],
    ['case x in y) git push;; esac', ['git push']],
    ['f() { git push; }; f', ['git push', 'f']],
    ['(cd x; git push)', ['cd x', 'git push']],
    ['diff <(git show a) <(git show b)', ['diff ? ?', 'git show a', 'git show b']],
    ['"g"it push', ['git push']],
    ['g\\it push', ['git push']],
    ["$'git' push", ['git push']],
    ['$X push', ['? push']],
    ['git{,x} push', ['? push']],
    ['env A=1 git push', ['git push']],
    ['env -u A -i git push', ['git push']],
    ['env -S "git push"', ['?']],
    ['bash -c "git push && ls"', ['git push', 'ls']],
    ['sh -ec "git push"', ['git push']],
    ['bash -c "$X"', ['?']],
    ['bash script.sh', ['bash script.sh']],
    ['eval git push', ['git push']],
    ['eval "$X"', ['?']],
    ['timeout 5 git push', ['git push']],
    ['timeout -s KILL 5 git push', ['git push']],
    ['nice -n 5 nohup setsid git push', ['git push']],
    ['sudo -u root git push', ['git push']],
    ['find . -name x | xargs -n 1 git add', ['find . -name x', 'git add']],
    ['find . -exec git add {} \\;', ['find . -exec git add {} ;', 'git add {}']],
    ['time git push', ['git push']],
    ['! git push', ['git push']],
    ['git push > $(rm x)', ['git push', 'rm x']],
    ['bash -c -- "git push"', ['git push']],
    ['echo git status | sh', ['echo git status', '?']],
    ['bash -s', ['?']],
    ['trap "git push" EXIT', ['git push']],
    ['watch -n1 "git push"', ['git push']],
    ['flock x git push', ['git push']],
    ['sudo -i', ['sudo -i']],
    ['env', ['env']],
    ['xargs', ['xargs']],
    ['CI=1 npm test', ['npm test']],
    ['A=1', []],
    ['', []],
  ])('[REQ-TOOL-8] every simple command of %j is found', (line, expected) => {
    expect(readShell(line).problem).toBeNull()
    expect(words(line).sort()).toEqual([...expected].sort())
  })

  it.each(['sudo --user alice git push', 'stdbuf --output L git push', 'env --chdir x git push'])(
    '[REQ-TOOL-8] a command behind an option that nobody knows is seen in %j',
    (line) => {
      expect(readShell(line).commands.some((one) => one.words[0] === 'git')).toBe(true)
    },
  )

  it.each([
    'PATH=./evil:$PATH npm test',
    'NODE_OPTIONS="--require ./evil.js" npm test',
    'LD_PRELOAD=./x npm test',
    'BASH_ENV=x npm test',
    'PATH=x',
  ])('[REQ-TOOL-8] %j changes what runs and is not taken for what it says', (line) => {
    expect(readShell(line).problem).toContain('changes what runs')
  })

  it.each(['if true; then', 'echo "open', 'a &&', '(a', 'a\0b', 'x'.repeat(100_001), `${'bash -c "'.repeat(3)}`])(
    '[REQ-TOOL-8] %j cannot be read and says why',
    (line) => {
      expect(readShell(line).problem).not.toBeNull()
    },
  )

  it('[REQ-TOOL-8] shells in shells are read to a bound, and then refused', () => {
    let line = 'git push'
    for (let i = 0; i < 12; i += 1) line = `bash -c ${JSON.stringify(line)}`
    const { problem, commands } = readShell(line)
    expect(problem !== null || commands.some((one) => one.words[0] === 'git')).toBe(true)
  })
})

describe('reading paths', () => {
  it.each(['', '/etc/passwd', '../x', 'a/../../x', 'a\0b', 'a\\b', 'C:/x', 'x'.repeat(5000)])(
    '[REQ-TOOL-4] %j is no path inside the tree',
    (path) => {
      expect(readPath(path).problem).not.toBeNull()
    },
  )

  it.each([
    ['a/./b//c', 'a/b/c'],
    ['a/../b', 'b'],
    ['.', '.'],
    ['a/', 'a'],
    ['..a/b', '..a/b'],
  ])('[REQ-TOOL-4] %j is read as %j', (path, expected) => {
    expect(readPath(path)).toEqual({ path: expected, problem: null })
  })
})

describe('arguments', () => {
  const contract = contractOf([phase('A')])
  const problems = (tool: string, args: Record<string, never> | Record<string, unknown>) =>
    describeCall(contract, tool, args as never).argProblems

  it.each([
    ['read_files', {}],
    ['read_files', { path: 'a', paths: ['b'] }],
    ['read_files', { path: 1 }],
    ['read_files', { path: 'a', limit: -1 }],
    ['read_files', { path: 'a', limit: 1.5 }],
    ['read_files', { path: 'a', nope: 1 }],
    ['read_files', { paths: [] }],
    ['write_files', { path: 'a' }],
    ['write_files', { path: 'a', content: 'b', mode: 'x' }],
    ['write_files', { files: [{ path: 'a' }] }],
    ['write_files', { files: [{ path: 'a', content: 'b', mode: 'x' }] }],
    ['edit_files', { path: 'a', edits: [] }],
    ['edit_files', { path: 'a', edits: [{ old: 'x' }] }],
    ['bash', { command: ['ls'] }],
    ['bash', {}],
    ['git_status', { x: 1 }],
  ])('[REQ-TOOL-3] %s with %j is told', (tool, args) => {
    expect(problems(tool, args)).not.toEqual([])
  })

  it.each([
    ['read_files', { path: 'a', offset: 0, limit: 10 }],
    ['read_files', { paths: ['a', 'b'] }],
    ['write_files', { path: 'a', content: '', mode: 'a' }],
    ['write_files', { files: [{ path: 'a', content: 'x' }] }],
    ['edit_files', { path: 'a', edits: [{ old: 'x', new: 'y', replace_all: true }] }],
    ['bash', { command: 'ls', timeout: 5, cwd: 'src' }],
    ['git_status', {}],
  ])('[REQ-TOOL-3] %s with %j fits', (tool, args) => {
    expect(problems(tool, args)).toEqual([])
  })

  it('[REQ-TOOL-5] every path of a call is seen, also those in lists, and a glob that leaves the tree', () => {
    const paths = (tool: string, args: unknown) =>
      describeCall(contract, tool, args as never).paths.map((one) => one.path)
    expect(
      paths('write_files', {
        files: [
          { path: 'a', content: '' },
          { path: 'b/../c', content: '' },
        ],
      }),
    ).toEqual(['a', 'c'])
    expect(paths('read_files', { paths: ['x', 'y'] })).toEqual(['x', 'y'])
    expect(describeCall(contract, 'bash', { command: 'ls', cwd: '../..' }).paths[0]?.problem).not.toBeNull()
    expect(describeCall(contract, 'glob', { pattern: '../**' }).paths[0]?.problem).not.toBeNull()
  })
})
