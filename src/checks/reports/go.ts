import { goCompileErrors } from './compile-errors.js'
import { asFields, type Fields, getText, parseJson } from './json.js'
import { LINE_CHARS_MAX, makeUnreadable, type ReportReading, type TestStatus } from './report.js'
import { createTally, type Tally } from './tally.js'

/** What is known of one package. Tests are kept in the order in which they began. */
interface Package {
  readonly name: string
  readonly tests: Map<string, { status: TestStatus | null; message: string | null }>
  /** A test was seen to begin: without -v only failures are reported. */
  hasBegun: boolean
  verdict: 'ok' | 'failed' | 'none' | null
  /** The note in the package's last line, such as `[build failed]` or `[no tests to run]`. */
  note: string
  output: string[]
}

const OUTPUT_LINES_MAX = 200
const COMPILER_LINES_MAX = 20_000

function makePackage(name: string): Package {
  return { name, tests: new Map(), hasBegun: false, verdict: null, note: '', output: [] }
}

export function isGoJson(lines: readonly string[]): boolean {
  return lines.some((line) => parseEvent(line) !== null)
}

function parseEvent(line: string): Fields | null {
  if (!line.startsWith('{"') || !line.includes('"Action":"')) return null
  const event = asFields(parseJson(line))
  return getText(event, 'Package') !== '' || getText(event, 'ImportPath') !== '' ? event : null
}

/** `go test -json`. Whole lines are needed: `text` is not cut into short ones. */
export function readGoJson(text: string, stderr: readonly string[], root: string | null): ReportReading {
  // Without -json a test may print events itself; with it, no other lines report how packages ended.
  if (/^(?:ok {2}|FAIL)\t/m.test(text))
    return makeUnreadable('the output mixes events of go test -json with plain lines')
  const packages = new Map<string, Package>()
  const compiler: string[] = []
  for (const line of text.split('\n')) {
    const event = parseEvent(line)
    const said = event === null ? line : getText(event, 'Action') === 'build-output' ? getText(event, 'Output') : null
    if (said === null) addEvent(packages, event)
    else if (compiler.length < COMPILER_LINES_MAX) compiler.push(said.slice(0, LINE_CHARS_MAX).trimEnd())
  }
  return reportOf([...packages.values()], [...compiler, ...stderr], root)
}

function addEvent(packages: Map<string, Package>, event: Fields | null): void {
  const name = getText(event, 'Package')
  if (name === '') return
  const one = packages.get(name) ?? makePackage(name)
  packages.set(name, one)
  const action = getText(event, 'Action')
  const test = getText(event, 'Test')
  if (action === 'output') recordOutput(one, test, getText(event, 'Output').trimEnd())
  else if (test !== '') settle(one, test, action)
  else if (action === 'pass') one.verdict = 'ok'
  else if (action === 'fail') one.verdict = 'failed'
  else if (action === 'skip') one.verdict = 'none'
}

function settle(one: Package, test: string, action: string): void {
  const status = action === 'pass' ? 'passed' : action === 'fail' ? 'failed' : action === 'skip' ? 'skipped' : null
  if (status === null && action !== 'run') return
  one.hasBegun ||= action === 'run'
  const message = one.tests.get(test)?.message ?? null
  one.tests.set(test, { status, message })
}

function recordOutput(one: Package, test: string, line: string): void {
  const state = one.tests.get(test)
  if (test === '') {
    one.note = parseNote(line) ?? one.note
    if (one.output.length < OUTPUT_LINES_MAX) one.output.push(line)
  } else if (state?.message === null && line !== '' && !/^\s*(?:===|---) /.test(line)) state.message = line.trim()
}

function parseNote(line: string): string | null {
  return /^(?:ok {2}|FAIL|\? {3})\t.{0,2000}\[([a-z ]{1,40})\]\s*$/.exec(line)?.[1] ?? null
}

const PACKAGE_LINE = /^(ok {2}|FAIL|\? {3})\t(\S{1,400})(.{0,2000})$/

export function isGoText(lines: readonly string[]): boolean {
  return lines.some((line) => PACKAGE_LINE.test(line))
}

/** Why a run of `go test` alone cannot be read. */
export const GO_UNCOUNTED = 'without -json or -v, go test does not count the tests that passed'

/** `go test -v`. Without `-v` the tests that passed are not even counted. */
export function readGoText(lines: readonly string[], stderr: readonly string[], root: string | null): ReportReading {
  const packages: Package[] = []
  let current = makePackage('')
  let running = ''
  for (const line of lines) {
    const started = /^=== RUN {3}(\S.*)$/.exec(line)?.[1]?.trimEnd()
    const result = /^ {0,200}--- (PASS|FAIL|SKIP): (\S.*) \(\d{1,9}\.\d{1,9}s\)\s*$/.exec(line)
    const end = PACKAGE_LINE.exec(line)
    if (started !== undefined) settle(current, started, 'run')
    else if (result !== null) {
      const test = result[2] ?? ''
      // Every result has a beginning; one without was printed by other code.
      if (!current.tests.has(test) && result[1] !== 'FAIL')
        return makeUnreadable(`there is a result of ${JSON.stringify(test.slice(0, 80))}, which never began`)
      settle(current, test, (result[1] ?? '').toLowerCase())
    } else if (end !== null) {
      const verdict = end[1] === 'FAIL' ? 'failed' : end[1] === 'ok  ' ? 'ok' : 'none'
      packages.push({ ...current, name: end[2] ?? '', verdict, note: parseNote(line) ?? '' })
      current = makePackage('')
    } else {
      keepMessage(current, running, line)
      if (current.output.length < OUTPUT_LINES_MAX) current.output.push(line)
    }
    running = started ?? (result === null && end === null ? running : '')
  }
  if (current.tests.size > 0) packages.push(current)
  if (packages.some(isUncounted)) return makeUnreadable(GO_UNCOUNTED)
  return reportOf(packages, [...lines, ...stderr], root)
}

// The output of a test is indented below its first line, with the place in its file.
function keepMessage(one: Package, test: string, line: string): void {
  const state = one.tests.get(test)
  if (state?.message === null && /^\s+\S{1,200}\.go:\d{1,9}: /.test(line)) state.message = line.trim()
}

// A package that ran begins at least one test, or says that there was none.
function isUncounted(one: Package): boolean {
  return one.note === '' && one.verdict !== 'none' && !one.hasBegun
}

function reportOf(packages: readonly Package[], compiler: readonly string[], root: string | null): ReportReading {
  const tally = createTally(root)
  const setup = packages.filter((pkg) => pkg.note === 'setup failed').map((pkg) => pkg.name)
  const build = packages.filter((pkg) => pkg.note === 'build failed').map((pkg) => pkg.name)
  const errors = setup.length + build.length > 0 ? goCompileErrors(compiler, new Set(setup)) : []
  for (const error of errors) tally.loadFailed(error)
  for (const one of packages) addPackage(one, tally)
  if (errors.length === 0)
    for (const name of [...setup, ...build]) tally.loadFailed({ ...BROKEN, message: `${name} could not be built` })
  return { result: 'read', report: tally.report('go') }
}

function addPackage(one: Package, tally: Tally): void {
  for (const [name, { status, message }] of one.tests)
    tally.add({ path: [one.name, name], status: status ?? 'failed', message: status === null ? 'no result' : message })
  const hasFailed = [...one.tests.values()].some(({ status }) => status === 'failed' || status === null)
  if (one.verdict === null) tally.loadFailed({ ...BROKEN, message: `${one.name || 'a package'} did not end` })
  else if (one.verdict === 'ok' && one.tests.size === 0 && one.note !== 'no tests to run')
    tally.loadFailed({ ...BROKEN, message: `${one.name} ended without running a test` })
  else if (one.verdict === 'failed' && !hasFailed && !one.note.endsWith('failed')) {
    const said = one.output.find((line) => line.trim() !== '' && line !== 'FAIL')
    tally.loadFailed({ ...BROKEN, message: `${one.name}: ${said ?? 'failed'}` })
  }
}

const BROKEN = { file: null, kind: 'other', module: null } as const
