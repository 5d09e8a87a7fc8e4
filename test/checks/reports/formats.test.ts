import { describe, expect, it } from 'vitest'
import { readReport } from '../../../src/checks/reports/read-report.js'
import type { ReportInput, TestReport } from '../../../src/checks/reports/report.js'

function given(input: Partial<ReportInput>) {
  return readReport({
    format: 'auto',
    stdout: '',
    stderr: '',
    reportText: null,
    exitCode: 0,
    root: '/project',
    ...input,
  })
}

function reportOf(input: Partial<ReportInput>): TestReport {
  const reading = given(input)
  if (reading.result === 'unreadable') throw new Error(reading.reason)
  return reading.report
}

function brief(report: TestReport): string {
  return `${report.passed}/${report.failed}/${report.skipped}`
}

const lines = (...text: readonly string[]): string => `${text.join('\n')}\n`

describe('TAP', () => {
  const tap = (...text: readonly string[]): Partial<ReportInput> => ({ stdout: lines('TAP version 14', ...text) })

  it.each([
    ['a plan that is kept', ['1..2', 'ok 1 - a', 'ok 2 - b'], '2/0/0'],
    ['a plan at the end', ['ok 1 - a', 'ok', '1..2'], '2/0/0'],
    ['too few tests', ['1..3', 'ok 1 - a'], '1/2/0'],
    ['too many tests', ['1..1', 'ok 1 - a', 'ok 2 - b'], '2/1/0'],
    ['no plan', ['ok 1 - a'], '1/1/0'],
    ['a bail out', ['1..2', 'ok 1 - a', 'ok 2 - b', 'Bail out! no database'], '2/1/0'],
    ['a skipped test', ['1..1', 'ok 1 - a # SKIP no reason'], '0/0/1'],
    ['a skip directive in small letters', ['1..1', 'ok 1 - a # skip'], '0/0/1'],
    ['a skipped test that failed', ['1..1', 'not ok 1 - a # SKIP'], '0/1/0'],
    ['a failed to-do', ['1..1', 'not ok 1 - a # TODO later'], '0/0/1'],
    ['a hash in a name', ['1..1', 'not ok 1 - issue #12 is fixed'], '0/1/0'],
    ['an escaped directive', ['1..1', 'not ok 1 - say \\# TODO'], '0/1/0'],
    ['words between results', ['hello', '1..1', 'ok 1 - a', 'okay 2', 'not okay'], '1/0/0'],
    ['subtests', ['# Subtest: s', '    ok 1 - a', '    not ok 2 - b', '    1..2', 'not ok 1 - s', '1..1'], '1/1/0'],
    ['subtests that miss one', ['    ok 1 - a', '    1..2', 'ok 1 - s', '1..1'], '1/1/0'],
    ['subtests without their parent', ['    ok 1 - a', '    1..1'], '1/1/0'],
    ['everything skipped', ['1..0 # SKIP no tests here'], '0/0/0'],
    ['a block without an end', ['1..2', 'ok 1 - a', '  ---', '  x: 1', 'ok 2 - b'], '1/1/0'],
    ['two runs', ['1..1', 'ok 1 - a', 'TAP version 13', '1..1', 'ok 1 - a'], '2/0/0'],
    ['two runs of which one did not end', ['1..2', 'ok 1 - a', 'TAP version 13', '1..1', 'ok 1 - a'], '2/1/0'],
  ])('[REQ-REPORT-1] %s', (_name, text, expected) => {
    expect(brief(reportOf(tap(...text)))).toBe(expected)
  })

  it('[REQ-REPORT-5] two different plans are unreadable', () => {
    expect(given(tap('1..1', 'ok 1 - a', '1..2')).result).toBe('unreadable')
  })

  it('[REQ-REPORT-5] a summary that counts other tests than are reported is unreadable', () => {
    expect(given(tap('1..1', 'ok 1 - a', '# tests 5', '# pass 5')).result).toBe('unreadable')
    expect(given(tap('1..1', 'not ok 1 - a', '# tests 1', '# pass 1', '# fail 0')).result).toBe('unreadable')
  })

  it('[REQ-REPORT-2] the kind of an error is that of the producer, not a name in what was compared', () => {
    const failing = (...text: readonly string[]) =>
      reportOf({ ...tap('not ok 1 - a', '  ---', ...text, '  ...', '1..1'), exitCode: 1 }).tests[0]?.message
    const compared = ['  error: |-', '    Expected values to be strictly deep-equal:', "    name: 'RangeError'"]
    expect(failing(...compared, "  name: 'AssertionError'", '  actual:', "  name: 'RangeError'")).toMatch(/^Expected/)
    expect(failing("  error: 'too deep'", "  name: 'RangeError'")).toBe('RangeError: too deep')
  })

  it('[REQ-REPORT-2] paths of subtests are part of the id, and equal ones are numbered', () => {
    const report = reportOf(tap('    ok 1 - a', '    ok 2 - a', '    1..2', 'ok 1 - s', 'ok 2 - a', '1..2'))
    expect(report.tests.map((test) => test.id)).toEqual(['s > a', 's > a #2', 'a'])
  })

  it('[REQ-REPORT-4] a file that node:test reports as one test ran none', () => {
    const reading = given(tap('# Subtest: test/a.test.js', 'ok 1 - test/a.test.js', '1..1', '# tests 1', '# pass 1'))
    expect(reading).toMatchObject({ result: 'contradiction', report: { passed: 0 } })
  })
})

describe('JUnit', () => {
  const junit = (text: string, exitCode = 0): Partial<ReportInput> => ({ format: 'junit', reportText: text, exitCode })

  it.each([
    ['a suite as the root', '<testsuite name="s" tests="1"><testcase name="a" classname="c"/></testsuite>', '1/0/0'],
    [
      'an error',
      '<testsuites><testsuite name="s"><testcase name="a"><error/></testcase></testsuite></testsuites>',
      '0/1/0',
    ],
    ['a test that was not run', '<testsuite><testcase name="a" status="notrun"/></testsuite>', '0/0/1'],
    ['both skipped and failed', '<testsuite><testcase name="a"><skipped/><failure/></testcase></testsuite>', '0/1/0'],
    ['CDATA', '<testsuite><testcase name="a"><failure><![CDATA[<b>]]></failure></testcase></testsuite>', '0/1/0'],
    ['a byte order mark', '\ufeff<?xml version="1.0"?>\n<testsuite><testcase name="a"/></testsuite>', '1/0/0'],
    [
      'a document type without entities',
      '<!DOCTYPE testsuite SYSTEM "x.dtd"><testsuite><testcase name="a"/></testsuite>',
      '1/0/0',
    ],
  ])('[REQ-REPORT-1] %s', (_name, text, expected) => {
    expect(brief(reportOf(junit(text)))).toBe(expected)
  })

  it.each([
    ['is not well formed', '<testsuite><testcase name="a"></testsuite>'],
    ['ends early', '<testsuites><testsuite><testcase name="a"/>'],
    ['has another root', '<html><testcase name="a"/></html>'],
    ['counts more tests than it has', '<testsuite tests="2"><testcase name="a"/></testsuite>'],
    ['counts fewer tests than it has', '<testsuite tests="1"><testcase name="a"/><testcase name="b"/></testsuite>'],
    ['says that nothing failed', '<testsuite failures="0"><testcase name="a"><failure/></testcase></testsuite>'],
    ['says failures that are not there', '<testsuite failures="1" errors="0"><testcase name="a"/></testsuite>'],
    [
      'expands an entity',
      '<!DOCTYPE t [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><testsuite name="&b;"><testcase name="x"/></testsuite>',
    ],
    [
      'names an external entity',
      '<!DOCTYPE t [<!ENTITY a SYSTEM "file:///etc/passwd">]><testsuite><testcase name="x"><failure>&a;</failure></testcase></testsuite>',
    ],
    ['goes too deep', `${'<testsuite>'.repeat(200)}${'</testsuite>'.repeat(200)}`],
    ['is JSON', '{"numTotalTests": 1}'],
  ])('[REQ-REPORT-5] a report that %s is unreadable', (_name, text) => {
    expect(given(junit(text)).result).toBe('unreadable')
  })

  it('[REQ-REPORT-2] suites, classes and names make the id, without saying one thing twice', () => {
    const report = reportOf(
      junit(
        '<testsuites name="all"><testsuite name="pkg.ATest"><testcase classname="pkg.ATest" name="one"/><testcase classname="pkg.ATest$In" name="one"/></testsuite></testsuites>',
      ),
    )
    expect(report.tests.map((test) => test.id)).toEqual(['pkg.ATest > one', 'pkg.ATest > pkg.ATest$In > one'])
  })

  it('[REQ-REPORT-3] files that a reporter leaves out are found in the output, when the run failed', () => {
    const stderr = lines(
      'FAIL test/a.test.js',
      '  ● Test suite failed to run',
      '',
      "    Cannot find module './b' from 'test/a.test.js'",
      '',
      'Test Suites: 1 failed, 1 total',
      'Tests:       0 total',
    )
    const text = '<testsuites><testsuite name="s"><testcase name="x"/></testsuite></testsuites>'
    expect(given({ ...junit(text, 1), stderr })).toMatchObject({
      result: 'read',
      report: {
        passed: 1,
        failed: 0,
        loadFailures: [{ file: 'test/a.test.js', kind: 'missing_module', module: './b' }],
      },
    })
  })
})

describe('causes', () => {
  const vitestFailure = (...text: readonly string[]): Partial<ReportInput> => ({
    exitCode: 1,
    stdout: lines(' Test Files  1 failed (1)', '      Tests  no tests'),
    stderr: lines('⎯⎯⎯ Failed Suites 1 ⎯⎯⎯', '', ' FAIL  test/a.test.ts [ test/a.test.ts ]', ...text, '⎯⎯⎯⎯[1/1]⎯'),
  })

  it.each([
    [
      'Error: Failed to resolve import "./b.js" from "test/a.test.ts". Does the file exist?',
      'missing_module',
      './b.js',
    ],
    ["Error: Cannot find package 'left-pad' imported from /project/test/a.test.ts", 'missing_module', 'left-pad'],
    ['Error: Failed to load url ../src/x (resolved id: ../src/x). Does the file exist?', 'missing_module', '../src/x'],
    ["SyntaxError: The requested module './b.js' does not provide an export named 'c'", 'missing_module', './b.js#c'],
    ["SyntaxError: Named export 'c' not found. The requested module 'b' is a CommonJS module", 'missing_module', 'b#c'],
    ["test/a.test.ts:1:10 - error TS2307: Cannot find module './b' or its type declarations.", 'missing_module', './b'],
    ["a.ts:1:10 - error TS2305: Module '\"./b\"' has no exported member 'c'.", 'missing_module', './b#c'],
    ['Error: Package subpath \'./x\' is not defined by "exports" in /p/package.json', 'missing_module', './x'],
    ['Error: Transform failed with 1 error:', 'syntax', null],
    ['SyntaxError: Unexpected identifier', 'syntax', null],
    ['ReferenceError: document is not defined', 'other', null],
  ])('[REQ-REPORT-3] %s', (text, kind, module) => {
    expect(reportOf(vitestFailure(text)).loadFailures).toMatchObject([{ file: 'test/a.test.ts', kind, module }])
  })

  const pytestFailure = (...text: readonly string[]): Partial<ReportInput> => ({
    exitCode: 2,
    stdout: lines(
      '==== test session starts ====',
      'collected 0 items / 1 error',
      '==== ERRORS ====',
      '____ ERROR collecting tests/test_a.py ____',
      ...text,
      '==== 1 error in 0.10s ====',
    ),
  })

  it.each([
    [["E   ModuleNotFoundError: No module named 'a.b'"], 'missing_module', 'a.b'],
    [['E   ImportError: No module named a'], 'missing_module', 'a'],
    [["E   ImportError: cannot import name 'f' from 'a.b' (/project/a/b.py)"], 'missing_module', 'a.b.f'],
    [["E   AttributeError: module 'a' has no attribute 'f'"], 'missing_module', 'a.f'],
    [
      [
        "E   ImportError: cannot import name 'f' from partially initialized module 'a' (most likely due to a circular import)",
      ],
      'other',
      null,
    ],
    [['E     File "/project/tests/test_a.py", line 1', 'E   IndentationError: unexpected indent'], 'syntax', null],
    [
      ["E   ModuleNotFoundError: No module named 'a'", 'During handling of the above', 'E   RuntimeError: no plugin'],
      'missing_module',
      'a',
    ],
  ])('[REQ-REPORT-3] %j', (text, kind, module) => {
    expect(reportOf(pytestFailure(...text)).loadFailures).toMatchObject([{ file: 'tests/test_a.py', kind, module }])
  })

  it.each([
    ['a.go:1:2: undefined: Foo', 'missing_module', 'Foo'],
    ['a.go:1:2: b.Foo undefined (type T has no field or method Foo)', 'missing_module', 'b.Foo'],
    ['a.go:1:2: Of(1, 2).Foo undefined (type T has no field or method Foo)', 'missing_module', 'Foo'],
    ['a.go:1:2: undefined: b.Foo', 'missing_module', 'b.Foo'],
    ['a.go:1:2: package foo/bar is not in std (/usr/lib/go/src/foo/bar)', 'missing_module', 'foo/bar'],
    ['a.go:1:2: cannot find package "foo/bar" in any of:', 'missing_module', 'foo/bar'],
    ['a.go:1:2: unknown field X in struct literal of type T', 'missing_module', 'X'],
    ['a.go:1:2: syntax error: unexpected newline, expected {', 'syntax', null],
    ['a.go:1:2: declared and not used: x', 'other', null],
  ])('[REQ-REPORT-3] %s', (text, kind, module) => {
    const report = reportOf({
      exitCode: 1,
      stdout: 'FAIL\tx/y [build failed]\nFAIL\n',
      stderr: `# x/y [x/y.test]\n${text}\n`,
    })
    expect(report.loadFailures).toMatchObject([{ file: 'a.go', kind, module }])
  })

  it.each([
    ['error[E0412]: cannot find type `Shape` in this scope', 'missing_module', 'Shape'],
    ['error[E0433]: failed to resolve: use of undeclared crate or module `foo`', 'missing_module', 'foo'],
    ["error[E0463]: can't find crate for `foo`", 'missing_module', 'foo'],
    ['error: cannot find macro `area` in this scope', 'missing_module', 'area'],
    ['error: expected one of `!` or `::`, found `x`', 'syntax', null],
    ['error: unused variable: `x`', 'other', null],
    ['error[E0382]: borrow of moved value: `x`', 'other', null],
  ])('[REQ-REPORT-3] %s', (text, kind, module) => {
    const stderr = lines(
      text,
      '  --> tests/a.rs:1:2',
      '',
      'error: could not compile `demo` (test "a") due to 1 previous error',
    )
    expect(reportOf({ exitCode: 101, stderr }).loadFailures).toMatchObject([{ file: 'tests/a.rs', kind, module }])
  })
})

describe('marks that hide a test', () => {
  it.each([
    [
      'node:test skips a whole suite',
      "TAP version 13\nok 1 - s # SKIP\n  ---\n  duration_ms: 1\n  type: 'suite'\n  ...\n1..1\n# tests 0\n# suites 1\n# pass 0\n# fail 0\n",
    ],
    ['vitest expects a failure', ' Test Files  1 passed (1)\n      Tests  1 expected fail (1)\n'],
    ['pytest expects a failure', '==== 1 xfailed in 0.01s ====\n'],
    ['TAP has a to-do', 'TAP version 13\n1..1\nok 1 - a # TODO\n'],
  ])('[REQ-REPORT-6] %s, and it counts as skipped', (_name, stdout) => {
    expect(brief(reportOf({ stdout }))).toBe('0/0/1')
  })

  it('[REQ-REPORT-6] unittest expects a failure, and it counts as skipped', () => {
    expect(brief(reportOf({ stderr: lines('x', 'Ran 1 test in 0.001s', '', 'OK (expected failures=1)') }))).toBe(
      '0/0/1',
    )
  })
})

it('[REQ-REPORT-6] a failed part of unittest with very long values is counted', () => {
  const section = (value: string): readonly string[] => [
    ...['='.repeat(70), `FAIL: test_a (tests.test_math.TestIt.test_a) (values=[${value}])`, '-'.repeat(70)],
    ...['Traceback (most recent call last):', 'AssertionError: 1 != 2', ''],
  ]
  const ended = ['-'.repeat(70), 'Ran 1 test in 0.001s', '', 'FAILED (failures=2)']
  const stderr = lines('F', ...section('1'), ...section('1, '.repeat(5000)), ...ended)
  expect(brief(reportOf({ stderr, exitCode: 1 }))).toBe('0/1/0')
})

describe('a compiler before the runner', () => {
  const tsc = (...text: readonly string[]): Partial<ReportInput> => ({ stdout: lines(...text), exitCode: 2 })
  const kinds = (input: Partial<ReportInput>) => reportOf(input).loadFailures.map((one) => [one.kind, one.module])

  it('[REQ-REPORT-11] a syntax error that tsc finds is not a missing module, in either of its ways to write', () => {
    expect(kinds(tsc('tests/b.test.ts(1,12): error TS1109: Expression expected.'))).toEqual([['syntax', null]])
    expect(
      kinds(
        tsc(
          '\u001b[96mtests/b.test.ts\u001b[0m:\u001b[93m1\u001b[0m:\u001b[93m12\u001b[0m - \u001b[91merror\u001b[0m\u001b[90m TS1109: \u001b[0mExpression expected.',
        ),
      ),
    ).toEqual([['syntax', null]])
    expect(kinds(tsc("a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'."))).toEqual([
      ['other', null],
    ])
  })

  it('[REQ-REPORT-11] a module or an export that tsc does not find is missing', () => {
    expect(
      kinds(
        tsc(
          "tests/a.test.ts(1,21): error TS2307: Cannot find module '../src/add.js' or its corresponding type declarations.",
          `tests/c.test.ts(1,10): error TS2305: Module '"../src/sub.js"' has no exported member 'sub'.`,
        ),
      ),
    ).toEqual([
      ['missing_module', '../src/add.js'],
      ['missing_module', '../src/sub.js'],
    ])
  })

  it('[REQ-REPORT-11] words that only look like it say nothing', () => {
    expect(given(tsc('error TS2307: Cannot find module')).result).toBe('unreadable')
    expect(given(tsc('found tests/a.ts(1,2) error TS2307: x')).result).toBe('unreadable')
  })
})
