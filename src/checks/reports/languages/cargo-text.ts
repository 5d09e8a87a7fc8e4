import { parseRustErrors } from '../compile-errors.js'
import { makeUnreadable, type ReportReading, type TestStatus } from '../report.js'
import { type Counts, createTally } from '../tally.js'
import { findLastIndex, parseWholeNumber } from '../text.js'

const RUNNING = /^running (\d{1,9}) tests?\s*$/
const RESULT =
  /^test result: (?:ok|FAILED)\. (\d{1,9}) passed; (\d{1,9}) failed; (\d{1,9}) ignored; (\d{1,9}) measured; \d{1,9} filtered out\b/

export function isCargoText(out: readonly string[], err: readonly string[]): boolean {
  return out.some((line) => RUNNING.test(line)) || err.some((line) => /^error: could not compile `/.test(line))
}

/** `cargo test`: one block for each test program, `running 2 tests` up to `test result: …`. */
export function readCargoText(out: readonly string[], err: readonly string[], root: string | null): ReportReading {
  const tally = createTally(root)
  const starts = out.flatMap((line, index) => (RUNNING.test(line) ? [index] : []))
  const files = parsePrograms(err, starts.length)
  const total = { passed: 0, failed: 0, skipped: 0 }
  for (const [number, start] of starts.entries()) {
    const block = readBlock(out.slice(start, starts[number + 1] ?? out.length))
    if (typeof block === 'string') return makeUnreadable(block)
    total.passed += block.counts.passed
    total.failed += block.counts.failed
    total.skipped += block.counts.skipped
    const file = files[number] ?? null
    for (const { name, status, message } of block.tests) tally.add({ path: [name], status, file, message })
    if (block.lost > 0)
      tally.loadFailed({ file, kind: 'other', module: null, message: `${block.lost} tests have no result` })
  }
  if (err.some((line) => line.startsWith('error: could not compile '))) parseRustErrors(err).forEach(tally.loadFailed)
  return { result: 'read', report: tally.report('cargo', total) }
}

interface ListedTest {
  readonly name: string
  readonly status: TestStatus
  readonly message: string | null
}

interface Block {
  readonly tests: readonly ListedTest[]
  readonly counts: Counts
  /** Announced but never reported: the program died or exited. */
  readonly lost: number
}

function readBlock(lines: readonly string[]): Block | string {
  const announced = parseWholeNumber(RUNNING.exec(lines[0] ?? '')?.[1]) ?? 0
  const end = findLastIndex(lines, (line) => RESULT.test(line))
  const told = lines.indexOf('failures:')
  const listed = lines
    .slice(1, told >= 0 ? told : end >= 0 ? end : lines.length)
    .flatMap((line) => parseTestLine(line) ?? [])
  const messages = told < 0 ? new Map<string, string>() : parseMessages(lines.slice(told))
  const tests = listed.map((test) => ({ ...test, message: messages.get(test.name) ?? null }))
  if (end < 0) return makeUnfinishedBlock(tests, announced)
  const said =
    RESULT.exec(lines[end] ?? '')
      ?.slice(1, 5)
      .map((count) => parseWholeNumber(count) ?? 0) ?? []
  const [passed = 0, failed = 0, skipped = 0, measured = 0] = said
  if (passed + failed + skipped + measured !== announced)
    return `${announced} tests were announced, but the result counts ${passed + failed + skipped + measured}`
  const count = (status: TestStatus): number => tests.filter((test) => test.status === status).length
  const isSame = count('passed') === passed + measured && count('failed') === failed && count('skipped') === skipped
  if (tests.length > 0 && !isSame)
    return `the result counts ${passed} passed, ${failed} failed and ${skipped} ignored tests, but the lines above it show ${count('passed')}, ${count('failed')} and ${count('skipped')}`
  return { tests, counts: { passed: passed + measured, failed, skipped }, lost: 0 }
}

function makeUnfinishedBlock(tests: readonly ListedTest[], announced: number): Block | string {
  const count = (status: TestStatus): number => tests.filter((test) => test.status === status).length
  const lost = Math.max(1, announced - tests.length)
  if (tests.length > announced) return `${announced} tests were announced, but ${tests.length} results were printed`
  return {
    tests,
    counts: { passed: count('passed'), failed: count('failed') + lost, skipped: count('skipped') },
    lost,
  }
}

function parseTestLine(line: string): Omit<ListedTest, 'message'> | null {
  if (!line.startsWith('test ')) return null
  const at = line.lastIndexOf(' ... ')
  const said = at < 0 ? '' : line.slice(at + 5).trimEnd()
  const status = said === 'ok' || said.startsWith('bench:') ? 'passed' : said === 'FAILED' ? 'failed' : null
  const isIgnored = said === 'ignored' || said.startsWith('ignored, ')
  if (status === null && !isIgnored) return null
  return { name: stripLine(line.slice('test '.length, at)), status: status ?? 'skipped' }
}

// The line of a documentation test moves with the code above it.
function stripLine(name: string): string {
  return name.replace(/ \(line \d{1,9}\)/, '')
}

/** `---- name stdout ----`, and the message of the panic below it. */
function parseMessages(lines: readonly string[]): ReadonlyMap<string, string> {
  const messages = new Map<string, string>()
  let name = ''
  for (const [index, line] of lines.entries()) {
    const head = /^---- (.{1,2000}) stdout ----$/.exec(line)?.[1]
    if (head !== undefined) name = stripLine(head)
    else if (name !== '' && line.startsWith('thread ') && !messages.has(name))
      messages.set(name, lines[index + 1] ?? '')
  }
  return messages
}

/** The file of each block; cargo prints it on the other stream, in the same order. */
function parsePrograms(err: readonly string[], blocks: number): readonly (string | null)[] {
  const programs = err.flatMap((line) => {
    const match = /^ {3,8}(?:Running (?:unittests )?(\S{1,400}) \(|(Doc-tests) )/.exec(line)
    return match === null ? [] : [match[1] ?? null]
  })
  return programs.length === blocks ? programs : []
}
