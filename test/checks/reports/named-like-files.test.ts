import { describe, expect, it } from 'vitest'
import { readReport } from '../../../src/checks/reports/read-report.js'
import type { TestReport } from '../../../src/checks/reports/report.js'

function read(...lines: readonly string[]): TestReport {
  const stdout = `${lines.join('\n')}\n`
  const reading = readReport({ format: 'auto', stdout, stderr: '', reportText: null, exitCode: 1, root: '/project' })
  if (reading.result === 'unreadable') throw new Error(reading.reason)
  return reading.report
}

const counts = ({ passed, failed, tests }: TestReport) => ({ passed, failed, ids: tests.map(({ id }) => id) })
const block = (...fields: readonly string[]): readonly string[] => [
  '  ---',
  ...fields.map((one) => `  ${one}`),
  '  ...',
]
const NODE = ['duration_ms: 1.5', "type: 'test'", "failureType: 'testCodeFailure'"]
const SUMMARY = (fail: number, pass: number) => ['1..2', `# tests 2`, '# suites 0', `# pass ${pass}`, `# fail ${fail}`]
const ELSEWHERE = [...NODE, "location: '/project/test/config.test.js:2:1'", "error: 'boo'"]
const OF_PROCESS = [
  ...NODE,
  "location: '/project/test/a.test.js:1:1'",
  'exitCode: 1',
  'signal: ~',
  "error: 'test failed'",
]

describe('a TAP result that is named like a file', () => {
  it('[REQ-REPORT-15] is a test if it says that it is in another file', () => {
    const report = read(
      'TAP version 13',
      'not ok 1 - src/config.js',
      ...block(...ELSEWHERE),
      'ok 2 - b',
      ...SUMMARY(1, 1),
    )
    expect(counts(report)).toEqual({ passed: 1, failed: 1, ids: ['src/config.js', 'b'] })
    expect(report.loadFailures).toEqual([])
    expect(report.tests[0]).toMatchObject({ file: 'test/config.test.js', message: 'boo' })
  })

  it('[REQ-REPORT-15] is a test if it has subtests', () => {
    const report = read(
      ...['TAP version 13', '# Subtest: src/other.js', '    ok 1 - inner', ...block('duration_ms: 0.2'), '    1..1'],
      ...[
        'ok 1 - src/other.js',
        ...block('duration_ms: 0.4'),
        '1..1',
        '# tests 2',
        '# suites 0',
        '# pass 2',
        '# fail 0',
      ],
    )
    expect(counts(report)).toEqual({ passed: 2, failed: 0, ids: ['src/other.js > inner', 'src/other.js'] })
    expect(report.loadFailures).toEqual([])
  })

  it('[REQ-REPORT-15] of another producer is a test if it says where it is', () => {
    const report = read(
      'TAP version 13',
      'not ok 1 src/a.js',
      ...block('operator: equal', 'at: check (/project/test.js:3:5)'),
      '1..1',
    )
    expect(counts(report)).toEqual({ passed: 0, failed: 1, ids: ['src/a.js'] })
  })

  it('[REQ-REPORT-15] is a file that did not load if it has the exit code of a process', () => {
    const report = read(
      'TAP version 13',
      'not ok 1 - test/a.test.js',
      ...block(...OF_PROCESS),
      'ok 2 - b',
      ...SUMMARY(1, 1),
    )
    expect(counts(report)).toEqual({ passed: 1, failed: 0, ids: ['b'] })
    expect(report.loadFailures).toMatchObject([{ file: 'test/a.test.js', message: 'test failed' }])
  })

  it.each([
    ['not ok 1 - test/a.test.js', 'the file failed, and none of its tests was reported'],
    ['ok 1 - test/a.test.js', 'the file ended without reporting a test'],
  ])(
    '[REQ-REPORT-15] counts as a file that did not load where nothing tells, and the reading says so: %s',
    (line, why) => {
      const report = read('TAP version 13', line, '1..1')
      expect(counts(report)).toEqual({ passed: 0, failed: 0, ids: [] })
      const message = `${why}; read from ${JSON.stringify(line)}, named like a file and without subtests`
      expect(report.loadFailures).toMatchObject([{ file: 'test/a.test.js', kind: 'other', message }])
    },
  )
})

describe('a result of the spec reporter that is named like a file', () => {
  const spec = (file: string) => [
    ...['✖ src/config.js (0.9ms)', '✔ b (0.2ms)', 'ℹ tests 2', 'ℹ suites 0', 'ℹ pass 1', 'ℹ fail 1', 'ℹ cancelled 0'],
    ...['ℹ skipped 0', 'ℹ todo 0', 'ℹ duration_ms 10', '', '✖ failing tests:', '', `test at ${file}:2:1`],
    ...['✖ src/config.js (0.9ms)', '  Error: boo'],
  ]

  it('[REQ-REPORT-15] is a test if it says that it is in another file', () => {
    const report = read(...spec('test/config.test.js'))
    expect(counts(report)).toEqual({ passed: 1, failed: 1, ids: ['src/config.js', 'b'] })
    expect(report.loadFailures).toEqual([])
  })

  it('[REQ-REPORT-15] is a file that did not load if it is in itself', () => {
    const report = read(...spec('src/config.js'))
    expect(counts(report)).toEqual({ passed: 1, failed: 0, ids: ['b'] })
    expect(report.loadFailures).toMatchObject([{ file: 'src/config.js' }])
  })
})
