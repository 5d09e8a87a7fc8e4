import { makeCutOff, makeUnreadable, type ReportReading, type TestStatus } from '../report.js'
import { createTally } from '../tally.js'
import { parseWholeNumber } from '../text.js'
import { type Attributes, readXml, XML_CUT, type XmlReader } from '../xml.js'

/** Whether an XML document is a TRX report of `dotnet test`. */
export function isTrx(text: string): boolean {
  return /^(?:<\?xml[^>]{0,200}\?>)?\s{0,200}<TestRun[\s>]/.test(text.slice(0, 600))
}

/** `dotnet test --logger trx`. */
export function readTrx(text: string, root: string | null): ReportReading {
  const reader = new TrxReader()
  const problem = readXml(text, reader)
  if (problem === XML_CUT) return makeCutOff(`the TRX report is cut off: ${problem}`)
  if (problem !== null) return makeUnreadable(`the TRX report cannot be relied on: ${problem}`)
  const tally = createTally(root)
  for (const { testId, name, status, message } of reader.results) {
    const className = reader.classes.get(testId) ?? ''
    const short = name.startsWith(`${className}.`) ? name.slice(className.length + 1) : name
    tally.add({ path: [className, short], status, message })
  }
  for (const message of reader.errors) tally.loadFailed({ file: null, kind: 'other', module: null, message })
  const { passed, failed } = tally.counts()
  const { counters } = reader
  const isSame =
    counters !== null &&
    parseWholeNumber(counters.get('total')) === tally.total() &&
    parseWholeNumber(counters.get('passed')) === passed &&
    FAILED_COUNTERS.reduce((sum, one) => sum + (parseWholeNumber(counters.get(one)) ?? 0), 0) === failed
  return isSame
    ? { result: 'read', report: tally.report('trx') }
    : makeUnreadable('the TRX report cannot be relied on: its counters do not match its results')
}

const FAILED_COUNTERS = ['failed', 'error', 'timeout', 'aborted'] as const

interface TrxResult {
  readonly testId: string
  readonly name: string
  readonly status: TestStatus
  message: string | null
}

const MESSAGE_CHARS_MAX = 2000

// Results come before the definitions that name their classes.
class TrxReader implements XmlReader {
  readonly results: TrxResult[] = []
  readonly classes = new Map<string, string>()
  readonly errors: string[] = []
  counters: Attributes | null = null
  #definition = ''
  /** Nested results are rows of the outer one; only the outer one is counted. */
  #depth = 0
  #text: string | null = null
  #isError = false

  open(name: string, attributes: Attributes): void {
    if (name === 'UnitTestResult') {
      this.#depth += 1
      if (this.#depth === 1) this.results.push(toResult(attributes))
    } else if (name === 'UnitTest') this.#definition = attributes.get('id') ?? ''
    else if (name === 'TestMethod') this.classes.set(this.#definition, extractClass(attributes.get('className') ?? ''))
    else if (name === 'Counters') this.counters = attributes
    else if (name === 'RunInfo') this.#isError = attributes.get('outcome') === 'Error'
    else if (name === 'Message' || name === 'Text') this.#text = ''
  }

  text(text: string): void {
    if (this.#text !== null) this.#text = (this.#text + text).slice(0, MESSAGE_CHARS_MAX)
  }

  close(name: string): void {
    if (name === 'UnitTestResult') this.#depth -= 1
    else if (name === 'RunInfo') this.#isError = false
    else if (name === 'Message' || name === 'Text') {
      const result = this.results.at(-1)
      if (name === 'Message' && this.#depth > 0 && result !== undefined) result.message ??= this.#text
      else if (name === 'Text' && this.#isError) this.errors.push(this.#text ?? '')
      this.#text = null
    }
  }
}

function toResult(attributes: Attributes): TrxResult {
  const outcome = attributes.get('outcome') ?? ''
  const isLeftOut = ['NotExecuted', 'NotRunnable', 'Pending', 'Inconclusive'].includes(outcome)
  return {
    testId: attributes.get('testId') ?? '',
    name: attributes.get('testName') ?? '',
    status: outcome === 'Passed' ? 'passed' : isLeftOut ? 'skipped' : 'failed',
    message: null,
  }
}

// MSTest adds the assembly: `Example.CalcTest, Example, Version=…`.
function extractClass(name: string): string {
  return name.split(',')[0] ?? ''
}
