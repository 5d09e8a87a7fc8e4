import { makeUnreadable, type ReportReading, type TestStatus } from '../report.js'
import { createTally } from '../tally.js'
import { findLastIndex, parseWholeNumber } from '../text.js'

const HEADER = /^PHPUnit (\d{1,3})\.\d{1,3}\S{0,40} by Sebastian Bergmann\b/
const ALL_PASSED = /^OK \((\d{1,9}) tests?, \d{1,9} assertions?\)$/
const SUMMARY = /^Tests: (\d{1,9}), Assertions: \d{1,9}((?:, [A-Za-z ]{1,40}: \d{1,9}){0,12})\.$/
const NONE = /^No tests executed!$/

export function isPhpunitText(lines: readonly string[]): boolean {
  return lines.some((line) => HEADER.test(line))
}

/** The default output of PHPUnit, which names failed tests, and `--testdox`, which names all. */
export function readPhpunitText(lines: readonly string[], root: string | null): ReportReading {
  const end = findLastIndex(lines, (line) => ALL_PASSED.test(line) || SUMMARY.test(line) || NONE.test(line))
  const header = HEADER.exec(lines.find((line) => HEADER.test(line)) ?? '')
  if (end < 0) return makeUnreadable('PHPUnit printed no summary: the run did not end')
  const { total, failed, skipped } = parseCounts(lines[end] ?? '', Number(header?.[1]) < 10)
  const passed = total - failed - skipped
  if (passed < 0) return makeUnreadable('the summary of PHPUnit counts more failed and skipped tests than tests')
  const failing = parseFailing(lines.slice(0, end))
  const listed = parseTestdox(lines.slice(0, end))
  const count = (status: TestStatus): number => listed.filter((one) => one.status === status).length
  const isListed = count('passed') === passed && count('failed') === failed && count('skipped') === skipped
  if (failing.length > failed) return makeUnreadable('more failed tests are listed than PHPUnit counts')
  const tally = createTally(root)
  for (const test of isListed && listed.length > 0 ? listed : failing) tally.add(test)
  return { result: 'read', report: tally.report('phpunit', { passed, failed, skipped }) }
}

// Before PHPUnit 10 a warning was a failed test; since then it is only a remark.
function parseCounts(line: string, isOld: boolean): { total: number; failed: number; skipped: number } {
  const [, tests, rest = ''] = SUMMARY.exec(line) ?? ALL_PASSED.exec(line) ?? []
  const count = (word: string): number => parseWholeNumber(new RegExp(`, ${word}: (\\d{1,9})`).exec(rest)?.[1]) ?? 0
  return {
    total: parseWholeNumber(tests) ?? 0,
    failed: count('Failures') + count('Errors') + (isOld ? count('Warnings') : 0),
    skipped: count('Skipped') + count('Incomplete'),
  }
}

interface ListedTest {
  readonly path: readonly string[]
  readonly status: TestStatus
  readonly file: string | null
  readonly message: string | null
}

const ENTRY_LINES_MAX = 100

/** `1) CalcTest::testAdds` below `There was 1 failure:`. */
function parseFailing(lines: readonly string[]): readonly ListedTest[] {
  const found: ListedTest[] = []
  let isFailure = false
  for (const [index, line] of lines.entries()) {
    const section = /^There (?:was|were) \d{1,9} (?:PHPUnit )?(\w{1,20}?)s?(?: test.{0,40})?:$/.exec(line)
    if (section !== null) isFailure = ['failure', 'error', 'warning'].includes(section[1] ?? '')
    const name = /^\d{1,9}\) ([\w\\]{1,400}::.{1,1000})$/.exec(line)?.[1]
    if (name === undefined || !isFailure) continue
    const below = lines.slice(index + 1, index + ENTRY_LINES_MAX)
    const next = below.findIndex((one) => /^(?:\d{1,9}\) |--$)/.test(one))
    const entry = below.slice(0, next < 0 ? undefined : next)
    const file = entry.flatMap((one) => /^(\/.{1,400}\.php):\d{1,9}$/.exec(one)?.[1] ?? []).at(-1) ?? null
    found.push({ path: [name], status: 'failed', file, message: entry.find((one) => one.trim() !== '') ?? null })
  }
  return found
}

const MARKS: ReadonlyMap<string, TestStatus> = new Map([
  ['✔', 'passed'],
  ['☢', 'passed'],
  ['✘', 'failed'],
  ['↩', 'skipped'],
  ['∅', 'skipped'],
])

/** ` ✔ Adds` below the name of the class. */
function parseTestdox(lines: readonly string[]): readonly ListedTest[] {
  const found: ListedTest[] = []
  const end = lines.findIndex((line) => /^(?:Time: |Summary of (?:non-successful )?tests)/.test(line))
  let group = ''
  for (const [index, line] of lines.slice(0, end < 0 ? lines.length : end).entries()) {
    const [, mark = '', name = ''] = /^ (\S) (.{1,1000})$/u.exec(line) ?? []
    const status = MARKS.get(mark)
    if (/^\S/.test(line)) group = line
    if (status === undefined) continue
    const said = lines.slice(index + 1, index + 4).find((one) => /^ {3}[│┐├] \S/u.test(one))
    found.push({ path: [group, name], status, file: null, message: said?.slice(5) ?? null })
  }
  return found
}
