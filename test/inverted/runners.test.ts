import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { has } from '../inverter/runners.js'
import { installed } from '../mcp/packages.js'
import { type Files, openStage, type Stage, type Terms } from './stage.js'

/** A project in which the same three tests can be written with some runner. */
interface Project {
  readonly name: string
  readonly terms: Terms
  readonly files: Files
  readonly packages?: readonly string[]
  /** Why it cannot be run here; null: it can. */
  readonly skipped: string | null
  readonly path: string
  readonly honest: string
  /** It cannot fail once there is code, and was seen failing before. */
  readonly vacuous: string
  /** The line of its test. */
  readonly line: number
  /** It calls the code and asserts nothing; null where RED refuses that already, since nothing is compiled. */
  readonly silent: string | null
  readonly code: Files
}

const needs = (isThere: boolean, what: string): string | null => (isThere ? null : `${what} is not installed`)
const ADD_MJS = { 'src/add.mjs': 'export const add = (a, b) => a + b\n' }

const javascript = (head: string, assertion: string, code = 'src/add.mjs', load = 'await import') => ({
  honest: `${head}it('adds', () => { ${assertion} })\n`,
  vacuous: `${head}\nit('adds', () => {\n  try { ${assertion} } catch {}\n})\n`,
  line: head.split('\n').length + 1,
  silent: `${head.replace(/.*src\/add.*\n/, '')}it('adds', async () => { (${load}('../${code}')).add(2, 3) })\n`,
})

const PROJECTS: readonly Project[] = [
  {
    name: 'vitest',
    packages: ['vitest@4'],
    terms: { run: 'npx vitest run --reporter=verbose', format: 'vitest' },
    files: { 'package.json': '{"type": "module"}' },
    skipped: null,
    path: 'tests/add.test.js',
    code: ADD_MJS,
    ...javascript(
      "import { expect, it } from 'vitest'\nimport { add } from '../src/add.mjs'\n",
      'expect(add(2, 3)).toBe(5)',
    ),
  },
  {
    name: 'vitest, which lists no tests that pass',
    packages: ['vitest@4'],
    terms: { run: 'npx vitest run', format: 'vitest' },
    files: { 'package.json': '{"type": "module"}' },
    skipped: null,
    path: 'tests/add.test.js',
    code: ADD_MJS,
    ...javascript(
      "import { expect, it } from 'vitest'\nimport { add } from '../src/add.mjs'\n",
      'expect(add(2, 3)).toBe(5)',
    ),
    silent: null,
  },
  {
    name: 'jest',
    packages: ['jest@30'],
    terms: { run: 'npx jest --ci', format: 'jest' },
    files: { 'package.json': '{}' },
    skipped: null,
    path: 'tests/add.test.js',
    code: { 'src/add.js': 'exports.add = (a, b) => a + b\n' },
    ...javascript("const { add } = require('../src/add.js')\n", 'expect(add(2, 3)).toBe(5)', 'src/add.js', 'require'),
  },
  {
    name: 'mocha with chai',
    packages: ['mocha@11', 'chai@5'],
    terms: { run: 'npx mocha tests', format: 'mocha' },
    files: { 'package.json': '{"type": "module"}' },
    skipped: null,
    path: 'tests/add.test.js',
    code: ADD_MJS,
    ...javascript(
      "import { expect } from 'chai'\nimport { add } from '../src/add.mjs'\n",
      'expect(add(2, 3)).to.equal(5)',
    ),
  },
  {
    name: 'pytest',
    terms: { run: 'python3 -m pytest -v -p no:cacheprovider', format: 'pytest' },
    files: { 'conftest.py': '', 'calc/__init__.py': '' },
    skipped: needs(has('python3', '-c', 'import pytest'), 'pytest'),
    path: 'tests/test_add.py',
    honest: 'from calc.add import add\n\n\ndef test_adds():\n    assert add(2, 3) == 5\n',
    vacuous:
      'from calc.add import add\n\n\ndef test_adds():\n    try:\n        assert add(2, 3) == 5\n    except AssertionError:\n        pass\n',
    line: 4,
    silent: 'def test_adds():\n    from calc.add import add\n    add(2, 3)\n',
    code: { 'calc/add.py': 'def add(a, b):\n    return a + b\n' },
  },
  {
    name: 'unittest',
    terms: { run: 'python3 -m unittest -v tests.test_add', format: 'pytest' },
    files: { 'tests/__init__.py': '', 'calc/__init__.py': '' },
    skipped: needs(has('python3', '--version'), 'Python'),
    path: 'tests/test_add.py',
    honest:
      'import unittest\n\n\nclass TestAdd(unittest.TestCase):\n    def test_adds(self):\n        from calc.add import add\n        self.assertEqual(add(2, 3), 5)\n',
    vacuous:
      'import unittest\n\n\nclass TestAdd(unittest.TestCase):\n    def test_adds(self):\n        from calc.add import add\n        try:\n            self.assertEqual(add(2, 3), 5)\n        except AssertionError:\n            pass\n',
    line: 5,
    silent:
      'import unittest\n\n\nclass TestAdd(unittest.TestCase):\n    def test_adds(self):\n        from calc.add import add\n        add(2, 3)\n',
    code: { 'calc/add.py': 'def add(a, b):\n    return a + b\n' },
  },
  {
    name: 'Go',
    terms: { run: 'go test -v ./...', format: 'go' },
    files: { 'go.mod': 'module example.com/calc\n\ngo 1.22\n', 'calc.go': 'package calc\n' },
    skipped: needs(has('go', 'version'), 'Go'),
    path: 'add_test.go',
    honest: `package calc

import "testing"

func TestAdds(t *testing.T) {
	if got := Add(2, 3); got != 5 {
		t.Errorf("got %d", got)
	}
}
`,
    vacuous: `package calc

import "testing"

func TestAdds(t *testing.T) {
	if got := Add(2, 3); got != 5 {
		if got == 6 {
			t.Errorf("got %d", got)
		}
	}
}
`,
    line: 5,
    silent: null,
    code: { 'add.go': 'package calc\n\nfunc Add(a, b int) int { return a + b }\n' },
  },
  {
    name: 'cargo',
    terms: { run: 'cargo test --offline', format: 'cargo' },
    files: {
      'Cargo.toml': '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n',
      'src/lib.rs': 'pub fn nothing() {}\n',
    },
    skipped: needs(has('cargo', '--version'), 'cargo'),
    path: 'tests/add.rs',
    honest: '#[test]\nfn adds() {\n    assert_eq!(calc::add(2, 3), 5);\n}\n',
    vacuous: '#[test]\nfn adds() {\n    let _ = std::panic::catch_unwind(|| { assert_eq!(calc::add(2, 3), 5); });\n}\n',
    line: 2,
    silent: null,
    code: { 'src/lib.rs': 'pub fn add(a: i32, b: i32) -> i32 { a + b }\n' },
  },
]

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.end(), 300_000)

for (const project of PROJECTS) {
  const { name, terms, files, packages, path, code } = project
  const found = packages === undefined ? null : installed(name.split(/\W/)[0] ?? '', packages)
  const skipped = project.skipped ?? (found?.ok === false ? found.reason : null)
  const covers = { [path]: ['AC-1'] }
  const install = (dir: string): void => {
    if (found?.ok === true) execFileSync('cp', ['-r', join(found.dir, 'node_modules'), dir])
  }
  const inImpl = async (test: string) => {
    const ignored = { '.gitignore': 'node_modules/\ntarget/\n__pycache__/\n' }
    const task = await stage.task({ ...ignored, ...files }, terms, install)
    await task.write({ [path]: test })
    await task.red(covers)
    await task.write(code)
    return task
  }

  describe.skipIf(skipped !== null)(`the inverted run with ${name}${skipped === null ? '' : ` (${skipped})`}`, () => {
    it('[REQ-TWINS-1] an honest test is proved', async () => {
      const task = await inImpl(project.honest)
      expect(await task.green()).toEqual([])
      expect(task.warnings()).toBe('')
      expect(await task.ran()).toMatchObject({ grade: 'proved', inverted: { proved: 1 } })
    })

    it('[REQ-TWINS-2] a test that cannot fail blocks with its line, and the way back leads on', async () => {
      const task = await inImpl(project.vacuous)
      const [blocked] = await task.green()
      expect(blocked?.message).toMatch(/still passes when the expected value is changed/)
      expect(blocked?.message).toMatch(new RegExp(`${path}:${project.line} |\\(line ${project.line}\\)`))
      await task.back()
      await task.write({ [path]: project.honest })
      await task.red(covers)
      expect(await task.green()).toEqual([])
    })

    const { silent } = project
    it.skipIf(silent === null)('[REQ-TWINS-3] a test without an assertion proves no criterion', async () => {
      const task = await inImpl(silent ?? '')
      const [blocked] = await task.green()
      expect(blocked?.message).toMatch(/no test is proved for "AC-1" \(.*adds.*: it has no assertion that is known/)
      expect(blocked?.message).toContain(path)
    })
  })
}
