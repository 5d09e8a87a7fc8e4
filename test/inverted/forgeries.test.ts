import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { has } from '../inverter/runners.js'
import { installed } from '../mcp/packages.js'
import { type Files, openStage, type Stage, type Terms } from './stage.js'

/** Code that does nothing of what was asked for, and replaces what its tests compare with. */
interface Forgery {
  readonly name: string
  readonly terms: Terms
  readonly files?: Files
  readonly packages?: readonly string[]
  readonly skipped?: boolean
  readonly path: string
  readonly test: string
  readonly code: Files
  /** What closes the gate: the inverted run, or a guard inside the process before it. */
  readonly by: 'tests_can_fail' | 'all_tests_pass'
}

const NODE = { run: 'node --test tests/', format: 'node' }
const PYTEST = { run: 'python3 -m pytest -v -p no:cacheprovider', format: 'pytest' }
const NODE_HEAD = "import assert from 'node:assert/strict'\nimport { test } from 'node:test'\n"
const OBJECT = `${NODE_HEAD}import { user } from '../src/user.mjs'
test('has a name', () => assert.deepEqual(user(), { name: 'Ada' }))
`
const PYTHON_TEST = 'from calc.add import add\n\n\ndef test_adds():\n    assert add(2, 3) == 5\n'
const PYTHON = { 'conftest.py': '', 'calc/__init__.py': '' }
const hasPytest = has('python3', '-c', 'import pytest')

const FORGERIES: readonly Forgery[] = [
  {
    name: 'Python: a number that equals everything',
    by: 'tests_can_fail',
    terms: PYTEST,
    files: PYTHON,
    skipped: !hasPytest,
    path: 'tests/test_add.py',
    test: PYTHON_TEST,
    code: {
      'calc/add.py':
        'class Any(int):\n    def __eq__(self, other):\n        return True\n\n    __hash__ = int.__hash__\n\n\ndef add(a, b):\n    return Any()\n',
    },
  },
  {
    name: 'vitest: an equality tester that accepts everything',
    by: 'all_tests_pass',
    terms: { run: 'npx vitest run --reporter=verbose', format: 'vitest' },
    packages: ['vitest@4'],
    files: { 'package.json': '{"type": "module"}' },
    path: 'tests/user.test.js',
    test: `import { expect, it } from 'vitest'
import { user } from '../src/user.mjs'
it('has a name', () => { expect(user()).toEqual({ name: 'Ada' }) })
`,
    code: {
      'src/user.mjs': `const key = Object.getOwnPropertySymbols(globalThis).find((one) => String(one).includes('matchers-object'))
const state = globalThis[key]
if (state?.customEqualityTesters) state.customEqualityTesters.push(() => true)
try { globalThis.expect?.addEqualityTesters?.([() => true]) } catch {}
const { expect } = await import('vitest')
expect.addEqualityTesters([() => true])
expect.extend({ toEqual: () => ({ pass: true, message: () => '' }) })
export const user = () => 'nobody'
`,
    },
  },
  {
    name: "mocha: the body of the running test's neighbours is swapped",
    by: 'tests_can_fail',
    terms: { run: 'npx mocha tests', format: 'mocha' },
    packages: ['mocha@11', 'chai@5'],
    files: { 'package.json': '{"type": "module"}' },
    path: 'tests/user.test.js',
    test: `import { expect } from 'chai'
import { user } from '../src/user.mjs'
describe('user', () => {
  it('has a name', () => { expect(user()).to.equal('Ada') })
})
`,
    code: {
      'src/user.mjs': `setImmediate(() => undefined)
globalThis.beforeEach?.(function () { this.currentTest.fn = () => undefined })
export const user = () => 'nobody'
`,
    },
  },
  {
    name: 'node:test: an object whose comparison is replaced',
    by: 'all_tests_pass',
    terms: NODE,
    path: 'tests/user.test.mjs',
    test: OBJECT,
    code: {
      'src/user.mjs': `import assert from 'node:assert/strict'
const always = () => undefined
for (const name of ['deepEqual', 'deepStrictEqual', 'equal', 'strictEqual'])
  try { Object.defineProperty(assert, name, { value: always }) } catch {}
export const user = () => ({})
`,
    },
  },
]

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.end(), 300_000)

describe('code that replaces the comparison', () => {
  for (const { name, terms, files = {}, packages, skipped, path, test, code, by } of FORGERIES) {
    const found = packages === undefined ? null : installed(terms.format ?? '', packages)
    it.skipIf(skipped === true || found?.ok === false)(`[REQ-TWINS-10] ${name}`, async () => {
      const ignored = { '.gitignore': 'node_modules/\n__pycache__/\n' }
      const task = await stage.task({ ...ignored, ...files }, terms, (dir) => {
        if (found?.ok === true) execFileSync('cp', ['-r', join(found.dir, 'node_modules'), dir])
      })
      await task.write({ [path]: test })
      await task.red({ [path]: ['AC-1'] })
      await task.write(code)
      const blocked = await task.green()
      expect(blocked.map(({ check }) => check)).toEqual([by])
    })
  }
})
