import { makeCutOff, makeUnreadable, REPORT_CHARS_MAX, type ReportFile, type ReportReading } from './report.js'
import { createTally } from './tally.js'

const OUTPUT_FOLDER = /(?:^|\/)(?:target|build|out|bin|TestResults)(?:\/|$)/

/**
 * Combines several report files, such as those that Maven and Gradle write per class and module: adds up the counts,
 * and names every test by the folder of its module. If one file cannot be read, none counts.
 */
export function readReportFiles(
  files: readonly ReportFile[],
  root: string | null,
  readOne: (text: string) => ReportReading,
): ReportReading {
  if (files.reduce((sum, { text }) => sum + text.length, 0) > REPORT_CHARS_MAX)
    return makeCutOff(`the reports are longer than ${REPORT_CHARS_MAX} characters`)
  const tally = createTally(root)
  const sums = { passed: 0, failed: 0, skipped: 0 }
  let isCut = false
  let format = null
  for (const { path, text } of files) {
    const reading = text.trim() === '' ? makeCutOff('the file is empty') : readOne(text)
    if (reading.result !== 'read') return { ...reading, reason: `${path}: ${reading.reason}` }
    const { report } = reading
    format ??= report.format
    if (format !== report.format)
      return makeUnreadable(`${path} is of ${report.format}, but other reports are of ${format}`)
    for (const status of ['passed', 'failed', 'skipped'] as const) sums[status] += report[status]
    isCut ||= report.truncated
    const module = findModule(path)
    for (const { id, ...test } of report.tests) tally.add({ path: [module, id], ...test })
    for (const failure of report.loadFailures) tally.loadFailed(failure)
  }
  if (format === null) return makeUnreadable('no report was written')
  const whole = tally.report(format, sums)
  return { result: 'read', report: { ...whole, source: 'report', truncated: whole.truncated || isCut } }
}

/** The folder of the report's module, because tests of two modules may have the same name. */
function findModule(path: string): string {
  const folder = path.slice(0, Math.max(0, path.lastIndexOf('/')))
  const output = OUTPUT_FOLDER.exec(folder)
  return output === null ? folder : folder.slice(0, output.index)
}
