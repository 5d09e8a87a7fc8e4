import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { type Survey, surveyFolder } from '../../src/cli/init/survey.js'
import { findTestPatterns } from '../../src/cli/init/test-patterns.js'
import { buildHostView } from '../../src/confinement/view/host-view.js'
import { loadContractText } from '../../src/contract/load/load-contract.js'

const root = mkdtempSync(join(tmpdir(), 'phaselock-survey-'))
// Package managers that somebody has elsewhere would change what is found.
const PATH_BEFORE = process.env.PATH
const PATH = [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter)
process.env.PATH = PATH
afterAll(() => {
  process.env.PATH = PATH_BEFORE
  rmSync(root, { recursive: true, force: true })
})

type Files = Readonly<Record<string, string>>
let made = 0

function folder(files: Files): string {
  made += 1
  const dir = join(root, `project-${made}`)
  for (const [file, text] of Object.entries({ ...files })) {
    mkdirSync(join(dir, dirname(file)), { recursive: true })
    writeFileSync(join(dir, file), text)
  }
  return dir
}

const survey = (files: Files, language?: string): Survey => surveyFolder(folder(files), language)
const npm = (fields: object): string => JSON.stringify(fields)

const COMMANDS: readonly (readonly [name: string, files: Files, command: string | null, reason: RegExp])[] = [
  ['pnpm', { 'package.json': npm({ scripts: { test: 'vitest' } }), 'pnpm-lock.yaml': '' }, 'pnpm test', /pnpm-lock/],
  [
    'a typecheck of vitest beside a linter',
    {
      'package.json': npm({ scripts: { test: 'pnpm lint && vitest run --typecheck', lint: 'eslint .' } }),
      'pnpm-lock.yaml': '',
    },
    'pnpm exec vitest run --typecheck',
    /scripts\.test without `pnpm lint`/,
  ],
  ['yarn', { 'package.json': npm({ scripts: { test: 'jest' } }), 'yarn.lock': '' }, 'yarn test', /yarn\.lock/],
  ['bun', { 'package.json': npm({ scripts: { test: 'jest' } }), 'bun.lockb': '' }, 'bun run test', /bun\.lockb/],
  ['a field', { 'package.json': npm({ scripts: { test: 'x' }, packageManager: 'pnpm@9' }) }, 'pnpm test', /pnpm@9/],
  [
    'npm workspaces',
    { 'package.json': npm({ workspaces: ['a'] }) },
    'npm test --workspaces --if-present',
    /workspaces/,
  ],
  [
    'pnpm workspaces',
    { 'package.json': '{}', 'pnpm-lock.yaml': '', 'pnpm-workspace.yaml': '' },
    'pnpm -r test',
    /work/,
  ],
  [
    'vitest',
    { 'package.json': npm({ devDependencies: { vitest: '4' } }) },
    'npx vitest run',
    /vitest among its packages/,
  ],
  [
    'node:test',
    { 'package.json': '{}', 'test.js': "import test from 'node:test'\n" },
    'node --test',
    /test\.js imports node:test/,
  ],
  ['uv', { 'pyproject.toml': 'pytest', 'uv.lock': '' }, 'uv run --offline python -m pytest', /uv\.lock/],
  ['poetry', { 'pyproject.toml': 'pytest', 'poetry.lock': '' }, 'poetry run python -m pytest', /poetry\.lock/],
  ['tox', { 'tox.ini': '[testenv]\ncommands = pytest\n' }, 'python3 -m pytest', /pytest, from tox\.ini/],
  ['nox', { 'noxfile.py': 'session.run("pytest")\n' }, 'python3 -m pytest', /noxfile\.py/],
  [
    'an import',
    { 'setup.py': '', 'tests/test_a.py': 'import pytest\n' },
    'python3 -m pytest',
    /tests\/test_a\.py imports/,
  ],
  [
    'unittest in a plain folder',
    { 'setup.py': '', 'tests/test_a.py': 'import unittest\n' },
    'python3 -m unittest discover -v -s tests',
    /setup\.py/,
  ],
  [
    'a Go workspace',
    { 'go.work': 'go 1.22\nuse (\n\t./a\n\t./b // two\n)\n' },
    'go test -json ./a/... ./b/...',
    /modules/,
  ],
  [
    'a Cargo workspace',
    { 'Cargo.toml': '[workspace]\nmembers = ["a"]\n' },
    'cargo test --workspace --no-fail-fast',
    /workspace/,
  ],
  [
    'Maven modules',
    { 'pom.xml': '<modules><module>core</module></modules>', mvnw: '' },
    './mvnw -B -o -fae test',
    /modules core/,
  ],
  [
    'Gradle modules',
    { 'settings.gradle': 'include(":app", ":lib")', gradlew: '' },
    './gradlew --offline --no-daemon --continue test',
    /:app :lib/,
  ],
  [
    'rspec',
    { Gemfile: 'gem "rspec"\n' },
    'bundle exec rspec --format progress --format json --out rspec-report.json',
    /Gemfile/,
  ],
  ['a Makefile', { Makefile: 'test: all\n\t./run\n' }, 'make test', /Makefile with the target test/],
  ['nothing', { 'README.md': '' }, null, /^$/],
]

test.each(COMMANDS)('[REQ-INIT-2] %s: the command and what it was read from', (_, files, command, reason) => {
  const found = survey(files)
  expect(found.testCommand).toBe(command)
  expect(found.reason).toMatch(reason)
})

test('[REQ-INIT-2] the files of the repository decide between two build systems, unless a person chooses', () => {
  const stray = { 'package.json': npm({ devDependencies: { prettier: '3' } }), 'pyproject.toml': 'pytest' }
  expect(survey(stray)).toMatchObject({ language: 'Python', others: [{ language: 'JavaScript', testCommand: null }] })
  const both = { 'package.json': npm({ scripts: { test: 'vitest' } }), 'pyproject.toml': 'pytest' }
  expect(survey(both).language).toBe('Python')
  const web = { ...both, 'src/a.test.js': '', 'src/a.js': '' }
  expect(survey(web)).toMatchObject({ language: 'JavaScript', others: [{ language: 'Python' }] })
  expect(survey(web, 'python')).toMatchObject({
    testCommand: 'python3 -m pytest',
    others: [{ language: 'JavaScript' }],
  })
})

test('[REQ-INIT-3] a composite npm test is taken apart into tests, builds and linters', () => {
  const scripts = { test: 'npm run build && eslint . && mocha test', build: 'tsc -p .', lint: 'eslint .' }
  expect(survey({ 'package.json': npm({ scripts }) })).toMatchObject({
    testCommand: 'npx mocha test',
    builds: [{ name: 'build', run: 'npm run build' }],
    lints: [{ name: 'lint', run: 'npx eslint .' }],
  })
  const before = { pretest: 'npm run lint', lint: 'biome check', test: 'NODE_ENV=test vitest run' }
  expect(survey({ 'package.json': npm({ scripts: before }), 'pnpm-lock.yaml': '' })).toMatchObject({
    testCommand: 'NODE_ENV=test pnpm exec vitest run',
    lints: [{ name: 'lint', run: 'npm run lint' }],
  })
  const ava = { scripts: { test: 'xo && ava && tsd' } }
  expect(survey({ 'package.json': npm(ava) })).toMatchObject({
    testCommand: 'npx ava --tap',
    lints: [{ run: 'npx xo' }, { run: 'npx tsd' }],
  })
  for (const test of ['ava', 'ava --serial'])
    expect(survey({ 'package.json': npm({ scripts: { test } }) })).toMatchObject({
      testCommand: `npx ${test.replace('ava', 'ava --tap')}`,
    })
  for (const test of ['mocha; eslint .', 'build && (mocha || true)', 'cd web && mocha', 'eslint . && ./run-tests'])
    expect(survey({ 'package.json': npm({ scripts: { test } }) }), test).toMatchObject({
      ...{ testCommand: 'npm test', builds: [], lints: [] },
    })
})

test('[REQ-INIT-5] manifests that cannot be read are named with the reason', () => {
  expect(survey({ 'package.json': '{"scripts":' })).toMatchObject({
    testCommand: null,
    problem: expect.stringMatching(/^package\.json is not valid JSON \(/),
  })
  expect(survey({ 'package.json': '[]' }).problem).toBe('package.json does not hold an object')
  const dir = folder({ 'pyproject.toml': '' })
  writeFileSync(join(dir, 'pyproject.toml'), Buffer.from([0xff, 0xfe, 0x00]))
  expect(surveyFolder(dir).problem).toBe('pyproject.toml cannot be read (it is not UTF-8 text)')
})

test('[REQ-INIT-4] test patterns come from the tracked test files and what the run reports', () => {
  const patternsOf = (files: readonly string[], language = 'JavaScript', reported: readonly string[] = []) => {
    const dir = folder(Object.fromEntries([...files, 'package.json'].map((file) => [file, '{}'])))
    execFileSync('git', ['init', '-q', dir])
    execFileSync('git', ['-C', dir, 'add', '.'])
    const found = surveyFolder(dir)
    const tests = reported.map((file) => ({ id: file, status: 'passed' as const, file, message: null }))
    const run = { tests } as unknown as Parameters<typeof findTestPatterns>[1]['run']
    return findTestPatterns(language, { ...found, run })
  }
  const usual = ['**/*.test.*', '**/*.spec.*', '**/__tests__/**']
  expect(patternsOf(['src/a.test.js'])).toEqual(usual)
  expect(patternsOf(['test.js', 'index.js'])).toEqual([...usual, 'test.js'])
  expect(patternsOf(['tests.js', 'packages/a/test/b.js'])).toEqual([...usual, '**/test/**', 'tests.js'])
  const namedAs = (...paths: readonly string[]) => patternsOf(paths, 'JavaScript', paths).slice(usual.length)
  expect(namedAs('src/add/test.js', 'src/sub/test.js')).toEqual(['src/*/test.js'])
  expect(namedAs('src/add/test.js', 'src/fp/sub/test.js')).toEqual(['src/**/test.js'])
  expect(namedAs('lib/cart-test.js')).toEqual(['lib/*-test.js'])
  expect(namedAs('a/cart_tests.js', 'b/c/sum_tests.js')).toEqual(['**/*_tests.js'])
  expect(namedAs('checks/test-cart.js', 'checks/test-sum.js')).toEqual(['checks/test-*.js'])
  expect(namedAs('lib/CartTest.js')).toEqual(['lib/*Test.js'])
  expect(namedAs('lib/fastest.js', 'lib/contests.js')).toEqual(['lib/fastest.js', 'lib/contests.js'])
  expect(patternsOf(['index.js']), 'no tests yet').toEqual([...usual, 'test/**', 'tests/**'])
  expect(patternsOf(['checks/a.js'], 'JavaScript', ['checks/a.js', '../out.js'])).toEqual([...usual, 'checks/a.js'])
})

test('[REQ-INIT-4] @tests in a phase stands for tests.patterns', async () => {
  const text = `name: x
version: "1"
tests: {patterns: [tests.js, "checks/**"]}
phases:
  - id: A
    allowed_tools: [write_files]
    tool_constraints: {write_files: {allowed_patterns: ["@tests", "doc/**"], forbidden_patterns: ["@tests"]}}
  - id: B
    allowed_tools: [write_files]
    writable: ["@tests"]
transitions: [{from: A, to: B}]
`
  const loaded = await loadContractText(text, { file: 'x.yaml', baseDir: null })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.diagnostics))
  expect(loaded.contract.phases.get('A')?.constraints.get('write_files')).toMatchObject({
    allowedPatterns: ['tests.js', 'checks/**', 'doc/**'],
    forbiddenPatterns: ['tests.js', 'checks/**'],
  })
  expect(loaded.contract.phases.get('B')?.writable).toEqual(['tests.js', 'checks/**'])
})

test.for([
  ['pnpm', 'pnpm-lock.yaml', 'pnpm exec', 'pnpm install --frozen-lockfile'],
  ['yarn', 'yarn.lock', 'yarn run', 'yarn install'],
] as const)(
  '[REQ-INIT-2] npm runs the scripts where commands do not see %s',
  ([program, lock, exec, install], { skip }) => {
    const folders = buildHostView().path.split(delimiter)
    // What is in the system's own folders cannot be hidden.
    if (folders.some((seen) => existsSync(join(seen, program)))) skip(`commands see ${program} on this machine`)
    const programs = folder({ [program]: '#!/bin/sh\n' })
    chmodSync(join(programs, program), 0o755)
    process.env.PATH = `${programs}:${PATH}`
    onTestFinished(() => {
      process.env.PATH = PATH
    })
    const scripts = { test: `${program} run lint && ${exec} vitest run`, lint: 'eslint .' }
    const found = survey({ 'package.json': npm({ scripts }), [lock]: '' })
    expect(found).toMatchObject({ testCommand: 'npx vitest run', lints: [{ run: 'npm run lint' }], install })
    expect(found.reason).toContain(`${lock} with npm, because commands do not see ${program}`)
  },
)
