import { type Cause, findCause, findCausesOfFiles, parsePrintedErrors, UNKNOWN_CAUSE } from './causes.js'
import { type LoadFailure, makeUnreadable, type ReportReading, type TestStatus } from './report.js'
import { createTally, type Tally } from './tally.js'
import { dropFilesOfAva } from './tap-ava.js'
import { type Details, isVersion, type PointLine, parseDetails, parsePlan, parsePoint, summarize } from './tap-lines.js'
import { countIndent, parseWholeNumber } from './text.js'

export function isTap(lines: readonly string[]): boolean {
  let hasPlan = false
  let hasPoint = false
  for (const line of lines) {
    if (isVersion(line)) return true
    hasPlan ||= parsePlan(line) !== null
    hasPoint ||= /^(?:not )?ok \d/.test(line)
    if (hasPlan && hasPoint) return true
  }
  return false
}

/** Reads TAP 13 and 14, with the subtests of node:test and the blocks of vitest. */
export function readTap(lines: readonly string[], root: string | null): ReportReading {
  const documents = splitDocuments(lines).map(parseDocument)
  const tally = createTally(root)
  let lost = 0
  for (const document of documents) {
    const refused = document.problem ?? findDisagreement(document)
    if (refused !== null) return makeUnreadable(refused)
    collect(document, tally)
    lost += document.lost
  }
  const counts = tally.counts()
  const isNode = documents.some((document) => document.isNode)
  return {
    result: 'read',
    report: tally.report(isNode ? 'node' : 'tap', { ...counts, failed: counts.failed + lost }),
  }
}

/** Several runs may follow each other, as with the workspaces of a package. */
function splitDocuments(lines: readonly string[]): readonly (readonly string[])[] {
  const starts = lines.flatMap((line, index) => (isVersion(line) ? [index] : []))
  if (starts.length === 0) return [lines]
  return starts.map((start, index) => lines.slice(start + 1, starts[index + 1] ?? lines.length))
}

interface Leaf {
  /** From the inside out: parents follow their subtests. */
  readonly path: string[]
  readonly status: TestStatus
  readonly depth: number
  readonly details: Details | null
  readonly isSuite: boolean
  readonly hasSubtests: boolean
  /** The line of the result, as it was printed. */
  readonly line: string
}

interface Level {
  readonly leaves: Leaf[]
  points: number
  plan: number | null
}

interface Document {
  readonly levels: Level[]
  /** Names of blocks that are open, with their depth. */
  readonly blocks: { readonly depth: number; readonly name: string }[]
  readonly comments: string[]
  readonly summary: Map<string, number>
  readonly failures: LoadFailure[]
  lost: number
  isNode: boolean
  problem: string | null
}

const DEPTH_MAX = 40

function parseDocument(lines: readonly string[]): Document {
  const document: Document = {
    levels: [{ leaves: [], points: 0, plan: null }],
    blocks: [],
    comments: [],
    summary: new Map(),
    failures: [],
    lost: 0,
    isNode: false,
    problem: null,
  }
  for (let index = 0; index < lines.length; ) index = readLine(document, lines, index)
  closeAll(document)
  if (!document.isNode) dropFilesOfAva(document.levels[0]?.leaves ?? [])
  return document
}

/** Reads one line, or a result with its block, and returns the next line. */
function readLine(document: Document, lines: readonly string[], index: number): number {
  const line = lines[index] ?? ''
  const indent = countIndent(line)
  const depth = indent / 4
  const said = line.slice(indent)
  if (said.startsWith('Bail out!')) {
    document.lost++
    document.failures.push({ file: null, kind: 'other', module: null, message: said })
  } else if (said.startsWith('#')) readComment(document, said, depth)
  else if (Number.isInteger(depth) && depth <= DEPTH_MAX) {
    const point = parsePoint(said)
    if (point !== null) return readPoint(document, point, { lines, index, depth })
    const plan = parsePlan(said)
    if (plan !== null) recordPlan(document, depth, plan)
    else if (said === '}' && document.blocks.at(-1)?.depth === depth)
      adoptChildren(document, depth, document.blocks.pop()?.name ?? '')
  }
  return index + 1
}

function readComment(document: Document, said: string, depth: number): void {
  if (depth !== 0) return
  const text = said.slice(said[1] === ' ' ? 2 : 1)
  const count = /^(tests|suites|pass|fail|cancelled|skipped|todo) +(\d{1,9})$/.exec(text.trimEnd())
  if (count !== null) document.summary.set(count[1] ?? '', parseWholeNumber(count[2]) ?? 0)
  else document.comments.push(text.replaceAll('\\#', '#'))
  document.isNode ||= count?.[1] === 'suites'
}

interface Place {
  readonly lines: readonly string[]
  readonly index: number
  readonly depth: number
}

function readPoint(document: Document, point: PointLine, { lines, index, depth }: Place): number {
  const level = getLevel(document, depth)
  level.points++
  if (isBlockStart(lines, index, depth)) {
    document.levels.length = depth + 1
    document.blocks.push({ depth, name: point.name })
    return index + 1
  }
  const isParent = adoptChildren(document, depth, point.name)
  const below = lines[index + 1] ?? ''
  const details = below.trim() === '---' && countIndent(below) > depth * 4 ? parseDetails(lines, index + 1) : null
  document.isNode ||= details?.isTimed === true
  // A test of node:test may have subtests and is still a test; elsewhere a parent only sums up.
  if (!isParent || (details?.isTimed === true && !details.isSuite))
    level.leaves.push({
      path: [point.name],
      status: toStatus(point),
      depth,
      details,
      isSuite: details?.isSuite === true,
      hasSubtests: isParent,
      line: (lines[index] ?? '').trim(),
    })
  else if (!point.ok) recordBrokenSuite(document, point, details)
  return details?.next ?? index + 1
}

function isBlockStart(lines: readonly string[], index: number, depth: number): boolean {
  const below = lines[index + 1] ?? ''
  return (
    (lines[index] ?? '').endsWith(' {') && countIndent(below) === depth * 4 + 4 && parsePlan(below.trimStart()) !== null
  )
}

function toStatus({ ok, directive }: PointLine): TestStatus {
  if (directive === 'todo') return 'todo'
  if (directive === 'skip' && ok) return 'skipped'
  return ok ? 'passed' : 'failed'
}

// A suite that failed although its tests did not: a hook or its body failed.
function recordBrokenSuite(document: Document, point: PointLine, details: Details | null): void {
  if (details === null || details.failure === null || details.failure === 'subtestsFailed') return
  const message = `${point.name}: ${summarize(details)}`
  document.failures.push({ file: details.location, kind: 'other', module: null, message })
}

function getLevel(document: Document, depth: number): Level {
  while (document.levels.length <= depth) document.levels.push({ leaves: [], points: 0, plan: null })
  return document.levels[depth] ?? { leaves: [], points: 0, plan: null }
}

function recordPlan(document: Document, depth: number, plan: number): void {
  const level = getLevel(document, depth)
  if (level.plan !== null && level.plan !== plan && depth === 0)
    document.problem = `the output announces ${level.plan} tests and then ${plan}`
  level.plan = plan
}

/** Passes the deeper level to its parent; returns whether there was one. */
function adoptChildren(document: Document, depth: number, name: string): boolean {
  const level = getLevel(document, depth)
  const below = document.levels[depth + 1]
  if (below === undefined) return false
  // Deeper levels whose own parent is missing still belong to this one.
  for (const deeper of document.levels.slice(depth + 1)) {
    for (const leaf of deeper.leaves) {
      leaf.path.push(name)
      level.leaves.push(leaf)
    }
    keepPlan(document, deeper)
  }
  document.levels.length = depth + 1
  return below.points > 0
}

function closeAll(document: Document): void {
  const root = getLevel(document, 0)
  const orphans = document.levels.length > 1
  adoptChildren(document, 0, '')
  if (root.plan !== null) keepPlan(document, root)
  else if (root.points > 0 || orphans) {
    document.lost++
    document.failures.push({
      file: null,
      kind: 'other',
      module: null,
      message: `${root.points} tests were reported, and no plan: the run did not end`,
    })
  }
}

function keepPlan(document: Document, level: Level): void {
  if (level.plan === null || level.plan === level.points) return
  document.lost += Math.max(1, level.plan - level.points)
  const message = `${level.plan} tests were planned, but ${level.points} were reported`
  document.failures.push({ file: null, kind: 'other', module: null, message })
}

/**
 * node:test and tap report a file as a test when nothing in it was reported: it failed, exited, or has no tests. A test
 * may have the name of a file too: it has subtests, or says that it is in another file.
 */
function isFileResult({ path, depth, isSuite, hasSubtests, details }: Leaf): boolean {
  const name = path[0] ?? ''
  if (depth !== 0 || path.length !== 1 || isSuite || hasSubtests || !isScriptPath(name)) return false
  return details === null || details.isOfProcess || isSamePath(details.location ?? name, name)
}

/** Whether two paths name the same file, as far as the shorter one goes. */
export function isSamePath(one: string, other: string): boolean {
  const [short, long] = [one, other]
    .map((path) => path.replace(/^(?:file:\/\/|\.\/)/, ''))
    .sort((a, b) => a.length - b.length)
  return long === short || long?.endsWith(`/${short}`) === true
}

export function isScriptPath(name: string): boolean {
  return /\.[cm]?[jt]sx?$/.test(name) && (name.startsWith('/') || !/\s/.test(name))
}

function findDisagreement({ levels, summary }: Document): string | null {
  const root = levels[0]
  const said = summary.get('tests')
  if (root === undefined || said === undefined) return null
  const own = root.leaves.filter((leaf) => !leaf.isSuite)
  const ran = own.filter((leaf) => leaf.status !== 'skipped')
  if (said !== own.length && said !== ran.length && said !== root.points)
    return `the summary counts ${said} tests, but ${own.length} results were reported`
  const failed = own.filter((leaf) => leaf.status === 'failed').length
  const saidFailed = (summary.get('fail') ?? 0) + (summary.get('cancelled') ?? 0)
  return summary.has('fail') && failed > 0 !== saidFailed > 0
    ? `the summary counts ${saidFailed} failures, but ${failed} were reported`
    : null
}

function collect(document: Document, tally: Tally): void {
  const files: Leaf[] = []
  for (const leaf of document.levels[0]?.leaves ?? []) {
    if (isFileResult(leaf)) files.push(leaf)
    // An empty suite is not a test; a skipped suite hides tests.
    else if (!leaf.isSuite || leaf.status === 'skipped' || leaf.status === 'todo')
      tally.add({
        path: leaf.path.toReversed(),
        status: leaf.status,
        file: leaf.details?.location ?? null,
        message: summarize(leaf.details),
      })
    else if (leaf.status === 'failed')
      tally.loadFailed({
        file: leaf.details?.location ?? null,
        kind: 'other',
        module: null,
        message: `${leaf.path[0]}: ${summarize(leaf.details)}`,
      })
  }
  for (const failure of document.failures) tally.loadFailed(failure)
  listFileFailures(files, document.comments).forEach(tally.loadFailed)
}

function listFileFailures(files: readonly Leaf[], comments: readonly string[]): readonly LoadFailure[] {
  const broken = files.filter((leaf) => leaf.status === 'failed')
  const causes = findCausesOfFiles(
    broken.map((leaf) => leaf.path[0] ?? ''),
    parsePrintedErrors(comments),
  )
  return [
    ...causes.map((cause, index) => ownCause(broken[index], cause)),
    ...files.flatMap(({ status, path, line }) =>
      status === 'failed' ? [] : [makeNoTestsFailure(path[0] ?? '', line)],
    ),
  ]
}

function ownCause(leaf: Leaf | undefined, printed: LoadFailure): LoadFailure {
  const own = summarize(leaf?.details ?? null)
  const said: Cause = findCause(leaf?.details?.text ?? [], 'first')
  if (said.kind !== 'other') return { file: printed.file, ...said, message: own || said.message }
  if (printed.message !== UNKNOWN_CAUSE) return printed
  const message = own || UNKNOWN_CAUSE
  const isSure = leaf === undefined || leaf.details?.isOfProcess === true
  return { ...printed, message: isSure ? message : `${message}; ${explainReading(leaf.line)}` }
}

/** `line`: where the file was read, if that could have been a test; null: it is certain. */
export function makeNoTestsFailure(file: string, line: string | null): LoadFailure {
  const why = line === null ? '' : `; ${explainReading(line)}`
  return { file, kind: 'other', module: null, message: `the file ended without reporting a test${why}` }
}

const LINE_SHOWN_MAX = 120

function explainReading(line: string): string {
  return `read from ${JSON.stringify(line.slice(0, LINE_SHOWN_MAX))}, named like a file and without subtests`
}
