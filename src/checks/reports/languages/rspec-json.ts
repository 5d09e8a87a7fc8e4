import { asFields, countIn, type Fields, get, getText, listIn } from '../json.js'
import { makeUnreadable, type ReportReading, type TestStatus } from '../report.js'
import { createTally } from '../tally.js'
import { splitLines } from '../text.js'
import { addRspecLoadFailures } from './rspec-text.js'

export function isRspecJson(document: Fields): boolean {
  return Array.isArray(get(document, 'examples')) && getText(document, 'summary_line') !== ''
}

const STATUS: ReadonlyMap<string, TestStatus> = new Map([
  ['passed', 'passed'],
  ['failed', 'failed'],
  ['pending', 'skipped'],
])

/** `rspec --format json`. */
export function readRspecJson(document: Fields, root: string | null): ReportReading {
  const tally = createTally(root)
  for (const example of listIn(document, 'examples').map(asFields)) {
    const status = STATUS.get(getText(example, 'status'))
    if (status === undefined) return makeUnreadable('an example of RSpec has no known status')
    const file = getText(example, 'file_path').replace(/^\.\//, '')
    const message = getText(asFields(get(example, 'exception')), 'message')
    tally.add({ path: [file, getText(example, 'full_description')], status, file, message })
  }
  const messages = listIn(document, 'messages').flatMap((one) => (typeof one === 'string' ? splitLines(one) : []))
  addRspecLoadFailures(messages, tally)
  const summary = asFields(get(document, 'summary'))
  const { failed, skipped } = tally.counts()
  const isSame =
    countIn(summary, 'example_count') === tally.total() &&
    countIn(summary, 'failure_count') === failed &&
    countIn(summary, 'pending_count') === skipped
  if (!isSame) return makeUnreadable('the summary of RSpec does not match its list of examples')
  const report = tally.report('rspec')
  const errors = countIn(summary, 'errors_outside_of_examples_count') ?? 0
  if (errors > 0 && report.loadFailures.length === 0)
    return makeUnreadable(`RSpec counts ${errors} errors outside of examples and names none`)
  return { result: 'read', report }
}
