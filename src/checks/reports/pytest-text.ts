import { findCause } from './causes.js'
import { makeUnreadable, type ReportReading, type TestStatus } from './report.js'
import { createTally, type Tally } from './tally.js'
import { findLastIndex, parseWholeNumber } from './text.js'

const PART = '\\d{1,9} (?:subtests )?\\w{1,20}'
const SUMMARY = new RegExp(
  `^(no tests ran|${PART}(?:, ${PART}){0,12}) in \\d{1,9}(?:\\.\\d{1,9})?s(?: \\([\\d:]{1,40}\\))?$`,
)

function extractSummary(line: string): string | null {
  const bare = line.startsWith('=') ? line.replace(/^=+ /, '').replace(/ =+\s*$/, '') : line.trimEnd()
  return SUMMARY.exec(bare)?.[1] ?? null
}

export function isPytestText(lines: readonly string[]): boolean {
  return findLastIndex(lines, (line) => extractSummary(line) !== null || isSessionStart(line)) >= 0
}

function isSessionStart(line: string): boolean {
  return /^=+ test session starts =+\s*$/.test(line)
}

/** Default, quiet and verbose output. Ids of all tests are there with `-v`, or with `-rA` but for skipped ones. */
export function readPytestText(all: readonly string[], root: string | null): ReportReading {
  const end = findLastIndex(all, (line) => extractSummary(line) !== null)
  const summary = parseSummary(extractSummary(all[end] ?? '') ?? '')
  if (summary === null) return makeUnreadable('pytest printed no summary: the run did not end')
  const lines = all.slice(0, end)
  const tally = createTally(root)
  const broken = addCollectionErrors(lines, tally)
  if (broken > summary.errors)
    return makeUnreadable(`the summary counts ${summary.errors} errors, but ${broken} files could not be collected`)
  const listed = parseListed(lines)
  const refused = findDisagreement(listed, summary)
  if (refused !== null) return makeUnreadable(refused)
  for (const [id, { status, message }] of listed.tests) {
    const file = id.slice(0, Math.max(0, id.indexOf('::')))
    tally.add({ path: [id], status, file, message })
  }
  const seen = tally.counts()
  const failed = summary.failed + summary.errors - broken
  // A test that passed and broke afterwards is counted twice in the summary, and failed once.
  const isWhole = listed.isVerbose && listed.tests.size === parseSelectedCount(lines) && seen.failed > 0 === failed > 0
  return {
    result: 'read',
    report: tally.report('pytest', {
      passed: isWhole ? seen.passed : summary.passed,
      failed: isWhole ? seen.failed : failed,
      skipped: Math.max(seen.skipped, summary.skipped),
    }),
  }
}

interface Summary {
  readonly passed: number
  readonly failed: number
  readonly errors: number
  readonly skipped: number
}

function parseSummary(text: string): Summary | null {
  if (text === '') return null
  const said = new Map<string, number>()
  for (const part of text.split(', ')) {
    const match = /^(\d{1,9}) (.{1,40})$/.exec(part)
    if (match !== null) said.set(match[2] ?? '', parseWholeNumber(match[1]) ?? 0)
  }
  const count = (word: string): number => said.get(word) ?? 0
  return {
    passed: count('passed') + count('xpassed'),
    failed: count('failed'),
    errors: count('error') + count('errors'),
    skipped: count('skipped') + count('xfailed'),
  }
}

const STATUS: ReadonlyMap<string, TestStatus> = new Map([
  ['PASSED', 'passed'],
  ['FAILED', 'failed'],
  ['ERROR', 'failed'],
  ['SKIPPED', 'skipped'],
  ['XFAIL', 'todo'],
  ['XPASS', 'passed'],
])

interface ListedTests {
  readonly tests: ReadonlyMap<string, { readonly status: TestStatus; readonly message: string | null }>
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly isVerbose: boolean
}

function parseListed(lines: readonly string[]): ListedTests {
  const verbose = selectProgressLines(lines).flatMap((line) => parseVerboseResult(line) ?? [])
  const short = selectShortSummary(lines).flatMap((line) => parseShortResult(line) ?? [])
  const isVerbose = verbose.length > 0
  const tests = new Map<string, { status: TestStatus; message: string | null }>()
  const counted = { passed: 0, failed: 0, skipped: 0 }
  for (const { id, status } of isVerbose ? verbose : short.filter((result) => !result.isPart)) {
    counted[status === 'todo' ? 'skipped' : status]++
    const before = tests.get(id)
    tests.set(id, { status: before?.status === 'failed' ? 'failed' : status, message: null })
  }
  for (const { id, status, message } of short) {
    const before = tests.get(id)
    if (before !== undefined && status === 'failed')
      tests.set(id, { status: 'failed', message: before.message ?? message })
  }
  return { tests, ...counted, isVerbose }
}

/** The lines in which results come in, before the first section about failures. */
function selectProgressLines(lines: readonly string[]): readonly string[] {
  const start = lines.findIndex(isSessionStart)
  if (start < 0) return []
  const length = lines.slice(start + 1).findIndex((line) => /^={3,} \S.* ={3,}\s*$/.test(line))
  return lines.slice(start + 1, length < 0 ? lines.length : start + 1 + length)
}

function selectShortSummary(lines: readonly string[]): readonly string[] {
  const start = findLastIndex(lines, (line) => /^=+ short test summary info =+\s*$/.test(line))
  return start < 0 ? [] : lines.slice(start + 1)
}

interface Result {
  readonly id: string
  readonly status: TestStatus
}

/** `tests/a.py::test_b PASSED [ 10%]`, or with workers `[gw0] [ 10%] PASSED tests/a.py::test_b`. */
function parseVerboseResult(line: string): Result | null {
  const worker = /^\[gw\d{1,5}\] \[ *\d{1,3}%\] (\w{1,10}) (.*::.*)$/.exec(line)
  if (worker !== null) {
    const status = STATUS.get(worker[1] ?? '')
    return status === undefined ? null : { id: (worker[2] ?? '').trim(), status }
  }
  const shown = stripProgress(line.trimEnd())
  // A skipped test is followed by the reason, which may contain any word: the first status after the id counts.
  const skipped = shown.endsWith(')') ? shown.indexOf(' SKIPPED (') : -1
  const at = skipped >= 0 ? skipped : shown.lastIndexOf(' ')
  const status = skipped >= 0 ? 'skipped' : STATUS.get(shown.slice(at + 1))
  const id = shown.slice(0, Math.max(0, at))
  return status === undefined || !id.includes('::') ? null : { id, status }
}

function stripProgress(line: string): string {
  return line.endsWith('%]') ? line.slice(0, line.lastIndexOf('[')).trimEnd() : line
}

interface ShortResult extends Result {
  readonly message: string | null
  readonly isPart: boolean
}

/** `FAILED tests/a.py::test_b - why`. Parts of tests that failed begin with SUBFAILED. */
function parseShortResult(line: string): ShortResult | null {
  const isPart = line.startsWith('SUBFAILED')
  const gap = isPart ? line.indexOf(' ', Math.max(0, line.indexOf(')'))) : line.indexOf(' ')
  const status = isPart ? 'failed' : STATUS.get(line.slice(0, Math.max(0, gap)))
  if (status === undefined || gap < 0 || !line.includes('::')) return null
  const said = line.slice(gap + 1)
  const dash = findDash(said)
  return {
    id: (dash < 0 ? said : said.slice(0, dash)).trim(),
    status,
    message: dash < 0 ? null : said.slice(dash + 3),
    isPart,
  }
}

// Parameters are in brackets at the end of an id, and may contain a dash.
function findDash(said: string): number {
  const first = said.indexOf(' - ', Math.max(0, said.indexOf('::')))
  const bracket = said.indexOf('[')
  if (bracket < 0 || bracket > first) return first
  const end = said.indexOf('] - ', bracket)
  return end < 0 ? -1 : end + 1
}

function findDisagreement(listed: ListedTests, summary: Summary): string | null {
  const failed = summary.failed + summary.errors
  if (listed.passed <= summary.passed && listed.failed <= failed && listed.skipped <= summary.skipped) return null
  return `the summary counts ${summary.passed} passed, ${failed} failed and ${summary.skipped} skipped tests, but the lines above it show ${listed.passed}, ${listed.failed} and ${listed.skipped}`
}

function parseSelectedCount(lines: readonly string[]): number | null {
  for (const line of lines) {
    const match = /^(?:collecting \.\.\. )?collected (\d{1,9}) items?\b(.{0,200})$/.exec(line)
    if (match !== null) return parseWholeNumber(/ (\d{1,9}) selected/.exec(match[2] ?? '')?.[1] ?? match[1])
    const workers = /^\d{1,5} workers? \[(\d{1,9}) items?\]/.exec(line)
    if (workers !== null) return parseWholeNumber(workers[1])
  }
  return null
}

const SECTION_LINES_MAX = 400

/** `____ ERROR collecting tests/a.py ____` and the traceback below it; returns how many there were. */
function addCollectionErrors(lines: readonly string[], tally: Tally): number {
  let count = 0
  for (const [index, line] of lines.entries()) {
    if (!line.startsWith('__') || !line.includes(' ERROR collecting ')) continue
    const file = line.slice(line.indexOf(' ERROR collecting ') + ' ERROR collecting '.length).replace(/ _+\s*$/, '')
    const text: string[] = []
    for (const below of lines.slice(index + 1, index + 1 + SECTION_LINES_MAX)) {
      if (below.startsWith('____') || below.startsWith('====')) break
      text.push(below)
    }
    count++
    tally.loadFailed({ file, ...findCause(text, 'last') })
  }
  return count
}
