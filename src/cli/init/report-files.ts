import type { ReportFile } from './project.js'

export const RSPEC_REPORT = 'rspec-report.json'
export const PHPUNIT_REPORT = 'phpunit-report.xml'

/** Where a command writes its results, for runners that write them to files; undefined for all others. */
export function findReportFile(command: string): ReportFile | undefined {
  // What several commands write cannot be told apart.
  if (/[;|&]/.test(command)) return undefined
  if (/(?:^|[\s/])gradlew?\s/.test(command)) return { format: 'junit', report: '**/build/test-results/**/TEST-*.xml' }
  if (/(?:^|[\s/])mvnw?\s/.test(command)) return { format: 'junit', report: findMavenReports(command) }
  if (/\b(?:phpunit|pest|paratest)\b/.test(command)) return nameReport('junit', PHPUNIT_OUT.exec(command))
  if (/\brspec\b/.test(command)) return nameReport('rspec', RSPEC_OUT.exec(command))
  return undefined
}

const PHPUNIT_OUT = /--log-junit[= ]([\w./-]+)/
const RSPEC_OUT = /(?:--format|-f)[= ]?j(?:son)? (?:--out|-o)[= ]?([\w./-]+)/

// Failsafe runs integration tests in later phases, and writes beside Surefire.
function findMavenReports(command: string): string {
  return /\s(?:verify|integration-test|install)\b/.test(command)
    ? '**/target/*-reports/TEST-*.xml'
    : '**/target/surefire-reports/TEST-*.xml'
}

function nameReport(format: ReportFile['format'], found: RegExpExecArray | null): ReportFile | undefined {
  const path = found?.[1]?.replace(/^\.\//, '')
  return path === undefined || path.startsWith('/') || path.split('/').includes('..')
    ? undefined
    : { format, report: path }
}
