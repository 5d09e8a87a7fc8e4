import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findModuleFolders } from '../../src/checks/observed-runs/module-folders.js'
import { findStandIns } from '../../src/checks/observed-runs/stand-ins.js'
import { findCompiledTests } from '../../src/checks/test-files/test-files.js'
import { readTestSetup } from '../../src/checks/test-setup/test-setup.js'
import { NOT_THE_PROJECT, openWorkTree } from '../../src/tree/work-tree.js'
import { contractOf, phase } from '../core/world.js'

const contractWith = (run: string, env: Readonly<Record<string, string>> = {}) =>
  contractOf([phase('A')], {
    commands: new Map([['tests', { run, format: 'auto', report: null, timeoutSeconds: 60, env }]]),
  })

const hasPython = spawnSync('python3', ['-c', 'import test']).status === 0

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'phaselock-stand-ins-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function put(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
}

async function foldersOf(contract = contractWith('npm test')): Promise<readonly string[]> {
  const tree = openWorkTree(root)
  return findModuleFolders(tree, contract, await tree.list(NOT_THE_PROJECT))
}

describe('folders in which modules are searched by their bare names', () => {
  it.each([
    ['package.json', '{"scripts":{"test":"NODE_PATH=lib:./vendored/ mocha"}}', ['lib', 'vendored']],
    [
      'package.json',
      '{"jest":{"modulePaths":["<rootDir>/src"],"moduleDirectories":["node_modules","lib"]}}',
      ['src', 'lib'],
    ],
    ['packages/a/jest.config.js', "module.exports = { moduleDirectories: ['lib'] }", ['packages/a/lib']],
    ['tsconfig.json', '{"compilerOptions":{"baseUrl":"."}}', ['.']],
    ['.env', 'NODE_PATH=src/\n', ['src']],
    [
      'package.json',
      '{"jest":{"moduleDirectories":["node_modules"]},"scripts":{"test":"NODE_PATH=/usr/lib jest"}}',
      [],
    ],
  ])('[REQ-VIEW-8] %s: %s', async (path, text, expected) => {
    put({ [path]: text })
    expect([...(await foldersOf())].sort()).toEqual([...expected].sort())
  })

  it('[REQ-VIEW-8] the command of the contract and its environment count too', async () => {
    expect(await foldersOf(contractWith('NODE_PATH=$PWD/lib mocha'))).toEqual(['lib'])
    expect(await foldersOf(contractWith('mocha', { NODE_PATH: 'src:lib' }))).toEqual(['src', 'lib'])
  })

  it('[REQ-VIEW-8] an added module in them is left out if tests import its name and the name is new', async () => {
    put({
      'tests/a.test.js':
        "const { same } = require('same')\nconst assert = require('node:assert')\nrequire('words/old')\n",
    })
    const added = [
      'lib/same.js',
      'lib/assert/index.js',
      'lib/words/new.js',
      'lib/other.js',
      'deep/lib/same/index.js',
      'src/same.js',
    ]
    const found = await findStandIns({
      ...{ tree: openWorkTree(root), root, added, tests: ['tests/a.test.js'], path: '', folders: ['lib'] },
      isOld: (beginning) => 'lib/words/old.js'.startsWith(beginning),
    })
    expect(found).toEqual(['lib/same.js', 'lib/assert/index.js', 'deep/lib/same/index.js'])
  })
})

describe('modules that Python has already', () => {
  const found = (added: readonly string[], tests: readonly string[], before: readonly string[] = []) =>
    findStandIns({
      ...{ tree: openWorkTree(root), root, added, tests, path: process.env.PATH ?? '' },
      wasThere: (path) => before.includes(path),
    })

  it.skipIf(!hasPython)('[REQ-VIEW-8] an added module with such a name is left out', async () => {
    put({ 'tests/test_a.py': 'import statistics\nfrom test import support\n' })
    const added = ['statistics.py', 'test/__init__.py', 'src/statistics.py', 'other.py', 'tests/test_a.py']
    expect(await found(added, ['tests/test_a.py'])).toEqual(['statistics.py', 'src/statistics.py', 'test/__init__.py'])
  })

  it.skipIf(!hasPython)('[REQ-VIEW-8] tests of JavaScript in `test/` that import node:test stay', async () => {
    put({ 'test/sum.test.js': "import test from 'node:test'\nimport assert from 'node:assert'\n" })
    expect(await found(['test/sum.test.js', 'test/helper.js'], ['test/sum.test.js'])).toEqual([])
    put({ 'test/test_sum.py': 'from test import helper\n' })
    expect(await found(['test/test_sum.py'], ['test/test_sum.py'], ['test/__init__.py'])).toEqual([])
  })
})

describe('what a compiler made of tests', () => {
  it('[REQ-VIEW-12] is at an ignored path, with the name of a test of the project', () => {
    const paths = ['tests/a.test.ts', 'tests/helper.ts', 'src/a.ts', 'build/src/a.js']
    const made = [
      'build/tests/a.test.js',
      'build/tests/a.test.js.map',
      'build/tests/a.test.d.ts',
      'build/tests/helper.js',
    ]
    const others = ['build/tests/gone.test.js', 'other/tests/a.test.js']
    const found = findCompiledTests(contractWith('npm test'), [...paths, ...made, ...others], (path) =>
      path.startsWith('build/'),
    )
    expect([...found]).toEqual(made)
  })
})

describe('what the configuration of a runner loads into the process of the runner', () => {
  it.each([
    ['vitest.config.ts', "import { plugin } from './src/plugin.js'\nexport default { plugins: [plugin()] }\n"],
    ['jest.config.cjs', "module.exports = { transform: { '\\\\.js$': '<rootDir>/src/plugin.js' } }\n"],
    ['package.json', '{"jest":{"transform":{"\\\\.js$":"<rootDir>/src/plugin.js"}}}'],
  ])('[REQ-HARNESS-8] is held with what it imports, sources included: %s', async (path, text) => {
    put({ [path]: text, 'src/plugin.js': "import './deep.js'\n", 'src/deep.js': '', 'src/other.js': '' })
    const held = Object.keys(await readTestSetup(openWorkTree(root), contractWith('npx vitest run')))
    expect(held).toEqual(expect.arrayContaining(['src/plugin.js', 'src/deep.js']))
    expect(held).not.toContain('src/other.js')
  })

  it('[REQ-HARNESS-8] what set-up of the tests imports from the sources stays free', async () => {
    put({
      'vitest.config.ts': "export default { test: { setupFiles: ['./support/setup.ts'] } }\n",
      'support/setup.ts': "import '../src/app.js'\n",
      'src/setupTests.ts': "import './app.js'\n",
      'src/app.js': "import './more.js'\n",
      'src/more.js': '',
    })
    const held = Object.keys(await readTestSetup(openWorkTree(root), contractWith('npx vitest run')))
    expect(held).toContain('support/setup.ts')
    expect(held).not.toContain('src/more.js')
  })

  it('[REQ-HARNESS-8] hooks of the loader that the command preloads are held', async () => {
    put({
      'src/register.js': "import { register } from 'node:module'\nregister('./hooks.js', import.meta.url)\n",
      'src/hooks.js': '',
    })
    const held = Object.keys(
      await readTestSetup(openWorkTree(root), contractWith('node --import ./src/register.js --test tests/')),
    )
    expect(held).toEqual(expect.arrayContaining(['src/register.js', 'src/hooks.js']))
  })
})
