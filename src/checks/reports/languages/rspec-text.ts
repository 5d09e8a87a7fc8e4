import { findCause } from '../causes.js'
import { makeUnreadable, type ReportReading, type TestStatus } from '../report.js'
import { createTally, type Tally } from '../tally.js'
import { countIndent, findLastIndex, parseWholeNumber } from '../text.js'

const SUMMARY =
  /^(\d{1,9}) examples?, (\d{1,9}) failures?(?:, (\d{1,9}) pending)?(?:, (\d{1,9}) errors? occurred outside of examples)?$/

export function isRspecText(lines: readonly string[]): boolean {
  return lines.some((line) => SUMMARY.test(line))
}

/** Reads the progress and the documentation format of RSpec. Only the documentation format lists every example. */
export function readRspecText(all: readonly string[], root: string | null): ReportReading {
  const end = findLastIndex(all, (line) => SUMMARY.test(line))
  const [, examples, failures, pending, errors] = SUMMARY.exec(all[end] ?? '') ?? []
  const failed = parseWholeNumber(failures) ?? 0
  const skipped = parseWholeNumber(pending) ?? 0
  const passed = (parseWholeNumber(examples) ?? 0) - failed - skipped
  if (passed < 0) return makeUnreadable('the summary of RSpec counts more failed and pending examples than examples')
  const tally = createTally(root)
  addRspecLoadFailures(all.slice(0, end), tally)
  const failing = parseFailing(all.slice(end))
  const listed = parseDocumentation(all.slice(0, end))
  const count = (status: TestStatus): number => listed.filter((one) => one.status === status).length
  const isListed = count('passed') === passed && count('failed') === failed && count('skipped') === skipped
  for (const { name, status } of isListed ? listed : [...failing.keys()].map((one) => ({ name: one, status: FAILED })))
    tally.add({ path: [name], status, file: failing.get(name) ?? null })
  const report = tally.report('rspec', { passed, failed, skipped })
  if ((parseWholeNumber(errors) ?? 0) > 0 && report.loadFailures.length === 0)
    return makeUnreadable('RSpec counts errors outside of examples and names none')
  return report.tests.filter(({ status }) => status === 'failed').length > failed
    ? makeUnreadable('more failed examples are listed than RSpec counts')
    : { result: 'read', report }
}

const FAILED: TestStatus = 'failed'
const SECTION_LINES_MAX = 60

/** `An error occurred while loading ./spec/a_spec.rb.` and the lines below it. */
export function addRspecLoadFailures(lines: readonly string[], tally: Tally): void {
  for (const [index, line] of lines.entries()) {
    const file = /^An error occurred while loading (\S{1,400}?)\.(?: - .{0,400})?$/.exec(line)?.[1]
    if (file === undefined) continue
    const below = lines.slice(index + 1, index + SECTION_LINES_MAX)
    const next = below.findIndex((one) => one.startsWith('An error occurred '))
    // The source line comes first; the error and its message are below it.
    const text = below.slice(0, next < 0 ? undefined : next)
    const error = text.findIndex((one) => /^[A-Z]\w{0,80}(?:::\w{1,80})*:$/.test(one))
    tally.loadFailed({
      file: file.replace(/^\.\//, ''),
      ...findCause(joinError(text.slice(Math.max(0, error))), 'first'),
    })
  }
}

// `SyntaxError:` is on a separate line above the message.
function joinError([name = '', message = '', ...rest]: readonly string[]): readonly string[] {
  return [`${name} ${message.trim()}`, ...rest]
}

/** `rspec ./spec/a_spec.rb:3 # Calc adds`, below the summary. */
function parseFailing(lines: readonly string[]): ReadonlyMap<string, string> {
  const failing = new Map<string, string>()
  for (const line of lines) {
    const match = /^rspec '?(?:\.\/)?([^\s':[]{1,400})[^\s#]{0,100} # (.{1,2000})$/.exec(line)
    if (match !== null) failing.set((match[2] ?? '').trim(), match[1] ?? '')
  }
  return failing
}

interface ListedExample {
  readonly name: string
  readonly status: TestStatus
}

/** Groups and examples are distinguished by indentation: a line with deeper lines below it is a group. */
function parseDocumentation(lines: readonly string[]): readonly ListedExample[] {
  const end = lines.findIndex((line) => /^(?:Failures:|Pending: |Finished in )/.test(line))
  const shown = lines.slice(0, end < 0 ? lines.length : end).filter((line) => line.trim() !== '')
  const groups: string[] = []
  const found: ListedExample[] = []
  for (const [index, line] of shown.entries()) {
    const depth = countIndent(line) / 2
    if (!Number.isInteger(depth) || depth > groups.length) continue
    groups.length = depth
    const said = line.trim()
    if (countIndent(shown[index + 1] ?? '') > countIndent(line)) groups.push(said)
    else if (depth > 0) found.push(parseExample(groups, said))
  }
  return found
}

function parseExample(groups: readonly string[], said: string): ListedExample {
  const mark = / \((FAILED - \d{1,9}|PENDING: .{0,2000})\)$/.exec(said)
  const name = [...groups, mark === null ? said : said.slice(0, mark.index)].join(' ')
  const status = mark === null ? 'passed' : mark[1]?.startsWith('FAILED') === true ? 'failed' : 'skipped'
  return { name, status }
}
