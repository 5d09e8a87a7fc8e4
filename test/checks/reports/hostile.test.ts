import { describe, expect, it } from 'vitest'
import { readReport } from '../../../src/checks/reports/read-report.js'
import {
  ID_CHARS_MAX,
  LOAD_FAILURES_MAX,
  MESSAGE_CHARS_MAX,
  OUTPUT_CHARS_MAX,
  REPORT_CHARS_MAX,
  type ReportInput,
  TESTS_MAX,
} from '../../../src/checks/reports/report.js'
import { recorded } from './fixtures.js'

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

const VITEST_GREEN = ' Test Files  1 passed (1)\n      Tests  3 passed (3)\n'
const PYTEST_GREEN = '============ 3 passed in 0.01s ============\n'

describe('what the code under test prints', () => {
  it('[REQ-REPORT-5] output that looks like that of two runners is unreadable', () => {
    const reading = given({ stdout: `${VITEST_GREEN}TAP version 13\n1..1\nok 1 - a\n` })
    expect(reading).toMatchObject({ result: 'unreadable', reason: expect.stringContaining('`format`') })
    expect(given({ stdout: `${VITEST_GREEN}${PYTEST_GREEN}` }).result).toBe('unreadable')
  })

  it('[REQ-COMMITS-5] of two, the output of the only runner that reported by itself counts', () => {
    const stdout = `${VITEST_GREEN}TAP version 13\n1..1\nok 1 - a\n`
    expect(given({ stdout, runner: 'vitest' })).toMatchObject({
      result: 'read',
      report: { format: 'vitest', passed: 3 },
    })
    expect(given({ stdout, runner: 'jest' }).result).toBe('unreadable')
  })

  it('[REQ-REPORT-5] a named format is the only one that is looked for', () => {
    expect(given({ format: 'pytest', stdout: `${VITEST_GREEN}${PYTEST_GREEN}` })).toMatchObject({
      result: 'read',
      report: { format: 'pytest', passed: 3 },
    })
    expect(given({ format: 'go', stdout: VITEST_GREEN }).result).toBe('unreadable')
  })

  it('[REQ-REPORT-5] of two summaries the last one counts', () => {
    expect(given({ stdout: `${PYTEST_GREEN}===== 1 failed, 1 passed in 0.02s =====\n`, exitCode: 1 })).toMatchObject({
      result: 'read',
      report: { passed: 1, failed: 1 },
    })
  })

  it('[REQ-REPORT-5] results that nobody counted make a summary unreadable', () => {
    const mocha = '  ✔ a\n  ✔ b\n  1) c\n\n  2 passing (3ms)\n'
    expect(given({ stdout: mocha }).result).toBe('unreadable')
    const cargo =
      'running 1 test\ntest a ... ok\ntest b ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n'
    expect(given({ stdout: cargo }).result).toBe('unreadable')
    const go = '=== RUN   TestA\n--- PASS: TestA (0.00s)\n--- PASS: TestB (0.00s)\nPASS\nok  \tx\t0.1s\n'
    expect(given({ stdout: go }).result).toBe('unreadable')
    const jest = 'PASS a.test.js\n  ✓ a (1 ms)\n\nTests:       2 passed, 2 total\n'
    expect(given({ stderr: jest }).result).toBe('unreadable')
  })

  it('[REQ-REPORT-5] a jest summary whose parts are not its total is unreadable', () => {
    expect(given({ stderr: 'Tests:       2 passed, 3 total\n' }).result).toBe('unreadable')
  })

  it('[REQ-REPORT-5] the stream that the runner writes to is believed before the other', () => {
    expect(given({ stdout: VITEST_GREEN, stderr: VITEST_GREEN.replaceAll('3', '9') })).toMatchObject({
      result: 'read',
      report: { passed: 3 },
    })
  })

  it('[REQ-REPORT-5] JSON whose counts are not those of its tests is unreadable', () => {
    const run = recorded('vitest4/json/fail')
    const text = run.reportText ?? ''
    for (const [from, to] of [
      ['"numPassedTests":5', '"numPassedTests":6'],
      ['"numFailedTests":1', '"numFailedTests":0'],
      ['"numTotalTests":6', '"numTotalTests":5'],
      ['"status":"passed","title":"upper"', '"status":"fine","title":"upper"'],
      ['"status":"failed","title":"adds them"', '"status":"passed","title":"adds them"'],
    ] as const) {
      expect(text).toContain(from)
      expect(given({ ...run, reportText: text.replace(from, to) }).result, to).toBe('unreadable')
    }
  })

  it('[REQ-REPORT-5] names of prototypes in JSON are names', () => {
    const text = '{"__proto__":{"numTotalTests":1},"constructor":1,"numTotalTests":0,"testResults":[{"toString":1}]}'
    expect(given({ reportText: text })).toMatchObject({ result: 'read', report: { passed: 0, failed: 0 } })
  })

  it('[REQ-REPORT-5] names do not carry escape sequences, line breaks or marks that turn text around', () => {
    const name = 'a\\u001b[31mred\\u001b[0m\\nb\\u202ec\\u0000'
    const text = `{"numTotalTests":1,"numPassedTests":1,"testResults":[{"name":"/project/a.js","status":"passed","assertionResults":[{"status":"passed","title":"${name}"}]}]}`
    expect(given({ reportText: text })).toMatchObject({ report: { tests: [{ id: 'a.js > ared b c', file: 'a.js' }] } })
  })
})

describe('exit codes', () => {
  it.each([
    ['0 and a failed test', { stdout: '1 failed, 1 passed in 0.02s\n', exitCode: 0 }, '1 tests failed'],
    ['1 and no failed test', { stdout: PYTEST_GREEN, exitCode: 1 }, 'no test failed'],
    ['0 and a file that did not load', { ...recorded('node20/tap/missing'), exitCode: 0 }, 'did not run its tests'],
  ])('[REQ-REPORT-7] %s contradict each other', (_name, input, reason) => {
    expect(given(input)).toMatchObject({ result: 'contradiction', reason: expect.stringContaining(reason) })
  })

  it('[REQ-REPORT-7] exit code 1 agrees with a failed test or a file that did not load, 0 with neither', () => {
    expect(given(recorded('pytest9/default/fail')).result).toBe('read')
    expect(given(recorded('pytest9/default/missing')).result).toBe('read')
    expect(given(recorded('pytest9/default/pass')).result).toBe('read')
  })
})

describe('a report', () => {
  it('[REQ-REPORT-8] that was not written is not replaced by the output', () => {
    expect(given({ stdout: PYTEST_GREEN, reportText: '' })).toMatchObject({
      result: 'unreadable',
      reason: expect.stringContaining('not written'),
    })
    expect(given({ stdout: '1 failed in 0.1s\n', reportText: ' \n', exitCode: 1 }).result).toBe('unreadable')
  })

  it('[REQ-REPORT-8] that was not written because files did not load gives the files, and no counts', () => {
    expect(given({ ...recorded('pytest9/verbose/missing'), reportText: '' })).toMatchObject({
      result: 'read',
      report: {
        passed: 0,
        failed: 0,
        source: 'output',
        loadFailures: [{ kind: 'missing_module', module: 'not_there' }],
      },
    })
  })

  it('[REQ-REPORT-8] decides, whatever the output says', () => {
    const run = recorded('vitest4/json/fail')
    expect(given({ ...run, stdout: VITEST_GREEN })).toMatchObject({
      report: { source: 'report', passed: 5, failed: 1 },
    })
  })

  it('[REQ-REPORT-8] of another runner than the contract says is unreadable', () => {
    expect(given({ ...recorded('vitest4/json/fail'), format: 'jest' }).result).toBe('unreadable')
    expect(given({ ...recorded('mocha11/json/fail'), format: 'vitest' }).result).toBe('unreadable')
  })
})

describe('limits', () => {
  it('[REQ-REPORT-9] tests are counted beyond the number that is listed', () => {
    const count = TESTS_MAX + 5
    const points = Array.from({ length: count }, (_, index) => `ok ${index + 1} - t${index}`)
    const reading = given({ stdout: `TAP version 13\n1..${count}\n${points.join('\n')}\n` })
    expect(reading).toMatchObject({ result: 'read', report: { passed: count, truncated: true, complete: false } })
    expect(reading.result === 'read' && reading.report.tests.length).toBe(TESTS_MAX)
  })

  it('[REQ-REPORT-9] long names are cut, and stay apart', () => {
    const name = 'n'.repeat(3_000)
    const reading = given({ stdout: `TAP version 13\n1..3\nok 1 - ${name}1\nok 2 - ${name}2\nok 3 - ${name}1\n` })
    if (reading.result !== 'read') throw new Error('not read')
    const ids = reading.report.tests.map((test) => test.id)
    expect(new Set(ids).size).toBe(3)
    expect(ids[2]).toBe(`${ids[0]} #2`)
    for (const id of ids) expect(id.length).toBeLessThan(ID_CHARS_MAX + 30)
  })

  it('[REQ-REPORT-9] messages and load failures are bounded', () => {
    const suites = Array.from(
      { length: LOAD_FAILURES_MAX + 50 },
      (_, index) => ` FAIL  f${index}.js [ f${index}.js ]\nError: ${'x'.repeat(2_000)}\n⎯⎯⎯`,
    )
    const stdout = ` Test Files  9 failed (9)\n      Tests  no tests\n`
    const reading = given({ stdout, stderr: `⎯⎯⎯ Failed Suites 9 ⎯⎯⎯\n${suites.join('\n')}`, exitCode: 1 })
    if (reading.result !== 'read') throw new Error('not read')
    expect(reading.report.loadFailures.length).toBe(LOAD_FAILURES_MAX)
    expect(reading.report.truncated).toBe(true)
    for (const { message } of reading.report.loadFailures) expect(message.length).toBeLessThanOrEqual(MESSAGE_CHARS_MAX)
  })

  it('[REQ-REPORT-13] a summary at the end of output that is too long is not believed', () => {
    const log = (chars: number): string => 'log line\n'.repeat(chars / 9)
    expect(given({ stdout: `${log(OUTPUT_CHARS_MAX + 9)}${PYTEST_GREEN}` })).toMatchObject({
      ...{ result: 'unreadable', isCut: true, reason: expect.stringContaining('was cut') },
    })
    expect(given({ stdout: `${log(OUTPUT_CHARS_MAX / 4)}${PYTEST_GREEN}` })).toMatchObject({ report: { passed: 3 } })
  })

  it.each([
    ['a JUnit report', 'pytest9/junit/fail', -30],
    ['the JSON of vitest', 'vitest4/json/fail', -30],
    ['the JSON of jest', 'jest30/json/pass', -1],
    ['the JSON of mocha', 'mocha11/json/fail', -30],
  ])('[REQ-REPORT-13] %s without its end is called cut off', (_what, name, end) => {
    const run = recorded(name)
    const whole = (run.reportText ?? '').trim()
    expect(given({ ...run, reportText: whole.slice(0, end) })).toMatchObject({ result: 'unreadable', isCut: true })
    expect(given({ ...run, reportText: whole }).result).toBe('read')
  })

  it('[REQ-REPORT-13] events of go test -json without the end of their last line are called cut off', () => {
    const run = recorded('go/json/pass')
    expect(given({ ...run, stdout: run.stdout.trimEnd().slice(0, -5) })).toMatchObject({ isCut: true })
    expect(given(run).result).toBe('read')
  })

  it('[REQ-REPORT-9] output that lost its beginning does not lose failures', () => {
    const run = recorded('node20/tap/fail')
    const half = run.stdout.slice(run.stdout.indexOf('# Subtest: upper'))
    expect(given({ ...run, stdout: half, outputCut: true, exitCode: 0 })).toMatchObject({
      result: 'unreadable',
      reason: expect.stringContaining('cut'),
    })
  })

  it('[REQ-REPORT-9] a report that is too long is not read', () => {
    expect(given({ reportText: ' '.repeat(REPORT_CHARS_MAX + 1) }).result).toBe('unreadable')
  })
})
