import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { COVERAGE_FORMATS, readCoverage } from '../../../src/checks/reports/coverage.js'
import { readReport } from '../../../src/checks/reports/read-report.js'
import {
  LOAD_FAILURES_MAX,
  OUTPUT_CHARS_MAX,
  REPORT_CHARS_MAX,
  type ReportReading,
  TEST_FORMATS,
  TESTS_MAX,
} from '../../../src/checks/reports/report.js'
import { depth } from '../../depth.js'
import { recordedRuns } from './fixtures.js'

const RUNS = recordedRuns()
const RUNS_MAX = depth(12, 1_000)
// What share of the limit the repeated texts fill.
const SHARE = depth(128, 8)
// Lines of real output in any order, with any text between them: what a test could print.
const LINES = [...new Set(RUNS.flatMap((run) => `${run.stdout}\n${run.stderr}\n${run.reportText ?? ''}`.split('\n')))]

const anyLine = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...LINES) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('{', '}', '<', '    ', '  ---', '  ...', '1..3', 'ok', 'not ok', '\x1b[', '\u2028'),
  },
)
const anyText = fc.array(anyLine, { maxLength: 60 }).map((lines) => lines.join('\n'))
const anyInput = fc.record({
  format: fc.constantFrom(...TEST_FORMATS),
  stdout: anyText,
  stderr: anyText,
  reportText: fc.option(anyText, { nil: null }),
  exitCode: fc.constantFrom(0, 0, 1, 101, -1),
  root: fc.constantFrom('/project', '', '/'),
})

function holdsTogether(reading: ReportReading, exitCode: number): void {
  if (reading.result === 'unreadable') {
    expect(reading.reason.length).toBeGreaterThan(10)
    return
  }
  const { report } = reading
  for (const count of [report.passed, report.failed, report.skipped])
    expect(Number.isSafeInteger(count) && count >= 0).toBe(true)
  expect(report.tests.length).toBeLessThanOrEqual(TESTS_MAX)
  expect(report.loadFailures.length).toBeLessThanOrEqual(LOAD_FAILURES_MAX)
  expect(new Set(report.tests.map((test) => test.id)).size).toBe(report.tests.length)
  const listed = (status: string): number => report.tests.filter((test) => test.status === status).length
  if (report.complete) {
    expect(report.tests.length).toBe(report.passed + report.failed + report.skipped)
    expect(listed('failed')).toBe(report.failed)
  }
  const isClean = report.failed === 0 && report.loadFailures.length === 0
  expect(reading.result === 'contradiction').toBe((exitCode === 0) !== isClean)
}

describe('any input', () => {
  it('[REQ-REPORT-9] is read without a fault, and what is read holds together', () => {
    fc.assert(
      fc.property(anyInput, (input) => holdsTogether(readReport(input), input.exitCode)),
      { numRuns: RUNS_MAX },
    )
  })

  it('[REQ-REPORT-9] a recorded run with parts removed or added is read without a fault', () => {
    fc.assert(
      fc.property(fc.constantFrom(...RUNS), fc.nat(), fc.nat(), anyText, (run, start, length, text) => {
        const changed = (whole: string): string => {
          const at = whole.length === 0 ? 0 : start % whole.length
          return `${whole.slice(0, at)}${text}${whole.slice(at + (length % 200))}`
        }
        const reportText = run.reportText === null ? null : changed(run.reportText)
        const input = { format: 'auto', stdout: changed(run.stdout), stderr: run.stderr, reportText } as const
        holdsTogether(readReport({ ...input, exitCode: run.exitCode }), run.exitCode)
      }),
      { numRuns: RUNS_MAX },
    )
  })

  it('[REQ-REPORT-5] the beginning of a failed run, with exit code 0, is never a whole run without failures', () => {
    const failed = RUNS.filter((run) =>
      /^(?:node20|vitest4|mocha11|cargo|go)\/(?:tap|spec|json|default)\/fail$/.test(run.name),
    )
    fc.assert(
      fc.property(fc.constantFrom(...failed), fc.nat(), (run, cut) => {
        const part = (text: string): string => text.slice(0, cut % Math.max(1, text.length))
        const reading = readReport({
          format: 'auto',
          stdout: part(run.stdout),
          stderr: '',
          reportText: run.reportText === null ? null : part(run.reportText),
          exitCode: 0,
        })
        if (reading.result === 'read') expect(reading.report.passed).toBe(0)
      }),
      { numRuns: RUNS_MAX },
    )
  })

  it('[REQ-REPORT-10] is not a fault as a coverage report', () => {
    fc.assert(
      fc.property(fc.constantFrom(...COVERAGE_FORMATS), anyText, (format, text) => {
        const coverage = readCoverage({ format, text })
        if (coverage !== null) expect(coverage.percent >= 0 && coverage.percent <= 100).toBe(true)
      }),
      { numRuns: RUNS_MAX },
    )
  })
})

// Repeated until a share of the limit is full: each is the worst that one of the readers could meet. A quarter takes
// well below a second in linear time.
const REPEATED = [
  '\n',
  '\r',
  '\t\n',
  '{',
  '{"num\n',
  '{\n"stats"',
  '}\n',
  '{"Action":"',
  '{"Action":"run","Package":"p","Test":"t"}\n',
  '\x1b[',
  '\x1b[0',
  '\x1b]',
  '\x9b',
  '<',
  '<testsuite',
  '<testsuite>',
  '<testsuites>\n',
  '</testsuite>',
  '&amp;',
  ']',
  '?',
  '1..9\n',
  'ok 1 - a\n',
  'not ok\n',
  '    ok\n',
  '    '.repeat(39),
  'ok 1 - a # ',
  '#',
  '# tests 1\n',
  '  ---\n',
  'TAP version 13\n',
  'ok 1 - a {\n    1..1\n',
  "# Error: Cannot find module 'a'\n",
  'not ok 1 - a.test.js\n# Error: x\n',
  'Bail out!\n',
  '✔ a (1ms)\n',
  '▶ a\n',
  'ℹ tests 1\n',
  ' ✓ a > b 1ms\n',
  ' FAIL  a > b\n',
  ' FAIL  a [ a ]\n',
  '      Tests  1 passed (1)\n',
  '⎯⎯⎯\n',
  'PASS a\n',
  'FAIL a\n  ● b\n',
  '  ● b\n',
  'Tests:       1 passed, 1 total\n',
  'Tests:  1 a, ',
  '  ✓ a (1 ms)\n',
  '  1 passing (1ms)\n',
  '  1) a:\n',
  '====',
  '==== a ====\n',
  '==== test session starts ====\n',
  'a::b PASSED [ 1%]\n',
  'a::b SKIPPED (x',
  ' PASSED (',
  '1 passed, ',
  '1 passed in 0.1s\n',
  '____ ERROR collecting a ____\n',
  'FAILED a::b - c\n',
  'Ran 1 test in 0.1s\n',
  `${'='.repeat(70)}\nFAIL: a (b)\n`,
  'test_a (b) ... skipped "',
  'a (b)\n',
  '=== RUN   a\n',
  '--- PASS: a (0.0s)\n',
  'ok  \ta\t0.1s\n',
  'FAIL\ta [build failed]\n',
  '# a\n',
  'a.go:1:2: undefined: b\n',
  'running 1 test\n',
  'test a ... ok\n',
  'test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n',
  '---- a stdout ----\n',
  'error[E0432]: a\n --> b:1:2\n',
  ' Exception during run: ',
  "ImportError while loading conftest 'a'.\n",
  'Error: x\n',
  'x'.repeat(3_999),
  ' ',
  "'",
  '"',
] as const

describe('time', () => {
  const SECONDS_MAX = 5

  it.each(REPEATED)('[REQ-REPORT-9] %j, again and again, takes no more than seconds', (text) => {
    const output = text.repeat(Math.ceil(OUTPUT_CHARS_MAX / SHARE / text.length))
    const report = text.repeat(Math.floor(REPORT_CHARS_MAX / SHARE / text.length))
    for (const input of [
      { stdout: output, stderr: output, reportText: null },
      { stdout: '', stderr: '', reportText: report },
    ]) {
      const started = performance.now()
      readReport({ format: 'auto', exitCode: 1, ...input })
      expect((performance.now() - started) / 1_000).toBeLessThan(SECONDS_MAX)
    }
  })
})
