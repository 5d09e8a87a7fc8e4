import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CheckInputs } from '../../src/checks/check-inputs.js'
import { runCheck } from '../../src/checks/run-check.js'
import { isPartOfSetup, listSetupChanges } from '../../src/checks/test-setup/setup-changes.js'
import { readTestSetup } from '../../src/checks/test-setup/test-setup.js'
import type { Contract } from '../../src/core/contract/contract.js'
import type { PinnedHarness, PinnedRun } from '../../src/core/evidence/observed-run.js'
import { openWorkTree } from '../../src/tree/work-tree.js'
import { contractOf, phase } from '../core/world.js'

const PACKAGE = {
  name: 'adder',
  version: '1.0.0',
  scripts: { test: 'npm run unit', unit: 'node tools/run.mjs', start: 'node src/server.js' },
  dependencies: {},
}
const TESTS = ['tests/add.test.mjs', 'packages/a/tests/a.test.js']
const FILES: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify(PACKAGE),
  'packages/a/package.json': JSON.stringify({ name: 'a', scripts: { test: 'mocha' } }),
  'tools/run.mjs': 'run()',
  'src/server.js': 'serve()',
  'src/add.mjs': 'export {}',
  'vitest.config.ts': "export default { test: { setupFiles: ['./support/setup.ts'] } }",
  'support/setup.ts': 'setUp()',
  'tsconfig.json': JSON.stringify({ compilerOptions: { strict: true, paths: {} } }),
  'packages/a/tsconfig.json':
    '{ /* comments */ "extends": ["../../configs/base.json", "../../configs/more", "../../configs", "."] }',
  'configs/base.json': JSON.stringify({ extends: './deep.json', compilerOptions: { strict: true } }),
  'configs/more.json': '{}',
  'configs/deep.json': '{}',
  'pyproject.toml':
    '[project]\nname = "x"\nversion = "1"\n\n[tool.pytest.ini_options]\naddopts = "-q"\n\n[tool.ruff]\nline-length = 100\n',
  'Cargo.toml':
    '[package]\nname = "x"\nversion = "1.0.0"\n\n[dependencies]\nserde = "1"\n\n[lib]\npath = "src/lib.rs"\n',
  'go.mod': 'module x\n\ngo 1.22\n\nrequire (\n\ta v1\n)\n',
  'pytest.ini': '[pytest]\n',
  Makefile: 'all:\n',
  'tests/add.test.mjs': 'test()',
  'packages/a/tests/a.test.js': 'test()',
}

const command = (run: string, env = {}) => ({ run, format: 'auto', report: null, timeoutSeconds: 60, env })
const contractWith = (run: string, env = {}): Contract => ({
  ...contractOf([phase('A')]),
  commands: new Map([['tests', command(run, env)]]),
})

describe('the files that decide how tests are run', () => {
  let root: string
  let contract: Contract
  let before: PinnedHarness
  const put = (path: string, content: string) => {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  const look = () => readTestSetup(openWorkTree(root), contract)
  const changes = async () =>
    listSetupChanges(before, await readTestSetup(openWorkTree(root), contract, Object.keys(before)), (path, parts) =>
      isPartOfSetup(path, TESTS, parts),
    ).map(({ text }) => `${text} since the RED run`)

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'phaselock-harness-'))
    contract = contractWith('npm test')
    for (const [path, content] of Object.entries(FILES)) put(path, content)
    before = await look()
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))

  const pkg = (about: object) => JSON.stringify({ ...PACKAGE, ...about })
  it.each([
    ['package.json', pkg({ scripts: { ...PACKAGE.scripts, test: 'true' } }), 'package.json (scripts.test) changed'],
    ['package.json', pkg({ imports: { '#x': './y.js' } }), 'package.json (imports) was added'],
    ['package.json', pkg({ exports: './a.js' }), 'package.json (exports) was added'],
    ['postcss.config.js', 'export default {}', 'postcss.config.js was added'],
    ['.postcssrc', '{}', '.postcssrc was added'],
    [
      'tsconfig.json',
      '{"compilerOptions":{"strict":true,"paths":{},"emitDeclarationOnly":true}}',
      'tsconfig.json (compilerOptions.emitDeclarationOnly) was added',
    ],
    [
      'package.json',
      pkg({ scripts: { ...PACKAGE.scripts, pretest: 'x' } }),
      'package.json (scripts.pretest) was added',
    ],
    ['package.json', pkg({ scripts: {} }), 'package.json (scripts.test) was removed'],
    ['package.json', pkg({ name: 'chai' }), 'package.json (name) changed'],
    ['package.json', pkg({ jest: {} }), 'package.json (jest) was added'],
    ['package.json', pkg({ scripts: 'x' }), 'package.json (scripts) was added'],
    ['package.json', `${JSON.stringify(PACKAGE)}}`, 'package.json changed'],
    [
      'packages/a/package.json',
      '{"name":"a","scripts":{"test":"true"}}',
      'packages/a/package.json (scripts.test) changed',
    ],
    ['tests/package.json', '{"name":"chai"}', 'tests/package.json was added'],
    ['tools/run.mjs', 'process.exit(0)', 'tools/run.mjs changed'],
    ['vitest.config.ts', 'export default {}', 'vitest.config.ts changed'],
    ['src/deep/vitest.config.mts', 'export default {}', 'src/deep/vitest.config.mts was added'],
    ['vite.config.js', 'export default {}', 'vite.config.js was added'],
    ['.mocharc.yml', 'x: 1', '.mocharc.yml was added'],
    ['.npmrc', 'script-shell=/bin/true', '.npmrc was added'],
    ['.pnp.cjs', 'x', '.pnp.cjs was added'],
    ['.yarn/releases/yarn.cjs', 'x', '.yarn/releases/yarn.cjs was added'],
    ['support/setup.ts', 'other()', 'support/setup.ts changed'],
    [
      'tsconfig.json',
      '{"compilerOptions":{"paths":{"chai":["./x"]}}}',
      'tsconfig.json (compilerOptions.paths) changed',
    ],
    ['tsconfig.json', '{"extends":"./x","compilerOptions":{"paths":{}}}', 'tsconfig.json (extends) was added'],
    ['configs/base.json', '{"compilerOptions":{"strict":true}}', 'configs/base.json (extends) was removed'],
    [
      'configs/more.json',
      '{"compilerOptions":{"baseUrl":"x"}}',
      'configs/more.json (compilerOptions.baseUrl) was added',
    ],
    ['configs/deep.json', '{"compilerOptions":{"paths":{}}}', 'configs/deep.json (compilerOptions.paths) was added'],
    ['src/__mocks__/chai.js', 'x', 'src/__mocks__/chai.js was added'],
    ['x.egg-info/entry_points.txt', '[pytest11]\nx = x', 'x.egg-info/entry_points.txt was added'],
    ['src/x-1.dist-info/entry_points.txt', 'x', 'src/x-1.dist-info/entry_points.txt was added'],
    ['spec/support/jasmine.mjs', 'x', 'spec/support/jasmine.mjs was added'],
    ['.testcaferc.json', '{}', '.testcaferc.json was added'],
    ['test/mocha.opts', '--require x', 'test/mocha.opts was added'],
    ['tests/conftest.py', 'x', 'tests/conftest.py was added'],
    ['sitecustomize.py', 'x', 'sitecustomize.py was added'],
    ['pytest.py', 'x', 'pytest.py was added'],
    ['unittest/__init__.py', 'x', 'unittest/__init__.py was added'],
    ['tox.ini', 'x', 'tox.ini was added'],
    ['build.rs', 'x', 'build.rs was added'],
    ['.cargo/config.toml', 'x', '.cargo/config.toml was added'],
    ['go.mod', `${FILES['go.mod']}replace a => ./fake\n`, 'go.mod (everything but require) changed'],
    ['Cargo.toml', `${FILES['Cargo.toml']}harness = false\n`, 'Cargo.toml ([lib]) changed'],
    ['Cargo.toml', `${FILES['Cargo.toml']}[patch.crates-io]\nx = 1\n`, 'Cargo.toml ([patch.crates-io]) was added'],
    [
      'Cargo.toml',
      String(FILES['Cargo.toml']).replace('name = "x"', 'autotests = false'),
      'Cargo.toml ([package]) changed',
    ],
  ])('[REQ-HARNESS-1] %s as %j is told: %s', async (path, content, told) => {
    put(path, content)
    expect(await changes()).toContainEqual(`${told} since the RED run`)
  })

  const toml = String(FILES['pyproject.toml'])
  it.each([
    ['another option', toml.replace('"-q"', '"-p evil"'), '[tool.pytest.ini_options]'],
    ['a table without options', toml.replace('addopts = "-q"\n', ''), '[tool.pytest.ini_options]'],
    ['a quoted table', `${toml}[tool."pytest".x]\na = 1\n`, '[tool."pytest".x]'],
    [
      'a script that poetry runs by name',
      `${toml}[tool.poetry.scripts]\npython = "evil:main"\n`,
      '[tool.poetry.scripts]',
    ],
    ['the same in one line', `${toml}[tool.poetry]\nscripts = { python = "evil:main" }\n`, '[tool.poetry]'],
    ['coverage', `${toml}[tool.coverage.run]\nomit = 1\n`, '[tool.coverage.run]'],
    ['keys above all tables', `tool.pytest.ini_options.addopts = "-p evil"\n${toml}`, null],
    ['a table in one line', `${toml}[tool]\npytest = {}\n`, '[tool]'],
    ['a table in a text of several lines', toml.replace('version = "1"', 'version = """').concat('"""'), null],
    ['entry points', toml.replace('version = "1"', 'entry-points = {}'), '[project]'],
    ['a lone carriage return', toml.replace('version = "1"', 'version = "1" #\r[tool.pytest]'), null],
  ])('[REQ-HARNESS-1] pyproject.toml with %s is told', async (_name, content, table) => {
    put('pyproject.toml', content)
    const told = await changes()
    expect(told).toHaveLength(1)
    expect(told[0]).toContain(table === null ? 'pyproject.toml' : `pyproject.toml (${table})`)
  })

  it('[REQ-HARNESS-1] a file that was deleted or became a link is reported', async () => {
    rmSync(join(root, 'tools/run.mjs'))
    rmSync(join(root, 'pytest.ini'))
    symlinkSync('src/server.js', join(root, 'pytest.ini'))
    expect(await changes()).toEqual([
      'pytest.ini changed since the RED run',
      'tools/run.mjs was removed since the RED run',
    ])
  })

  it.each([
    ['node tools/run.mjs', 'tools/run.mjs'],
    ['node ./tools/run.mjs && true', 'tools/run.mjs'],
    ['node tools/run', 'tools/run.mjs'],
    ["bash -c 'cd tools; node run.mjs'", 'tools/run.mjs'],
    ['node --import=./support/setup.ts --test', 'support/setup.ts'],
    ['make check', 'Makefile'],
  ])('[REQ-HARNESS-2] what the command %j names is held', async (run, path) => {
    contract = contractWith(run)
    expect(Object.keys(await look())).toContain(path)
  })

  it('[REQ-HARNESS-2] files named by the environment of the command are pinned', async () => {
    contract = contractWith('node --test', { NODE_OPTIONS: '--import ./support/setup.ts' })
    expect(Object.keys(await look())).toContain('support/setup.ts')
  })

  it('[REQ-HARNESS-2] a file that a command reaches through a link is not recorded but refused', async () => {
    symlinkSync('tools', join(root, 'linked'))
    contract = contractWith('node linked/run.mjs')
    await expect(look()).rejects.toThrow(/linked in its path is a link/)
  })

  it('[REQ-HARNESS-3] files that an implementation may change are not pinned', async () => {
    put('package.json', pkg({ version: '2.0.0', dependencies: { x: '1' }, bin: 'x', type: 'module' }))
    put('tsconfig.json', '{"compilerOptions":{"strict":false,"paths":{},"lib":["es2023"]}}')
    put('configs/base.json', '{"extends":"./deep.json","compilerOptions":{"strict":false}}')
    put('pyproject.toml', toml.replace('version = "1"', 'version = "2"\ndependencies = ["x"]').replace('100', '120'))
    put(
      'Cargo.toml',
      String(FILES['Cargo.toml']).replace('serde = "1"', 'serde = "2"\nrand = "1"').replace('1.0.0', '1.1.0'),
    )
    put('go.mod', String(FILES['go.mod']).replace('\ta v1', '\ta v2\n\tb v1'))
    put('Makefile', 'other:\n')
    put('src/server.js', 'other()')
    put('src/add.mjs', 'other')
    put('packages/new/package.json', '{"name":"new","scripts":{"test":"x"}}')
    put('app/deep/unittest.py', 'x')
    put('node_modules/x/package.json', '{"name":"x"}')
    expect(await changes()).toEqual([])
  })

  it('[REQ-HARNESS-5] a run recorded without them is compared without them, a run recorded with them is not', async () => {
    const tree = openWorkTree(root)
    const ran = { name: 'tests', command: 'x', exitCode: 0, isComplete: true, coverage: null, wasStopped: false }
    const rest = {
      loadFailures: [],
      problem: null,
      durationMs: 1,
      treeHash: '',
      counts: { passed: 1, failed: 0, skipped: 0 },
    }
    const tests = [{ id: 'a', status: 'passed' as const, file: null, message: null }]
    const judged = async (pinnedRun: PinnedRun) => {
      const inputs: CheckInputs = {
        ...{ contract, tree, pinnedRun, git: null, evidence: {}, task: {}, params: {}, observedView: {} },
        ...{ ofVisit: new Map(), all: new Map(), pinnedTests: new Map(TESTS.map((path) => [path, 'x'])) },
        observed: new Map([['tests', { ...ran, ...rest, tests }]]),
      }
      return runCheck('all_tests_pass', inputs)
    }
    put('vitest.config.ts', 'other')
    expect(await judged({ ids: ['a'], unloaded: [], harness: before })).toMatchObject({
      result: 'fails',
      found: 'vitest.config.ts changed since the RED run',
    })
    expect(await judged({ ids: ['a'], unloaded: [] })).toMatchObject({ result: 'holds' })
  })
})
