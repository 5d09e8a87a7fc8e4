import { readJestJson } from './jest-json.js'
import { asFields, DOCUMENT, type Fields, parseJson } from './json.js'
import { hasJunitStart, readJunit } from './junit.js'
import { isRspecJson, readRspecJson } from './languages/rspec-json.js'
import { isTrx, readTrx } from './languages/trx.js'
import { launchFailure } from './launch.js'
import { isMochaJson, readMochaJson } from './mocha-json.js'
import { READERS, type Streams } from './readers.js'
import {
  makeCutOff,
  makeUnreadable,
  OUTPUT_CHARS_MAX,
  OUTPUT_LINES_MAX,
  REPORT_CHARS_MAX,
  type ReportInput,
  type ReportReading,
  type RunnerFormat,
  type TestFormat,
  type TestReport,
} from './report.js'
import { readReportFiles } from './report-files.js'
import { createTally } from './tally.js'
import { NOTHING, normalizeOutput } from './text.js'

/**
 * The results of a test run, from its report or, without one, from its output. The code under test may have written any
 * of it: docs/test-reports.md says what each format can be made to say.
 */
export function readReport(input: ReportInput): ReportReading {
  const streams = {
    ...{ out: normalizeOutput(input.stdout), err: normalizeOutput(input.stderr) },
    ...{ root: input.root ?? null, goEvents: input.goEvents, runner: input.runner },
  }
  const isCut = streams.out.cut || streams.err.cut || input.outputCut === true
  const { reportFiles = [], format } = input
  const reading =
    reportFiles.length > 0
      ? readReportFiles(reportFiles, streams.root, (text) => readWritten(text.trim(), streams, format))
      : input.reportText === null
        ? refuseCut(readOutput(streams, format), isCut && input.goEvents?.hasSeenAny !== true)
        : readReportFile(input.reportText, streams, format)
  return compareWithExitCode(reading, { ...input, streams })
}

// A complete summary at the end does not show what is missing before it.
function refuseCut(reading: ReportReading, isCut: boolean): ReportReading {
  if (!isCut || (reading.result === 'unreadable' && reading.isCut === true)) return reading
  const found = reading.result === 'unreadable' ? ` (${reading.reason})` : ''
  return makeCutOff(
    `the output is longer than ${OUTPUT_CHARS_MAX} characters or ${OUTPUT_LINES_MAX} lines and was cut${found}`,
  )
}

/** The runner of this output. Output that looks like that of two runners counts for none. */
function readOutput(streams: Streams, format: TestFormat): ReportReading {
  const swapped = { ...streams, out: streams.err, err: streams.out, goEvents: undefined }
  for (const given of [streams, swapped]) {
    const found = new Map<RunnerFormat, ReportReading>()
    for (const reader of READERS) {
      if ((format !== 'auto' && !reader.formats.includes(format)) || found.has(reader.runner)) continue
      const reading = reader.read(given)
      if (reading !== null) found.set(reader.runner, reading)
    }
    const own = [...found].find(([runner]) => runner === streams.runner)
    if (own !== undefined) return own[1]
    const [first, second] = found.keys()
    if (second !== undefined)
      return makeUnreadable(
        `the output looks like that of ${first} and of ${second}: say with \`format\` which one it is`,
      )
    for (const reading of found.values()) return reading
  }
  if (hasJunitStart(streams.out.text)) return makeCutOff('the JUnit report in the output is cut off')
  return readStoppedStart(streams, format) ?? makeUnreadable(formatNothingFound(format))
}

function formatNothingFound(format: TestFormat): string {
  const what = format === 'auto' ? 'no results of tests' : `no results of ${format}`
  return `${what} were found in the output: let the command write a report and name it with \`report\` and \`format\``
}

function readStoppedStart({ out, err, root }: Streams, format: TestFormat): ReportReading | null {
  const launch = launchFailure(err.lines) ?? launchFailure(out.lines)
  if (launch === null || (format !== 'auto' && launch.runner !== null && format !== launch.runner)) return null
  const tally = createTally(root)
  for (const failure of launch.failures) tally.loadFailed(failure)
  return { result: 'read', report: tally.report(launch.runner ?? (format === 'auto' ? 'node' : format)) }
}

function readReportFile(text: string, streams: Streams, format: TestFormat): ReportReading {
  if (text.length > REPORT_CHARS_MAX) return makeCutOff(`the report is longer than ${REPORT_CHARS_MAX} characters`)
  const report = text.replace(/^\ufeff/, '').trim()
  // No fallback to the output: a test that deletes the report would choose what is read.
  if (report === '')
    return readBrokenStart(streams, format) ?? makeUnreadable('the report was not written, or is empty')
  return readWritten(report, streams, format)
}

function readWritten(written: string, { root }: Streams, format: TestFormat): ReportReading {
  const report = written.replace(/^\ufeff/, '')
  const reading = readDocument(report, format, root) ?? readText(report, format, root)
  if (reading.result === 'unreadable') return reading
  return { ...reading, report: { ...reading.report, source: 'report' } }
}

function readText(report: string, format: TestFormat, root: string | null): ReportReading {
  const file = normalizeOutput(report)
  return refuseCut(readOutput({ out: file, err: NOTHING, root }, format), file.cut)
}

/** XML, or one JSON document; null when it is neither. */
function readDocument(report: string, format: TestFormat, root: string | null): ReportReading | null {
  if (report.startsWith('<'))
    return format === 'tap'
      ? makeUnreadable('the report is XML, but the contract says tap')
      : readXmlReport(report, root)
  const document = report.startsWith('{') ? asFields(parseJson(report)) : null
  if (document === null && isCutDocument(report))
    return makeCutOff('the report ends in the middle of its JSON document')
  if (document === null) return null
  const reading = readJsonReport(document, root)
  if (reading.result === 'unreadable' || format === 'auto' || format === reading.report.format) return reading
  return makeUnreadable(`the report is of ${reading.report.format}, but the contract says ${format}`)
}

function readXmlReport(report: string, root: string | null): ReportReading {
  return isTrx(report) ? readTrx(report, root) : readJunit(report, root)
}

function readJsonReport(document: Fields, root: string | null): ReportReading {
  if (isRspecJson(document)) return readRspecJson(document, root)
  return isMochaJson(document) ? readMochaJson(document, root) : readJestJson(document, root)
}

// Whether the text is the beginning of a document without its end. Lines with one document each are read separately.
function isCutDocument(report: string): boolean {
  return DOCUMENT.test(report.slice(0, 64)) && !report.endsWith('}')
}

/** Without a report, or with one that lists no failure, only the reasons why files did not load are used. */
function readBrokenStart(streams: Streams, format: TestFormat): ReportReading | null {
  const reading = readOutput(streams, 'auto')
  if (reading.result === 'unreadable' || reading.report.loadFailures.length === 0) return null
  const { loadFailures, format: runner } = reading.report
  const report = createTally(streams.root).report(format === 'auto' ? runner : format)
  return { result: 'read', report: { ...report, loadFailures } }
}

interface ExitCodeInput extends ReportInput {
  readonly streams: Streams
}

/** Compares the results with the exit code. */
function compareWithExitCode(
  reading: ReportReading,
  { exitCode, reportText, format, streams }: ExitCodeInput,
): ReportReading {
  if (reading.result !== 'read') return reading
  const { report } = reading
  const isClean = report.failed === 0 && report.loadFailures.length === 0
  if (exitCode === 0) return isClean ? reading : makeContradiction(report, 'the command ended with exit code 0')
  if (!isClean) return reading
  // Some reporters leave out files that did not load.
  const broken = reportText === null ? null : readBrokenStart(streams, format)
  if (broken?.result === 'read')
    return { result: 'read', report: { ...report, loadFailures: broken.report.loadFailures } }
  return makeContradiction(report, `the command ended with exit code ${exitCode}`)
}

function makeContradiction(report: TestReport, ending: string): ReportReading {
  const broken = report.loadFailures[0]
  const found =
    report.failed > 0
      ? `${report.failed} tests failed`
      : broken === undefined
        ? 'no test failed'
        : `${broken.file ?? 'a file'} did not run its tests (${broken.message})`
  return { result: 'contradiction', report, reason: `${ending}, but ${found}` }
}
