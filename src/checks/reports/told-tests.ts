import type { SecondReport } from '../observed-runs/second-report.js'
import type { TestReport, TestStatus } from './report.js'
import { createTally } from './tally.js'

/**
 * The report with the tests that pytest did not print (`-q` prints only failures), as the runner reported them itself.
 * If the two do not add up, the report stays unchanged.
 */
export function addToldTests(report: TestReport, told: readonly SecondReport[]): TestReport {
  const own = told.filter(({ runner }) => runner === 'pytest')
  if (report.format !== 'pytest' || report.complete || report.truncated || own.length !== 1 || !own[0]?.hasEnded)
    return report
  const statuses = new Map<string, TestStatus>()
  for (const { id, status, isParent } of own[0].tests) {
    if (id === null || statuses.get(id) === 'failed') continue
    // Parts of a test come before the test itself, and one that is expected to fail counts as to do.
    statuses.set(id, status === 'skipped' && isParent ? 'todo' : status)
  }
  const listed = new Set(report.tests.map(({ id }) => id))
  const tally = createTally(null)
  for (const { id, ...test } of report.tests) tally.add({ path: [id], ...test })
  for (const [id, status] of statuses)
    if (!listed.has(id) && status !== 'failed') tally.add({ path: [id], status, file: id.split('::')[0] ?? null })
  const whole = tally.report('pytest', report)
  return whole.complete ? { ...report, tests: whole.tests, complete: true } : report
}
