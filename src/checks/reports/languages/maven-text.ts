import { parseJavaErrors } from '../compile-errors.js'
import { makeUnreadable, type ReportReading } from '../report.js'
import { createTally } from '../tally.js'
import { parseWholeNumber } from '../text.js'

const COUNTS =
  /^(?:\[\w{4,7}\] )?Tests run: (\d{1,9}), Failures: (\d{1,9}), Errors: (\d{1,9}), Skipped: (\d{1,9})(, Time elapsed: .{1,400})?$/

export function isMavenText(lines: readonly string[]): boolean {
  return lines.some((line) => COUNTS.test(line))
}

/**
 * The output of Surefire and Failsafe. Each module ends with the sums of its classes; the modules are added up. Passed
 * tests have no names here; the XML files (`report: "**\/surefire-reports/TEST-*.xml"`) name all of them.
 */
export function readMavenText(lines: readonly string[], root: string | null): ReportReading {
  const classes = { ...NOTHING }
  const modules = { ...NOTHING }
  const tally = createTally(root)
  let isListing = false
  for (const line of lines) {
    const match = COUNTS.exec(line)
    if (match !== null) add(match[5] === undefined ? modules : classes, match)
    isListing = /^\[ERROR\] (?:Failures|Errors): ?$/.test(line) || (isListing && line.startsWith('[ERROR]   '))
    const [, name, message] = (isListing && /^\[ERROR\] {3}(\S{1,400}?)(?::\d{1,9})? (.{1,2000})$/.exec(line)) || []
    if (name !== undefined)
      tally.add({ path: [name.split('->')[0] ?? name], status: 'failed', message: message ?? null })
  }
  if (modules.run !== classes.run || modules.failed !== classes.failed || modules.skipped !== classes.skipped)
    return makeUnreadable(
      `the modules count ${modules.run} tests and ${modules.failed} failed, but their classes ${classes.run} and ${classes.failed}: output is missing, or tests were run more than once`,
    )
  for (const failure of parseJavaErrors(lines)) tally.loadFailed(failure)
  const { run, failed, skipped } = modules
  if (tally.total() > failed || failed + skipped > run)
    return makeUnreadable('more failed tests are listed than Maven counts')
  return { result: 'read', report: tally.report('maven', { passed: run - failed - skipped, failed, skipped }) }
}

const NOTHING = { run: 0, failed: 0, skipped: 0 }

function add(sums: { run: number; failed: number; skipped: number }, match: RegExpExecArray): void {
  const [run = 0, failures = 0, errors = 0, skipped = 0] = match.slice(1, 5).map((text) => parseWholeNumber(text) ?? 0)
  sums.run += run
  sums.failed += failures + errors
  sums.skipped += skipped
}
