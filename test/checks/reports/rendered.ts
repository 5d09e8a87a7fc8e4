import type { ReportReading } from '../../../src/checks/reports/report.js'

const MARKS = { passed: '+', failed: '-', skipped: '~', todo: '?' } as const

/** A reading as it stands in expected.txt: everything in it but the messages of failed tests. */
export function rendered(reading: ReportReading): string {
  if (reading.result === 'unreadable') return `  unreadable: ${reading.reason}\n`
  const { report } = reading
  const counts = `${report.passed} passed, ${report.failed} failed, ${report.skipped} skipped`
  return [
    reading.result === 'read' ? '  read' : `  contradiction: ${reading.reason}`,
    `  ${report.format} from the ${report.source}: ${counts}${report.complete ? '' : ', not all listed'}`,
    ...report.tests.map(({ id, status, file }) => `  ${MARKS[status]} ${id}${file === null ? '' : ` @ ${file}`}`),
    ...report.loadFailures.map(
      ({ file, kind, module, message }) =>
        `  ! ${kind} in ${file ?? '?'}${module === null ? '' : ` (${module})`}: ${message}`,
    ),
    '',
  ].join('\n')
}
