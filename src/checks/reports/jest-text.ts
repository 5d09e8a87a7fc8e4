import { findCause } from './causes.js'
import { makeUnreadable, type ReportReading, type TestStatus } from './report.js'
import { type Counts, createTally, type Tally } from './tally.js'
import { countIndent, findLastIndex, parseWholeNumber, stripDuration } from './text.js'

const SUMMARY = /^Tests: {2,20}(?:[\d\w, ]{1,200}, )?\d{1,9} total\s*$/

export function isJestText(lines: readonly string[]): boolean {
  return findLastIndex(lines, (line) => SUMMARY.test(line)) >= 0
}

/** The default reporter: it lists every test with `--verbose` or when there is one file, else those that failed. */
export function readJestText(lines: readonly string[], root: string | null): ReportReading {
  const end = findLastIndex(lines, (line) => SUMMARY.test(line))
  const summary = parseSummary(lines[end] ?? '')
  if (summary === null)
    return makeUnreadable('the summary of jest cannot be read, or its parts do not add up to its total')
  // With many files the failures are printed a second time at the end.
  const again = lines.indexOf('Summary of all failing tests')
  const files = parseFiles(lines.slice(0, again < 0 || again > end ? end : again))
  const tally = createTally(root)
  for (const file of files) addTree(file, tally)
  const isListed = tally.total() > 0
  for (const file of files) addDetails(file, { tally, isListed })
  const seen = tally.counts()
  const isSame = seen.passed === summary.passed && seen.failed === summary.failed && seen.skipped === summary.skipped
  if (isListed ? !isSame : seen.failed > summary.failed)
    return makeUnreadable(
      `the summary counts ${summary.passed} passed, ${summary.failed} failed and ${summary.skipped} skipped tests, but the lines above it show ${seen.passed}, ${seen.failed} and ${seen.skipped}`,
    )
  return { result: 'read', report: tally.report('jest', summary) }
}

function parseSummary(line: string): Counts | null {
  const said = new Map<string, number>()
  for (const part of line.slice('Tests:'.length).split(',')) {
    const match = /^(\d{1,9}) (failed|passed|skipped|todo|total)$/.exec(part.trim())
    if (match === null) return null
    said.set(match[2] ?? '', parseWholeNumber(match[1]) ?? 0)
  }
  const [passed = 0, failed = 0, total = 0] = [said.get('passed'), said.get('failed'), said.get('total')]
  const skipped = (said.get('skipped') ?? 0) + (said.get('todo') ?? 0)
  return passed + failed + skipped === total ? { passed, failed, skipped } : null
}

interface File {
  readonly name: string
  readonly hasFailed: boolean
  readonly lines: readonly string[]
}

function parseFiles(lines: readonly string[]): readonly File[] {
  const starts = lines.flatMap((line, index) => (/^(?:PASS|FAIL) \S/.test(line) ? [index] : []))
  return starts.map((start, index) => {
    const head = lines[start] ?? ''
    return {
      name: stripDuration(head.slice('PASS '.length).trim()),
      hasFailed: head.startsWith('FAIL'),
      lines: lines.slice(start + 1, starts[index + 1] ?? lines.length),
    }
  })
}

const STATUS: ReadonlyMap<string, TestStatus> = new Map([
  ['✓', 'passed'],
  ['✕', 'failed'],
  ['○', 'skipped'],
  ['✎', 'todo'],
])

/** The tree below the name of the file, up to the first empty line; suites are lines without a mark. */
function addTree(file: File, tally: Tally): void {
  const told = new Map(parseDetails(file).map(({ name, text }) => [name, text]))
  const suites: { readonly indent: number; readonly name: string }[] = []
  for (const line of file.lines) {
    const indent = countIndent(line)
    const mark = line[indent] ?? ''
    if (line.trim() === '' || indent < 2 || mark === '●') return
    while ((suites.at(-1)?.indent ?? -1) >= indent) suites.pop()
    const status = STATUS.get(mark)
    if (status === undefined) suites.push({ indent, name: line.trim() })
    else {
      const path = [...suites.map((suite) => suite.name), parseName(line.slice(indent + 2), status)]
      const message = status === 'failed' ? findFirstLine(told.get(path.join(' › '))) : null
      tally.add({ path: [file.name, ...path], status, file: file.name, message })
    }
  }
}

function parseName(shown: string, status: TestStatus): string {
  const name = stripDuration(shown)
  if (status === 'skipped' && name.startsWith('skipped ')) return name.slice('skipped '.length)
  return status === 'todo' && name.startsWith('todo ') ? name.slice('todo '.length) : name
}

function findFirstLine(text: readonly string[] | undefined): string | null {
  return text?.find((line) => line !== '') ?? null
}

/**
 * Adds files that did not load and, if tests are not listed, those that failed. A test with two errors is printed
 * twice.
 */
function addDetails(file: File, { tally, isListed }: { readonly tally: Tally; readonly isListed: boolean }): void {
  const told = new Set<string>()
  for (const { name, text } of parseDetails(file)) {
    if (name === 'Test suite failed to run') tally.loadFailed({ file: file.name, ...findCause(text, 'first') })
    else if (!isListed && name !== 'Console' && !told.has(name)) {
      told.add(name)
      const path = [file.name, ...name.split(' › ')]
      tally.add({ path, status: 'failed', file: file.name, message: findFirstLine(text) })
    }
  }
}

interface Detail {
  readonly name: string
  readonly text: readonly string[]
}

const DETAIL_LINES_MAX = 200

/** The text below ` ● suite › test`. */
function parseDetails(file: File): readonly Detail[] {
  if (!file.hasFailed) return []
  const details: { readonly name: string; readonly text: string[] }[] = []
  for (const line of file.lines) {
    const text = details.at(-1)?.text
    if (line.startsWith('  ● ')) details.push({ name: line.slice(4).trim(), text: [] })
    else if (text !== undefined && text.length < DETAIL_LINES_MAX) text.push(line.trim())
  }
  return details
}
