import { findCausesOfFiles, parsePrintedErrors } from './causes.js'
import { makeUnreadable, type ReportReading, type TestStatus } from './report.js'
import { createTally } from './tally.js'
import { isSamePath, isScriptPath, makeNoTestsFailure } from './tap.js'
import { countIndent, findLastIndex, parseWholeNumber, stripDuration } from './text.js'

const SUMMARY = /^ℹ tests (\d{1,9})\s*$/u
const COUNTS = ['tests', 'suites', 'pass', 'fail', 'cancelled', 'skipped', 'todo'] as const

type Summary = Readonly<Record<(typeof COUNTS)[number], number>>

export function isNodeSpec(lines: readonly string[]): boolean {
  const end = findLastIndex(lines, (line) => SUMMARY.test(line))
  return end >= 0 && parseSummary(lines, end) !== null
}

/** The spec reporter of node:test. It does not tell suites from tests with subtests; the summary counts both. */
export function readNodeSpec(lines: readonly string[], root: string | null): ReportReading {
  const end = findLastIndex(lines, (line) => SUMMARY.test(line))
  const summary = parseSummary(lines, end)
  if (summary === null) return makeUnreadable('the summary of node:test cannot be read')
  const points = parsePoints(lines.slice(0, end))
  const refused = findDisagreement(points, summary)
  if (refused !== null) return makeUnreadable(refused)
  const leaves = points.filter((point) => !point.isParent || summary.suites === 0)
  const told = parseMessages(lines.slice(end))
  const files = leaves.filter(({ path: [name = '', ...above], isParent }) => {
    if (above.length > 0 || isParent || !isScriptPath(name)) return false
    return isSamePath(told.get(name)?.file ?? name, name)
  })
  const isFile = new Set(files)
  const tally = createTally(root)
  for (const point of leaves) {
    if (isFile.has(point)) continue
    const { file = null, message = null } = point.status === 'failed' ? (told.get(point.path.at(-1) ?? '') ?? {}) : {}
    // Only suites may fail without being counted: one whose body or hook broke.
    if (point.status === 'failed' && summary.fail + summary.cancelled === 0)
      tally.loadFailed({ file, kind: 'other', module: null, message: message ?? point.path.join(' > ') })
    else tally.add({ path: point.path, status: point.status, file, message })
  }
  const broken = files.filter((point) => point.status === 'failed').map((point) => point.path[0] ?? '')
  findCausesOfFiles(broken, parsePrintedErrors(lines.slice(0, end))).forEach(tally.loadFailed)
  for (const point of files)
    if (point.status !== 'failed') tally.loadFailed(makeNoTestsFailure(point.path[0] ?? '', point.line))
  const passed = summary.pass - files.length + broken.length
  const failed = summary.fail + summary.cancelled - broken.length
  if (passed < 0 || failed < 0) return makeUnreadable('the summary counts fewer results than there are files')
  // A skipped suite hides tests, and does not count as one.
  const skipped = Math.max(summary.skipped, points.filter((point) => point.status === 'skipped').length) + summary.todo
  return { result: 'read', report: tally.report('node', { passed, failed, skipped }) }
}

function parseSummary(lines: readonly string[], index: number): Summary | null {
  const counts: Partial<Record<string, number>> = {}
  for (const [offset, name] of COUNTS.entries()) {
    const match = /^ℹ (\w{1,20}) (\d{1,9})\s*$/u.exec(lines[index + offset] ?? '')
    const count = parseWholeNumber(match?.[2])
    if (match?.[1] !== name || count === null) return null
    counts[name] = count
  }
  return counts as Summary
}

interface Point {
  readonly path: readonly string[]
  readonly status: TestStatus
  readonly isParent: boolean
  readonly line: string
}

const OPEN_MAX = 40

/** `▶ suite` opens a block that the suite's result line at the same depth closes. */
function parsePoints(lines: readonly string[]): readonly Point[] {
  const points: Point[] = []
  const open: { readonly indent: number; readonly name: string }[] = []
  for (const line of lines) {
    const indent = countIndent(line)
    const mark = line[indent] ?? ''
    if (line[indent + 1] !== ' ' || !'▶✔✖﹣⚠'.includes(mark) || mark === '') continue
    const { name, directive } = parseName(line.slice(indent + 2))
    while ((open.at(-1)?.indent ?? -1) > indent) open.pop()
    if (mark === '▶') {
      if (open.length < OPEN_MAX) open.push({ indent, name })
      continue
    }
    const own = open.at(-1)
    const isParent = own?.indent === indent && own.name === name
    if (isParent) open.pop()
    const path = [...open.filter((suite) => suite.indent < indent).map((suite) => suite.name), name]
    points.push({ path, status: toStatus(mark, directive), isParent, line: stripDuration(line.trim()) })
  }
  return points
}

function parseName(shown: string): { readonly name: string; readonly directive: string } {
  const skip = shown.lastIndexOf(' # SKIP')
  const todo = shown.lastIndexOf(' # TODO')
  const at = Math.max(skip, todo)
  return {
    name: stripDuration(at < 0 ? shown : shown.slice(0, at)),
    directive: at < 0 ? '' : at === skip ? 'skip' : 'todo',
  }
}

function toStatus(mark: string, directive: string): TestStatus {
  if (directive === 'todo') return 'todo'
  if (directive === 'skip' || mark === '﹣') return 'skipped'
  return mark === '✔' ? 'passed' : 'failed'
}

function findDisagreement(points: readonly Point[], summary: Summary): string | null {
  if (points.length !== summary.tests + summary.suites)
    return `the summary counts ${summary.tests} tests and ${summary.suites} suites, but ${points.length} lines above it are results`
  const parts = summary.pass + summary.fail + summary.cancelled + summary.skipped + summary.todo
  if (parts !== summary.tests) return `the summary counts ${summary.tests} tests, but ${parts} results`
  const said = summary.fail + summary.cancelled
  const hasFailed = points.some((point) => point.status === 'failed')
  if (said > 0 && !hasFailed) return `the summary counts ${said} failures, but no line above it shows one`
  return said === 0 && hasFailed && summary.suites === 0
    ? 'the summary counts no failure, but lines above it show one'
    : null
}

interface FailureText {
  readonly file: string
  readonly message: string
}

/** Below the summary: `test at file:line:column`, the result line again, and the error. */
function parseMessages(lines: readonly string[]): ReadonlyMap<string, FailureText> {
  const told = new Map<string, FailureText>()
  for (const [index, line] of lines.entries()) {
    const file = /^test at (.{1,400}?):\d{1,9}:\d{1,9}$/.exec(line)?.[1]
    if (file === undefined) continue
    const { name } = parseName((lines[index + 1] ?? '').slice(2))
    if (!told.has(name)) told.set(name, { file, message: (lines[index + 2] ?? '').trim() })
  }
  return told
}
