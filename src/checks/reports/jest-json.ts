import { findCause } from './causes.js'
import { asFields, countIn, type Fields, get, getText, listIn } from './json.js'
import { type LoadFailure, makeUnreadable, type ReportReading, type TestStatus } from './report.js'
import { createTally, type Tally } from './tally.js'
import { normalizeOutput, toRelativePath } from './text.js'

/** The JSON of jest, and of vitest, which writes nearly the same. */
export function detectJestJsonRunner(document: Fields): 'jest' | 'vitest' | null {
  if (!Array.isArray(get(document, 'testResults')) || countIn(document, 'numTotalTests') === null) return null
  return get(document, 'numRuntimeErrorTestSuites') === undefined ? 'vitest' : 'jest'
}

export function readJestJson(document: Fields, root: string | null): ReportReading {
  const runner = detectJestJsonRunner(document)
  if (runner === null)
    return makeUnreadable('the JSON has no numTotalTests and testResults: it is not from jest or vitest')
  const tally = createTally(root)
  const reading = { tally, root, runner, lost: 0 }
  for (const entry of listIn(document, 'testResults')) {
    const file = asFields(entry)
    if (file === null) return makeUnreadable('testResults has an entry that is not an object')
    const unknown = readFile(file, reading)
    if (unknown !== null) return makeUnreadable(unknown)
  }
  const refused = findDisagreement(document, reading)
  return refused === null ? { result: 'read', report: tally.report(runner) } : makeUnreadable(refused)
}

interface Reading {
  readonly tally: Tally
  readonly root: string | null
  readonly runner: 'jest' | 'vitest'
  /** Tests without a result: vitest counts them only in the total. */
  lost: number
}

/** Null, or the unknown status. */
function readFile(file: Fields, reading: Reading): string | null {
  const { tally, root, runner } = reading
  const name = getText(file, 'name')
  let failed = 0
  for (const entry of listIn(file, 'assertionResults')) {
    const test = asFields(entry)
    const status = toStatus(getText(test, 'status'), runner)
    if (status === null) return `the status ${JSON.stringify(getText(test, 'status').slice(0, 40))} is not known`
    if (status === 'failed') failed++
    if (status === 'failed' && getText(test, 'status') === 'pending') reading.lost++
    const said = listIn(test, 'failureMessages')[0]
    tally.add({
      path: [toRelativePath(name, root), ...listAncestors(test), getText(test, 'title')],
      status,
      file: name,
      message: typeof said === 'string' ? takeFirstParagraph(said) : 'no result',
    })
  }
  if (getText(file, 'status') === 'failed' && failed === 0)
    tally.loadFailed(makeLoadFailure(name, getText(file, 'message')))
  return null
}

// In vitest a test is `pending` when its worker died before it; in jest it is one that was left out.
function toStatus(status: string, runner: 'jest' | 'vitest'): TestStatus | null {
  switch (status) {
    case 'passed':
    case 'failed':
    case 'skipped':
    case 'todo':
      return status
    case 'pending':
      return runner === 'jest' ? 'skipped' : 'failed'
    case 'disabled':
      return 'skipped'
    default:
      return null
  }
}

function listAncestors(test: Fields | null): readonly string[] {
  return listIn(test, 'ancestorTitles').filter((title) => typeof title === 'string')
}

function takeFirstParagraph(message: string): string {
  const end = message.indexOf('\n    at ')
  return message.slice(0, end < 0 ? 2_000 : Math.min(end, 2_000))
}

function makeLoadFailure(file: string, message: string): LoadFailure {
  const lines = normalizeOutput(message.slice(0, 100_000)).lines.filter(
    (line) => !line.includes('● Test suite failed to run'),
  )
  const cause = findCause(lines, 'first')
  return { file, ...cause, message: cause.message || 'the file failed, and none of its tests did' }
}

function findDisagreement(document: Fields, { tally, lost }: Reading): string | null {
  const said = (name: string): number => countIn(document, name) ?? 0
  const { passed, failed, skipped } = tally.counts()
  const left = said('numPendingTests') + said('numTodoTests')
  if (said('numTotalTests') !== tally.total())
    return `the summary counts ${said('numTotalTests')} tests, but ${tally.total()} are listed`
  if (said('numPassedTests') !== passed)
    return `the summary counts ${said('numPassedTests')} passed tests, but ${passed} are listed`
  if (said('numFailedTests') !== failed - lost)
    return `the summary counts ${said('numFailedTests')} failed tests, but ${failed - lost} are listed`
  return left === skipped ? null : `the summary counts ${left} skipped tests, but ${skipped} are listed`
}
