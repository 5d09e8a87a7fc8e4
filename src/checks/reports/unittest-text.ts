import { findCause } from './causes.js'
import { makeUnreadable, type ReportReading, type TestStatus } from './report.js'
import { createTally } from './tally.js'
import { findLastIndex, parseWholeNumber } from './text.js'

const RAN = /^Ran (\d{1,9}) tests? in \d{1,9}(?:\.\d{1,9})?s\s*$/

export function isUnittestText(lines: readonly string[]): boolean {
  return findLastIndex(lines, (line) => RAN.test(line)) >= 0
}

/** Python's unittest. It lists what failed; with `-v` every test. */
export function readUnittestText(all: readonly string[], root: string | null): ReportReading {
  const end = findLastIndex(all, (line) => RAN.test(line))
  const ran = parseWholeNumber(RAN.exec(all[end] ?? '')?.[1])
  const verdict = parseVerdict(all, end)
  if (ran === null || verdict === null) return makeUnreadable('unittest printed no result: the run did not end')
  const lines = all.slice(0, end)
  const sections = parseSections(lines, root)
  if (sections.filter((one) => one.isFail).length !== verdict.failures)
    return makeUnreadable(
      `the last line counts ${verdict.failures} failures, but the sections above it show another number`,
    )
  if (sections.filter((one) => !one.isFail).length !== verdict.errors)
    return makeUnreadable(
      `the last line counts ${verdict.errors} errors, but the sections above it show another number`,
    )
  const tally = createTally(root)
  const broken = sections.filter((one) => one.isLoad || one.isFixture)
  for (const section of broken) tally.loadFailed({ file: section.file, ...findCause(section.text, 'last') })
  const failed = new Map(sections.flatMap((one) => (broken.includes(one) ? [] : [[one.id, one]])))
  const counts = {
    // A test with several failed parts has as many sections but is one test; a class whose set-up failed is none.
    passed: ran - failed.size - verdict.surprises - verdict.skipped - broken.filter((one) => one.isLoad).length,
    failed: failed.size + verdict.surprises,
    skipped: verdict.skipped,
  }
  const listed = parseListed(lines)
  for (const [id, status] of listed.size > 0
    ? listed
    : new Map([...failed.keys()].map((one) => [one, 'failed' as const])))
    tally.add({ path: [id], status, file: failed.get(id)?.file ?? null, message: extractMessage(failed.get(id)) })
  const seen = tally.counts()
  if (seen.passed > Math.max(0, counts.passed) || seen.failed > counts.failed || seen.skipped > counts.skipped)
    return makeUnreadable(`the last line and the ${tally.total()} lines above it count different results`)
  return { result: 'read', report: tally.report('unittest', { ...counts, passed: Math.max(0, counts.passed) }) }
}

interface Verdict {
  readonly failures: number
  readonly errors: number
  readonly skipped: number
  /** Marked as failing, but passed: unittest counts that as a failure. */
  readonly surprises: number
}

function parseVerdict(lines: readonly string[], index: number): Verdict | null {
  const line = lines.slice(index + 1, index + 3).find((one) => one.trim() !== '') ?? ''
  const match = /^(?:OK|FAILED|NO TESTS RAN)(?: \(([\w ,=]{1,200})\))?\s*$/.exec(line)
  if (match === null) return null
  const said = new Map<string, number>()
  for (const part of (match[1] ?? '').split(', ')) {
    const [word = '', count] = part.split('=')
    said.set(word, parseWholeNumber(count) ?? 0)
  }
  const count = (word: string): number => said.get(word) ?? 0
  return {
    failures: count('failures'),
    errors: count('errors'),
    skipped: count('skipped') + count('expected failures'),
    surprises: count('unexpected successes'),
  }
}

interface Section {
  readonly id: string
  readonly file: string | null
  readonly isFail: boolean
  readonly isLoad: boolean
  readonly isFixture: boolean
  readonly text: readonly string[]
}

const SECTION_LINES_MAX = 400
const DOUBLE_RULE = '='.repeat(70)

/** `FAIL: test_a (tests.test_math.TestIt.test_a)` between rules, with its traceback. */
function parseSections(lines: readonly string[], root: string | null): readonly Section[] {
  const sections: Section[] = []
  for (const [index, line] of lines.entries()) {
    if (line.trimEnd() !== DOUBLE_RULE) continue
    // The values of a failed part (`subTest`) can be very long.
    const head = /^(FAIL|ERROR): (.{1,2000})/.exec(lines[index + 1] ?? '')
    if (head === null) continue
    const below = lines.slice(index + 2, index + 2 + SECTION_LINES_MAX)
    const length = below.findIndex((one) => one.trimEnd() === DOUBLE_RULE)
    const text = length < 0 ? below : below.slice(0, length)
    sections.push({ ...makeSection(head[1] === 'FAIL', head[2] ?? '', text), ...findFile(head[2] ?? '', text, root) })
  }
  return sections
}

function makeSection(isFail: boolean, name: string, text: readonly string[]): Omit<Section, 'file'> {
  const { method, place } = parseName(name)
  const isLoad = place.includes('unittest.loader._FailedTest')
  const isFixture = /^(?:setUp|tearDown)(?:Class|Module)$/.test(method)
  return {
    id: formatId(method, place),
    isFail,
    isLoad,
    isFixture,
    text,
  }
}

function parseName(shown: string): { readonly method: string; readonly place: string } {
  const match = /^(\S{1,400}) \(([\w.<>]{1,800})\)/.exec(shown)
  return { method: match?.[1] ?? shown, place: match?.[2] ?? '' }
}

// Since Python 3.11 the place ends with the method, before that with the class.
function formatId(method: string, place: string): string {
  return place === '' || place.endsWith(`.${method}`) ? place || method : `${place}.${method}`
}

// A test that could not be loaded is named after its module; the others belong to the first file of the project in the
// traceback.
function findFile(name: string, text: readonly string[], root: string | null): Pick<Section, 'file'> {
  const { method, place } = parseName(name)
  if (place.includes('unittest.loader._FailedTest')) return { file: `${method.replaceAll('.', '/')}.py` }
  const files = text.flatMap((line) => /^ {2}File "([^"]{1,400})"/.exec(line)?.[1] ?? [])
  const own = root === null ? undefined : files.find((file) => file.startsWith(`${root}/`))
  return { file: own ?? files.find((file) => !/\/unittest\/|\/phaselock_guard\.py$/.test(file)) ?? null }
}

function extractMessage(section: Section | undefined): string | null {
  return section === undefined
    ? null
    : findCause(
        section.text.filter((line) => !line.startsWith(' ')),
        'last',
      ).message
}

const STATUS: ReadonlyMap<string, TestStatus> = new Map([
  ['ok', 'passed'],
  ['FAIL', 'failed'],
  ['ERROR', 'failed'],
  ['unexpected success', 'failed'],
  ['expected failure', 'todo'],
])

function toStatus(shown: string): TestStatus | undefined {
  const at = shown.lastIndexOf(' ... ')
  if (at < 0) return undefined
  return shown.includes(' ... skipped ') ? 'skipped' : STATUS.get(shown.slice(at + 5))
}

/** `test_a (tests.test_math.TestIt.test_a) ... ok`; a test with a description has the result on the line below. */
function parseListed(lines: readonly string[]): ReadonlyMap<string, TestStatus> {
  const tests = new Map<string, TestStatus>()
  let waiting: string | null = null
  for (const line of lines) {
    const shown = line.trim()
    const head = /^(\w{1,400}) \(([\w.<>]{1,800})\)/.exec(shown)
    if (shown.includes('unittest.loader._FailedTest') || /^(?:setUp|tearDown)(?:Class|Module) /.test(shown)) continue
    const status = toStatus(shown)
    const id: string | null = head === null ? waiting : formatId(head[1] ?? '', head[2] ?? '')
    if (id !== null && status !== undefined && tests.get(id) !== 'failed') tests.set(id, status)
    waiting = status === undefined && head !== null ? id : null
  }
  return tests
}
