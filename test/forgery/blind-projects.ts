import type { Files } from '../e2e/projects.js'
import { HAS_GO } from './go-project.js'
import { copyInstalled, copyOwn, jest, MOCHA } from './packages.js'
import { PYTEST, packages, version } from './python-project.js'
import type { Forgery, Shape } from './shape.suite.js'

/** Repositories for forgeries that were written from the documentation alone. The tests are honest unless a case brings its own. */
export type Project = Omit<Shape, 'forgeries'>

const manifest = (test: string, type = 'module'): string =>
  `${JSON.stringify({ name: 'adder', private: true, type, scripts: { test } })}\n`
const NODE_HEAD = "import assert from 'node:assert/strict'\nimport { test } from 'node:test'\n"

export const nodeTest = (body: string): Files => ({ 'tests/add.test.js': `${NODE_HEAD}${body}` })
export const NODE: Project = {
  name: 'node:test, blind',
  run: 'npm test',
  files: {
    'package.json': manifest('node --test tests/'),
    'src/old.js': 'export const one = () => 1\n',
    'tests/old.test.js': `${NODE_HEAD}import { one } from '../src/old.js'\ntest('one', () => assert.equal(one(), 1))\n`,
  },
  tests: nodeTest("import { add } from '../src/add.js'\ntest('adds', () => {\n  assert.equal(add(2, 2), 4)\n})\n"),
  wrong: { 'src/add.js': 'export const add = () => 5\n' },
  honest: { 'src/add.js': 'export const add = (a, b) => a + b\n' },
}

export const MOCHA_PROJECT: Project = {
  name: 'mocha, blind',
  run: 'npm test',
  packages: MOCHA,
  prepare: copyInstalled(MOCHA),
  files: {
    'package.json': manifest('mocha tests', 'commonjs'),
    '.gitignore': 'node_modules/\n',
    'src/old.js': 'exports.one = () => 1\n',
    'tests/a-old.test.js':
      "const assert = require('node:assert/strict')\nconst { one } = require('../src/old')\nit('one', () => assert.equal(one(), 1))\n",
  },
  tests: {
    'tests/add.test.js':
      "const assert = require('node:assert/strict')\nconst { add } = require('../src/add')\nit('adds', () => {\n  assert.equal(add(2, 2), 4)\n})\n",
  },
  wrong: { 'src/add.js': 'exports.add = () => 5\n' },
  honest: { 'src/add.js': 'exports.add = (a, b) => a + b\n' },
}

export const VITEST: Project = {
  name: 'vitest, blind',
  run: 'npm test',
  prepare: copyOwn('vitest'),
  files: {
    'package.json': manifest('vitest run'),
    '.gitignore': 'node_modules/\n',
    'src/old.js': 'export const one = () => 1\n',
    'tests/old.test.js':
      "import { expect, it } from 'vitest'\nimport { one } from '../src/old.js'\nit('one', () => expect(one()).toBe(1))\n",
  },
  tests: {
    'tests/add.test.js':
      "import { expect, it } from 'vitest'\nimport { add } from '../src/add.js'\nit('adds', () => {\n  expect(add(2, 2)).toEqual(4)\n})\nit('takes two', () => {\n  expect(add).toHaveLength(2)\n})\n",
  },
  wrong: { 'src/add.js': 'export const add = (a, b) => 5\n' },
  honest: { 'src/add.js': 'export const add = (a, b) => a + b\n' },
}

export const JEST = jest()
export const JEST_PROJECT: Project = {
  name: 'jest, blind',
  run: 'npm test',
  packages: JEST,
  prepare: copyInstalled(JEST),
  files: {
    'package.json': `${JSON.stringify({ name: 'adder', private: true, scripts: { test: 'jest --verbose --runInBand --no-cache' } })}\n`,
    '.gitignore': 'node_modules/\n',
    'src/old.js': 'exports.one = () => 1\n',
    // The larger file is run first.
    'tests/a-old.test.js': `const { one } = require('../src/old')\nit('one', () => { expect(one()).toBe(1) })\n//${' -'.repeat(5000)}\n`,
  },
  tests: {
    'tests/add.test.js':
      "const { add } = require('../src/add')\nit('adds', () => {\n  expect(add(2, 2)).toEqual({ sum: 4 })\n})\n",
  },
  wrong: { 'src/add.js': 'exports.add = () => 5\n' },
  honest: { 'src/add.js': 'exports.add = (a, b) => ({ sum: a + b })\n' },
}
export const HAS_PYTEST = packages !== null && version !== null
export const pythonTest = (body: string): Files => ({ 'tests/test_add.py': `from src.add import add\n${body}` })
export const PYTHON: Project = {
  name: 'pytest, blind',
  run: PYTEST.run,
  ...(PYTEST.prepare === undefined ? {} : { prepare: PYTEST.prepare }),
  files: {
    'pyproject.toml': '[project]\nname = "adder"\nversion = "1.0.0"\n',
    '.gitignore': '__pycache__/\n.pytest_cache/\n.venv/\n',
    'src/__init__.py': '',
    'src/old.py': 'def one():\n    return 1\n',
    'tests/__init__.py': '',
    'tests/test_old.py': 'from src.old import one\n\n\ndef test_one():\n    assert one() == 1\n',
  },
  tests: pythonTest('\n\ndef test_adds():\n    result = add(2, 2)\n    assert result == 4\n'),
  wrong: { 'src/add.py': 'def add(a, b):\n    return 5\n' },
  honest: { 'src/add.py': 'def add(a, b):\n    return a + b\n' },
}

export const goTest = (more = ''): Files => ({
  'add_test.go': `package adder

import (
	"reflect"
	"testing"
)

var _ = reflect.TypeOf

func TestAdd(t *testing.T) {
	if got := Add(2, 2); got != 4 {
		t.Errorf("got %d", got)
	}
}
${more}`,
})
export const GO_PROJECT: Project = {
  name: 'go test, blind',
  run: 'go test -json ./...',
  files: {
    'go.mod': 'module adder\n\ngo 1.21\n',
    'old.go': 'package adder\n\nfunc One() int { return 1 }\n',
    'old_test.go':
      'package adder\n\nimport "testing"\n\nfunc TestOne(t *testing.T) {\n\tif One() != 1 {\n\t\tt.Error("one")\n\t}\n}\n',
  },
  tests: goTest(),
  wrong: { 'add.go': 'package adder\n\nfunc Add(a, b int) int { return 5 }\n' },
  honest: { 'add.go': 'package adder\n\nfunc Add(a, b int) int { return a + b }\n' },
}
export { HAS_GO }

/** A source in Go: what it imports and declares, and the body of `Add`. */
export function goCode(imports: readonly string[], rest: string, body = 'return -99'): Files {
  const list = imports.map((name) => `\t"${name}"\n`).join('')
  const block = list === '' ? '' : `import (\n${list})\n\n`
  return { 'add.go': `package adder\n\n${block}//go:noinline\nfunc Add(a, b int) int {\n\t${body}\n}\n\n${rest}\n` }
}

/** Lines of a test binary in which every test passed. */
export const GO_PASSES =
  '\\x16=== RUN   TestAdd\\n\\x16--- PASS: TestAdd (0.00s)\\n\\x16=== RUN   TestOne\\n\\x16--- PASS: TestOne (0.00s)\\n\\x16=== NAME  \\n\\x16PASS\\n'

/** A forgery that replaces one source file. */
export function code(
  path: string,
  name: string,
  text: string,
  told: RegExp,
  kind: Forgery['class'] = 'judge',
): Forgery {
  return { class: kind, name, write: { [path]: text }, told: [told] }
}
