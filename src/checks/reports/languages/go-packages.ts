import { goCompileErrors } from '../compile-errors.js'
import type { ReportReading, TestStatus } from '../report.js'
import { createTally, type Tally } from '../tally.js'

/** The results of one package. Tests are in the order in which they began. */
export interface GoPackage {
  readonly name: string
  readonly tests: Map<string, { status: TestStatus | null; message: string | null }>
  /** Whether the output shows the start of a test; without -v it shows only failures. */
  hasBegun: boolean
  verdict: 'ok' | 'failed' | 'none' | null
  /** A note in the package's last line, such as `[build failed]` or `[no tests to run]`. */
  note: string
  output: string[]
  /** The test program said how it ended: without, something ended it before. */
  hasFinished: boolean
  /** Tests whose output has the first line of a panic. */
  readonly panicked: Set<string>
  /** Tests that ended the test program, and are left out where it is run again. */
  readonly leftOut: Set<string>
}

const OUTPUT_LINES_MAX = 200

export function makeGoPackage(name: string): GoPackage {
  return {
    ...{ name, tests: new Map(), hasBegun: false, verdict: null, note: '', output: [] },
    ...{ hasFinished: false, panicked: new Set<string>(), leftOut: new Set<string>() },
  }
}

/**
 * Notes the tests that ended the test program before its other tests ran: those that panicked, or else those without a
 * result. False: it came to its end, or nothing more is known.
 */
export function noteEnders(one: GoPackage): boolean {
  if (one.verdict !== 'failed' || one.hasFinished) return false
  const open = [...one.tests].filter(([, { status }]) => status === null || status === 'failed').map(([name]) => name)
  const panicked = open.filter((name) => one.panicked.has(name))
  const enders = panicked.length > 0 ? panicked : open.filter((name) => one.tests.get(name)?.status === null)
  const found = enders.map(parseTopLevel).filter((name) => !one.leftOut.has(name))
  for (const name of found) one.leftOut.add(name)
  return found.length > 0
}

/** Adds what another run of the same package says about tests that had no result. What failed stays failed. */
export function addContinued(one: GoPackage, next: GoPackage): void {
  for (const [name, state] of next.tests) {
    const before = one.tests.get(name)
    const hadNone = before === undefined || (before.status === null && !one.leftOut.has(parseTopLevel(name)))
    if (hadNone || (before.status !== 'failed' && state.status !== 'passed')) one.tests.set(name, state)
  }
  one.hasFinished = next.verdict !== 'failed' || next.hasFinished
  one.panicked.clear()
  for (const name of next.panicked) one.panicked.add(name)
}

function parseTopLevel(test: string): string {
  return test.split('/')[0] ?? ''
}

/** Records what an event or an output line says about a test. */
export function settleGoTest(one: GoPackage, test: string, action: string): void {
  const status = action === 'pass' ? 'passed' : action === 'fail' ? 'failed' : action === 'skip' ? 'skipped' : null
  if (status === null && action !== 'run') return
  one.hasBegun ||= action === 'run'
  const message = one.tests.get(test)?.message ?? null
  one.tests.set(test, { status, message })
}

export function keepOutput(one: GoPackage, line: string): void {
  if (one.output.length < OUTPUT_LINES_MAX) one.output.push(line)
}

export function parseGoNote(line: string): string | null {
  return /^(?:ok {2}|FAIL|\? {3})\t.{0,2000}\[([a-z ]{1,40})\]\s*$/.exec(line)?.[1] ?? null
}

export function reportGoPackages(
  packages: readonly GoPackage[],
  compiler: readonly string[],
  root: string | null,
): ReportReading {
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

function addPackage(one: GoPackage, tally: Tally): void {
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
