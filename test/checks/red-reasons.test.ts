import { describe, expect, it } from 'vitest'
import { findReasonAgainst, findReasonAgainstLoad } from '../../src/checks/red-green/failure-reasons.js'
import { readReport } from '../../src/checks/reports/read-report.js'
import type { WorkTree } from '../../src/tree/work-tree.js'

const FILES: Readonly<Record<string, string>> = {
  'package.json': '{"name": "adder"}',
  'go.mod': 'module example.org/adder\n',
  'Cargo.toml': '[package]\nname = "adder"\n\n[dependencies]\nserde = "1"\n',
  'pyproject.toml': '[project]\nname = "adder"\ndependencies = ["httpcore>=1"]\n',
  'a_test.go': 'package a\n\nimport (\n\t"strings"\n\t"example.org/adder/words"\n)\n',
}
const tree = {
  read: async (path: string) => (FILES[path] === undefined ? null : Buffer.from(FILES[path])),
  hash: async (path: string) => (FILES[path] === undefined ? null : 'x'),
  list: async () => Object.keys(FILES).map((path) => ({ path, isLink: false })),
} as unknown as WorkTree

describe('why a failing test shows nothing of the project', () => {
  it.each([
    ['a.test.js', 'Expected values to be strictly equal: 0 !== 5', null],
    ['a.test.js', "expected 'ECONNREFUSED' to be 'ok'", null],
    ['a.test.js', 'Expected values to be strictly equal: connect ECONNREFUSED', null],
    ['a.test.js', 'connect ECONNREFUSED 127.0.0.1:1', /commands.tests.services/],
    [
      'a.test.js',
      'Got unwanted rejection. Actual message: "connect ECONNREFUSED 127.0.0.1:5432"',
      /commands.tests.services/,
    ],
    ['a.test.js', 'add is not a function', null],
    ['a.test.js', "Cannot find module '/work/src/add.mjs' imported from /work/tests/a.test.js", null],
    ['a.test.js', "Cannot find package 'left-pad' imported from /work/tests/a.test.js", /left-pad is not installed/],
    ['a.test.js', "Cannot find module '../src/add' from 'tests/a.test.js'", null],
    ['a.test.js', "Cannot find module 'left-pad'", /is not installed/],
    ['a.test.js', 'Failed to resolve import "adder/sum" from "tests/a.test.js"', null],
    ['a.test.js', 'Test timed out in 5000ms.', /timed out/],
    ['a.test.js', null, null],
    ['test_a.py', 'AssertionError: assert 0 == 5', null],
    ['test_a.py', "ModuleNotFoundError: No module named 'sums'", null],
    ['test_a.py', "ModuleNotFoundError: No module named 'requests'", /requests is not installed/],
    ['test_a.py', "ModuleNotFoundError: No module named 'httpcore'", /httpcore is not installed/],
    ['test_a.py', 'ValueError: unknown unit h', null],
    ['a_test.go', 'a_test.go:8: got 0, want 5', null],
    ['a_test.go', 'a_test.go:8: dial tcp 127.0.0.1:1: connect: connection refused', /commands.tests.services/],
  ])('[REQ-RED-4] in %s: %j', async (file, message, reason) => {
    const told = await findReasonAgainst({ tree }, { message, file })
    if (reason === null) expect(told).toBeNull()
    else expect(told).toMatch(reason)
  })

  it.each([
    ['a_test.go', 'Add', 'undefined: Add', null],
    ['a_test.go', 'words.Count', 'undefined: words.Count', null],
    ['a_test.go', 'strings.Count2', 'undefined: strings.Count2', /is not installed/],
    ['a_test.go', 'github.com/x/y', 'no required module provides package github.com/x/y', /is not installed/],
    ['tests/a.rs', 'adder::sum', 'unresolved import `adder::sum`', null],
    ['tests/a.rs', 'sum', 'cannot find function `sum` in this scope', null],
    ['tests/a.rs', 'tokio::time', 'unresolved import `tokio::time`', /is not installed/],
  ])('[REQ-RED-4] a compile error in %s that names %s', async (file, module, message, reason) => {
    const told = await findReasonAgainstLoad({ tree }, { file, kind: 'missing_module', module, message }, file)
    if (reason === null) expect(told).toBeNull()
    else expect(told).toMatch(reason)
  })

  it('[REQ-RED-4] what a failing test of Go says is read from its plain output', () => {
    const stdout =
      '=== RUN   TestAdds\n    a_test.go:8: dial tcp: connection refused\n--- FAIL: TestAdds (0.00s)\nFAIL\nFAIL\texample.org/adder\t0.01s\nFAIL\n'
    const reading = readReport({ format: 'go', stdout, stderr: '', reportText: null, exitCode: 1 })
    expect(reading).toMatchObject({
      report: { tests: [{ status: 'failed', message: 'a_test.go:8: dial tcp: connection refused' }] },
    })
  })
})
