import { findCause } from './causes.js'
import { type LoadFailure, makeCutOff, makeUnreadable, type ReportReading, type TestStatus } from './report.js'
import { createTally, type Tally } from './tally.js'
import { isScriptPath, makeNoTestsFailure } from './tap.js'
import { parseWholeNumber, splitLines, toRelativePath } from './text.js'
import { type Attributes, readXml, XML_CUT, type XmlReader } from './xml.js'

/** The document in the output of a command: some reporters print it among other text. */
export function extractJunit(text: string): string | null {
  const start = JUNIT_START.exec(text)
  if (start === null) return null
  const root = text.indexOf('<testsuites', start.index) >= 0 ? '</testsuites>' : '</testsuite>'
  const end = text.lastIndexOf(root)
  return end < start.index ? null : text.slice(start.index, end + root.length).trimStart()
}

const JUNIT_START = /(?:^|\n)(?=(?:<\?xml[^>\n]{0,200}\?>\s{0,200})?<testsuites?[\s>/])/

/** Whether a document begins in what a command printed. */
export function hasJunitStart(text: string): boolean {
  return JUNIT_START.test(text)
}

export function readJunit(text: string, root: string | null): ReportReading {
  const tally = createTally(root)
  const reader = new JunitReader(tally, root)
  const problem = readXml(text.trim(), reader) ?? reader.problem
  if (problem === XML_CUT) return makeCutOff(`the JUnit report is cut off: ${problem}`)
  if (problem !== null) return makeUnreadable(`the JUnit report cannot be relied on: ${problem}`)
  return { result: 'read', report: tally.report('junit') }
}

interface Suite {
  readonly name: string
  readonly attributes: Attributes
  readonly isRoot: boolean
  cases: number
  suites: number
  /** Including those of nested suites. */
  allCases: number
  failed: number
  failedTodo: number
}

interface Case {
  readonly attributes: Attributes
  failure: Outcome | null
  skipped: Attributes | null
}

interface Outcome {
  readonly message: string
  text: string
}

const FAILURE_CHARS_MAX = 20_000

// Handles the events of an XML parser, one element after the other.
class JunitReader implements XmlReader {
  problem: string | null = null
  private readonly suites: Suite[] = []
  private current: Case | null = null
  private listening: Outcome | null = null
  private seenRoot = false

  constructor(
    private readonly tally: Tally,
    private readonly root: string | null,
  ) {}

  open(name: string, attributes: Attributes): void {
    if (!this.seenRoot && name !== 'testsuites' && name !== 'testsuite')
      this.problem ??= `its root is <${name.slice(0, 40)}>`
    const isRoot = !this.seenRoot && name === 'testsuites'
    this.seenRoot = true
    if (name === 'testsuites' || name === 'testsuite') this.openSuite(attributes, isRoot)
    else if (name === 'testcase') this.current = { attributes, failure: null, skipped: null }
    else if (this.current === null) return
    else if (name === 'skipped') this.current.skipped = attributes
    else if (name === 'failure' || name === 'error') {
      this.listening = { message: attributes.get('message') ?? '', text: '' }
      this.current.failure ??= this.listening
    }
  }

  text(text: string): void {
    const heard = this.listening
    if (heard !== null && heard.text.length < FAILURE_CHARS_MAX)
      heard.text += text.slice(0, FAILURE_CHARS_MAX - heard.text.length)
  }

  close(name: string): void {
    if (name === 'failure' || name === 'error') this.listening = null
    else if (name === 'testcase' && this.current !== null) {
      this.closeCase(this.current)
      this.current = null
    } else if (name === 'testsuites' || name === 'testsuite') this.closeSuite()
  }

  private openSuite(attributes: Attributes, isRoot: boolean): void {
    const outer = this.suites.at(-1)
    if (outer !== undefined) outer.suites++
    const name = isRoot ? '' : (attributes.get('name') ?? '')
    this.suites.push({ name, attributes, isRoot, cases: 0, suites: 0, allCases: 0, failed: 0, failedTodo: 0 })
  }

  private closeSuite(): void {
    const suite = this.suites.pop()
    if (suite === undefined) return
    this.problem ??= findDisagreement(suite)
    const outer = this.suites.at(-1)
    if (outer === undefined) return
    outer.allCases += suite.allCases
    outer.failed += suite.failed
    outer.failedTodo += suite.failedTodo
  }

  private closeCase(test: Case): void {
    const suite = this.suites.at(-1)
    if (suite === undefined) return
    const status = toStatus(test)
    suite.cases++
    suite.allCases++
    if (status === 'failed') suite.failed++
    if (status === 'todo' && test.failure !== null) suite.failedTodo++
    const broken = loadFailureOf(test, status, suite)
    if (broken !== null) this.tally.loadFailed(broken)
    else
      this.tally.add({
        path: this.buildPath(test, suite),
        status,
        file: findFile(test, suite),
        message: test.failure === null ? null : test.failure.message || takeFirstWords(test.failure.text),
      })
  }

  private buildPath({ attributes }: Case, suite: Suite): readonly string[] {
    const name = attributes.get('name') ?? ''
    const className = attributes.get('classname') ?? ''
    const file = attributes.get('file') ?? ''
    const isSaid = className === name || className === suite.name || className === 'test'
    return [
      toRelativePath(file.slice(0, 4_000), this.root),
      // PHPUnit calls its outermost suite after the folder.
      ...this.suites.map((one) =>
        one.name.startsWith('/') ? toRelativePath(one.name.slice(0, 4_000), this.root) : one.name,
      ),
      isSaid ? '' : className,
      name,
    ]
  }
}

// Without the stack: the message is above it.
function takeFirstWords(text: string): string {
  const stack = text.search(/\n\s{1,40}at /)
  return text.slice(0, stack < 0 ? 2_000 : stack)
}

function toStatus({ attributes, failure, skipped }: Case): TestStatus {
  const why = skipped?.get('type')
  if (why === 'todo' || why === 'pytest.xfail') return 'todo'
  if (failure !== null) return 'failed'
  const isLeftOut = ['notrun', 'disabled', 'skipped'].includes(attributes.get('status') ?? '')
  return skipped !== null || isLeftOut ? 'skipped' : 'passed'
}

function findFile({ attributes }: Case, suite: Suite): string | null {
  const className = attributes.get('classname') ?? ''
  const suiteFile = suite.attributes.get('file') ?? suite.attributes.get('filepath')
  return attributes.get('file') ?? suiteFile ?? (isScriptPath(className) ? className : null)
}

/** vitest, pytest and node:test each report a file that did not load as a test, in different ways. */
function loadFailureOf(test: Case, status: TestStatus, suite: Suite): LoadFailure | null {
  const name = test.attributes.get('name') ?? ''
  const className = test.attributes.get('classname') ?? ''
  if (className === '' && test.failure?.message.startsWith('collection failure') === true) {
    const file = `${name.replaceAll('.', '/')}.py`
    return { file, ...findCause(splitLines(test.failure.text), 'last') }
  }
  const isFile = isScriptPath(name) && (name === className || (suite.isRoot && className === 'test'))
  if (!isFile || status === 'skipped' || status === 'todo') return null
  if (test.failure === null) return makeNoTestsFailure(name, null)
  const text = [test.failure.message, ...splitLines(test.failure.text)]
  return { file: name, ...findCause(text, 'first') }
}

/**
 * Attributes that count something other than the entries of the suite. Nested suites count as one test or as their
 * tests.
 */
function findDisagreement(suite: Suite): string | null {
  const tests = parseWholeNumber(suite.attributes.get('tests'))
  const called = suite.isRoot ? 'the report' : `the suite ${JSON.stringify(suite.name.slice(0, 80))}`
  // pytest counts every part of a test that reports separately, but writes one test case.
  const mayCountMore = suite.name === 'pytest' && tests !== null && tests > suite.allCases
  if (tests !== null && tests !== suite.allCases && tests !== suite.cases + suite.suites && !mayCountMore)
    return `${called} says ${tests} tests and has ${suite.allCases}`
  const failures = parseWholeNumber(suite.attributes.get('failures'))
  const errors = parseWholeNumber(suite.attributes.get('errors'))
  if (failures === null && errors === null) return null
  const said = (failures ?? 0) + (errors ?? 0)
  if (said === 0 && suite.failed > 0) return `${called} says that nothing failed and has ${suite.failed} failed tests`
  return said > 0 && suite.failed + suite.failedTodo === 0
    ? `${called} says ${said} failures and has no failed test`
    : null
}
