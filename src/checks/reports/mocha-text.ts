import { makeUnreadable, type ReportReading, type TestStatus } from './report.js'
import { type Counts, createTally } from './tally.js'
import { countIndent, findLastIndex, parseWholeNumber, stripDuration } from './text.js'

const SUMMARY = /^ {2}(\d{1,9}) passing \(\w{1,20}\)\s*$/

export function isMochaText(lines: readonly string[]): boolean {
  return findLastIndex(lines, (line) => SUMMARY.test(line)) >= 0
}

/** The spec reporter; of others that end with the same summary, the counts. */
export function readMochaText(lines: readonly string[], root: string | null): ReportReading {
  const end = findLastIndex(lines, (line) => SUMMARY.test(line))
  const summary = parseSummary(lines, end)
  const messages = parseMessages(lines.slice(end + 1))
  const tally = createTally(root)
  const suites: { readonly indent: number; readonly name: string }[] = []
  for (const line of lines.slice(0, end)) {
    const indent = countIndent(line)
    if (indent < 2 || line.trim() === '') continue
    while ((suites.at(-1)?.indent ?? -1) >= indent) suites.pop()
    const result = parseResult(line.slice(indent))
    if (result === null) suites.push({ indent, name: line.trim() })
    else
      tally.add({
        path: [...suites.map((suite) => suite.name), result.name],
        status: result.status,
        message: messages.get(result.number) ?? null,
      })
  }
  const seen = tally.counts()
  if (tally.total() === 0 && summary.passed + summary.failed + summary.skipped > 0)
    return { result: 'read', report: tally.report('mocha', summary) }
  if (seen.passed !== summary.passed || seen.failed !== summary.failed || seen.skipped !== summary.skipped)
    return makeUnreadable(
      `the summary counts ${summary.passed} passing, ${summary.failed} failing and ${summary.skipped} pending tests, but the lines above it show ${seen.passed}, ${seen.failed} and ${seen.skipped}`,
    )
  return { result: 'read', report: tally.report('mocha') }
}

function parseSummary(lines: readonly string[], index: number): Counts {
  const below = lines.slice(index + 1, index + 3)
  const said = (word: string): number => {
    const line = below.find((one) => one.trimEnd().endsWith(` ${word}`))
    return parseWholeNumber(/^ {2}(\d{1,9}) \w/.exec(line ?? '')?.[1]) ?? 0
  }
  return {
    passed: parseWholeNumber(SUMMARY.exec(lines[index] ?? '')?.[1]) ?? 0,
    skipped: said('pending'),
    failed: said('failing'),
  }
}

interface Result {
  readonly name: string
  readonly status: TestStatus
  readonly number: string
}

function parseResult(text: string): Result | null {
  if (/^[✔✓] /u.test(text)) return { name: stripDuration(text.slice(2)), status: 'passed', number: '' }
  if (text.startsWith('- ')) return { name: text.slice(2).trim(), status: 'skipped', number: '' }
  const failed = /^(\d{1,9})\) /.exec(text)
  if (failed === null) return null
  return { name: text.slice(failed[0].length).trim(), status: 'failed', number: failed[1] ?? '' }
}

const TITLE_LINES_MAX = 20

/** Below the summary: `1) suite`, the rest of the name up to a colon, and the error. */
function parseMessages(lines: readonly string[]): ReadonlyMap<string, string> {
  const messages = new Map<string, string>()
  for (let index = 0; index < lines.length; index++) {
    const number = /^ {2}(\d{1,9})\) /.exec(lines[index] ?? '')?.[1]
    if (number === undefined || messages.has(number)) continue
    const title = lines.slice(index, index + TITLE_LINES_MAX).findIndex((line) => line.trimEnd().endsWith(':'))
    const text = title < 0 ? [] : lines.slice(index + title + 1, index + title + 4)
    messages.set(number, text.map((line) => line.trim()).find((line) => line !== '') ?? '')
  }
  return messages
}
