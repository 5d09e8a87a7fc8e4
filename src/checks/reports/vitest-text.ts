import { type Cause, findCause } from './causes.js'
import { makeUnreadable, type ReportReading, type TestStatus } from './report.js'
import { type Counts, createTally, type Tally } from './tally.js'
import { findLastIndex, parseWholeNumber, stripDuration, type WrittenOutput } from './text.js'

const SUMMARY = /^ {0,12}Tests {2}(no tests|\d{1,9} (?:failed|passed|skipped|todo|expected fail)\b.*)$/

export function isVitestText(lines: readonly string[]): boolean {
  return findLastIndex(lines, (line) => SUMMARY.test(line)) >= 0
}

/** The default and the verbose reporter. Only the verbose one lists tests that passed. */
export function readVitestText(out: WrittenOutput, details: readonly string[], root: string | null): ReportReading {
  const end = findLastIndex(out.lines, (line) => SUMMARY.test(line))
  const summary = parseSummary(SUMMARY.exec(out.lines[end] ?? '')?.[1] ?? '')
  if (summary === null) return makeUnreadable('the summary of vitest cannot be read')
  const lines = out.lines.slice(0, end)
  const tally = createTally(root)
  const blocks = parseFailures([...lines, ...details])
  const listed = addListed(lines, blocks, tally)
  for (const block of blocks)
    if (block.isSuite) tally.loadFailed({ file: block.file, ...block.cause })
    else if (!listed && block.isTest) addFailed(block, tally)
  const refused = listed ? findDisagreement(tally, summary) : findFileDisagreement(lines, summary)
  if (refused !== null) return makeUnreadable(refused)
  if (summary.lost > 0)
    tally.loadFailed({ file: null, kind: 'other', module: null, message: `${summary.lost} tests have no result` })
  return { result: 'read', report: tally.report('vitest', { ...summary, failed: summary.failed + summary.lost }) }
}

interface Summary extends Counts {
  /** Marked as failing, and failing: among the skipped ones here, listed as passed. */
  readonly expected: number
  /** Only in the total: their worker died. */
  readonly lost: number
}

function parseSummary(text: string): Summary | null {
  if (text === 'no tests') return { passed: 0, failed: 0, skipped: 0, expected: 0, lost: 0 }
  const total = parseWholeNumber(/ \((\d{1,9})\)\s*$/.exec(text)?.[1])
  if (total === null) return null
  const said = new Map<string, number>()
  for (const part of text.slice(0, text.lastIndexOf(' (')).split(' | ')) {
    const match = /^(\d{1,9}) (failed|passed|skipped|todo|expected fail)$/.exec(part.trim())
    if (match === null) return null
    said.set(match[2] ?? '', parseWholeNumber(match[1]) ?? 0)
  }
  const [passed = 0, failed = 0, expected = 0] = [said.get('passed'), said.get('failed'), said.get('expected fail')]
  const skipped = (said.get('skipped') ?? 0) + (said.get('todo') ?? 0) + expected
  const lost = total - passed - failed - skipped
  return lost < 0 ? null : { passed, failed, skipped, expected, lost }
}

const STATUS: ReadonlyMap<string, TestStatus> = new Map([
  ['✓', 'passed'],
  ['×', 'failed'],
  ['↓', 'skipped'],
  ['□', 'todo'],
])

/** Adds the lines of the verbose reporter, ` ✓ file > suite > test 1ms`; false when this is another reporter. */
function addListed(lines: readonly string[], blocks: readonly Block[], tally: Tally): boolean {
  const told = new Map(blocks.filter((block) => block.isTest).map((block) => [block.name, block]))
  const failed = new Set<string>()
  for (const line of lines) {
    const status = line.startsWith(' ') ? STATUS.get(line[1] ?? '') : undefined
    if (status === undefined || line[2] !== ' ' || !line.includes(' > ')) continue
    const name = status === 'passed' || status === 'failed' ? stripDuration(line.slice(3)) : line.slice(3)
    const path = name.split(' > ')
    if (status === 'failed') failed.add(name)
    tally.add({ path, status, file: parseFile(path[0] ?? ''), message: told.get(name)?.text[0] ?? null })
  }
  const isListed = tally.total() > 0
  // A test that failed before it ran is listed only among the failures.
  if (isListed) for (const [name, block] of told) if (!failed.has(name)) addFailed(block, tally)
  return isListed
}

function addFailed(block: Block, tally: Tally): void {
  tally.add({ path: block.name.split(' > '), status: 'failed', file: block.file, message: block.text[0] ?? null })
}

interface Block {
  readonly name: string
  readonly file: string | null
  readonly isSuite: boolean
  readonly isTest: boolean
  readonly text: readonly string[]
  readonly cause: Cause
}

const BLOCKS_MAX = 20_000
const BLOCK_LINES_MAX = 200
const RULE = '⎯⎯⎯'

/** The text about failures, below ` FAIL file > suite > test` or ` FAIL file [ file ]`. */
function parseFailures(lines: readonly string[]): readonly Block[] {
  const blocks: Block[] = []
  let section = ''
  for (let index = 0; index < lines.length && blocks.length < BLOCKS_MAX; index++) {
    const line = lines[index] ?? ''
    if (line.startsWith(RULE)) section = /^⎯+ (Failed \w+|Unhandled Errors?)\b/u.exec(line)?.[1] ?? section
    if (!line.startsWith(' FAIL  ')) continue
    // Tests that failed for the same reason share the text below the last of them.
    const names: string[] = []
    for (; (lines[index] ?? '').startsWith(' FAIL  '); index++) names.push((lines[index] ?? '').slice(7).trimEnd())
    const text: string[] = []
    for (; index < lines.length && !(lines[index] ?? '').startsWith(RULE); index++)
      if (text.length < BLOCK_LINES_MAX) text.push(lines[index] ?? '')
    index--
    const cause = findCause(text, 'first')
    for (const name of names) blocks.push({ ...parseBlockName(name, section), text, cause })
  }
  return blocks
}

function parseBlockName(name: string, section: string): Pick<Block, 'name' | 'file' | 'isSuite' | 'isTest'> {
  const isSuite = section === 'Failed Suites' || (section === '' && name.endsWith(' ]'))
  const shown = name.split(' > ')[0] ?? ''
  const bracket = shown.indexOf(' [ ')
  return { name, file: parseFile(bracket < 0 ? shown : shown.slice(0, bracket)), isSuite, isTest: !isSuite }
}

// ` |project| file` if there are several projects.
function parseFile(shown: string): string | null {
  return shown.replace(/^\|[^|]{0,100}\| /, '').trim() || null
}

function findDisagreement(tally: Tally, summary: Summary): string | null {
  const { passed, failed, skipped } = tally.counts()
  const isSame =
    passed === summary.passed + summary.expected &&
    failed === summary.failed &&
    skipped === summary.skipped - summary.expected
  return isSame
    ? null
    : `the summary counts ${summary.passed} passed, ${summary.failed} failed and ${summary.skipped} skipped tests, but the lines above it show ${passed}, ${failed} and ${skipped}`
}

const FILE_LINE = /^ [✓❯×↓] (?:.*) \((\d{1,9}) tests?(?: \||\))/u

function findFileDisagreement(lines: readonly string[], summary: Summary): string | null {
  let tests = 0
  let files = 0
  for (const line of lines) {
    const match = FILE_LINE.exec(line)
    if (match === null) continue
    files++
    tests += parseWholeNumber(match[1]) ?? 0
  }
  const counted = summary.passed + summary.failed + summary.skipped
  return files === 0 || tests === counted
    ? null
    : `the summary counts ${counted} tests, but the lines of the files above it show ${tests}`
}
