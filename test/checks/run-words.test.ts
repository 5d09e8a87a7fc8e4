import { describe, expect, it } from 'vitest'
import { runWordsOf } from '../../src/checks/test-setup/command-lines.js'
import { findReachedScripts } from '../../src/checks/test-setup/command-words.js'
import { listLoaded } from '../../src/checks/test-setup/loaded-files.js'

describe('what a command line runs', () => {
  it.each([
    ['./scripts/check.sh src/a.js', ['./scripts/check.sh']],
    ['node --enable-source-maps tools/lint.mjs src', ['node', 'tools/lint.mjs']],
    ['A=1 B="x y" timeout 20 python3 ci/check.py data.json', ['python3', 'ci/check.py']],
    ['cd web && ./check.sh; bash other.sh | tee log.txt', ['cd', 'web', './check.sh', 'bash', 'other.sh', 'tee']],
    ['npx eslint --config conf/eslint.js src/a.js', ['eslint', 'conf/eslint.js']],
    ['eslint -c conf/a.js src', ['eslint', 'conf/a.js']],
    ['test -f ready', ['test']],
    ['[ -f ready ] && grep -f words notes.txt', ['grep']],
    ['prettier --check README.md', ['prettier']],
    ['uv run python -W ignore ci/check.py x', ['uv', 'python', 'ignore', 'ci/check.py']],
    ['pnpm exec eslint src', ['pnpm', 'eslint']],
    ['pnpm exec tsx scripts/x.ts src/a.ts', ['pnpm', 'tsx', 'scripts/x.ts']],
    ['node --import ./hooks.mjs tools/x.mjs', ['node', './hooks.mjs', 'tools/x.mjs']],
    ['make -f ci/Makefile lint', ['make', 'ci/Makefile']],
  ])('[REQ-PIN-1] %s', (line, words) => {
    expect(runWordsOf(line).map((one) => one.text)).toEqual(words)
  })

  it('[REQ-PIN-1] of code in the line itself every word counts', () => {
    const words = runWordsOf(`node -e "require('./ci/check')"; bash -c './x.sh a'`).map((one) => one.text)
    expect(words).toEqual(expect.arrayContaining(['./ci/check', './x.sh']))
  })
})

it('[REQ-PIN-1] scripts of package.json are reached by name, by prefix and by globs of runners', () => {
  const scripts = new Map([
    ['check', 'run-s lint:* && concurrently "npm:type:*"'],
    ['lint:js', 'eslint .'],
    ['type:src', 'tsc'],
    ['prelint:js', 'node x.mjs'],
    ['start', 'node .'],
  ])
  expect([...findReachedScripts('npm run check', scripts)].sort()).toEqual([
    'check',
    'lint:js',
    'prelint:js',
    'type:src',
  ])
})

describe('what a script loads', () => {
  it.each([
    ['scripts/a.mjs', "import './lib/run.mjs'", 'scripts/lib/run.mjs'],
    ['scripts/a.ts', "import { x } from './run.js'", 'scripts/run.ts'],
    ['scripts/a.cjs', "require('./run')", 'scripts/run.cjs'],
    ['scripts/a.mjs', 'await import(`../tools/run.mjs`)', 'tools/run.mjs'],
    ['scripts/a.mjs', "spawnSync('bash', ['scripts/b.sh'])", 'scripts/b.sh'],
    ['scripts/a.sh', '. "$(dirname "$0")/lib.sh"', 'scripts/lib.sh'],
    ['scripts/a.sh', 'bash "$HERE/b/c.sh" x', 'scripts/b/c.sh'],
    ['ci/a.py', 'from helpers.run import go', 'ci/helpers/run.py'],
    ['ci/a.py', 'import os, checks', 'ci/checks.py'],
    ['check.sh', './common.sh', 'common.sh'],
    ['Makefile', 'lint:\n\t./etc/lint.sh src\n', 'etc/lint.sh'],
    ['Makefile', 'lint:\n\tnode tools/lint.mjs src\n', 'tools/lint.mjs'],
    ['tools/a.mjs', "import config from '../vite.config.mjs'", 'vite.config.mjs'],
  ])('[REQ-PIN-1] %s with %s loads %s', (path, text, loaded) => {
    expect(listLoaded(path, text)).toContain(loaded)
  })

  it.each([
    ['scripts/a.mjs', "import { x } from '../src/x.mjs'", 'src/x.mjs'],
    ['scripts/a.mjs', "import { x } from '../packages/core/index.js'", 'packages/core/index.js'],
    ['test.mjs', "import { x } from './index.js'", 'index.js'],
    ['scripts/a.mjs', "run('tests/add.test.mjs')", 'tests/add.test.mjs'],
    ['scripts/a.mjs', "readFileSync('package.json')", 'package.json'],
    ['scripts/a.mjs', "import '../../outside.mjs'", '../outside.mjs'],
  ])('[REQ-PIN-2] %s with %s does not pin %s', (path, text, free) => {
    expect(listLoaded(path, text)).not.toContain(free)
  })
})
