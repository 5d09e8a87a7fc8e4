import { LOAD_FAILURES_MAX, type LoadFailure, type LoadFailureKind } from './report.js'

/** Why something did not load, according to its error text. */
export interface Cause {
  readonly kind: LoadFailureKind
  readonly module: string | null
  readonly message: string
}

type NamedPattern = readonly [pattern: RegExp, name: (match: RegExpExecArray) => string]

const getFirstGroup = (match: RegExpExecArray): string => match[1] ?? ''

// Every repetition is bounded and stops at its own end mark, so that each pattern is linear in the line.
const MISSING: readonly NamedPattern[] = [
  [/Cannot find (?:module|package) ['"]([^'"]{1,400})['"]/, getFirstGroup],
  [/Failed to resolve import "([^"]{1,400})"/, getFirstGroup],
  [/Failed to load url (\S{1,400})/, getFirstGroup],
  [
    /requested module '([^']{1,400})' does not provide an export named:? '([^']{1,200})'/,
    (match) => `${match[1]}#${match[2]}`,
  ],
  [
    /Named export '([^']{1,200})' not found\. The requested module '([^']{1,400})'/,
    (match) => `${match[2]}#${match[1]}`,
  ],
  [/Package subpath '([^']{1,400})' is not defined/, getFirstGroup],
  [
    /Module '"?([^'"]{1,400})"?' has no exported member (?:named )?'([^']{1,200})'/,
    (match) => `${match[1]}#${match[2]}`,
  ],
  [/(?:ModuleNotFoundError|ImportError): No module named '?([\w.-]{1,400})/, getFirstGroup],
  [/ImportError: cannot import name '?(\w{1,200})'? from '([\w.]{1,400})'/, (match) => `${match[2]}.${match[1]}`],
  [/ImportError: cannot import name '?(\w{1,200})/, getFirstGroup],
  [/\bcannot load such file -- (\S{1,400})/, getFirstGroup],
  [/\buninitialized constant ([A-Z][\w:]{0,200})/, getFirstGroup],
  [/\bFailed opening required '([^']{1,400})'/, getFirstGroup],
  [/\bError: Class "([^"]{1,400})" not found/, getFirstGroup],
  [/AttributeError: module '([\w.]{1,400})' has no attribute '(\w{1,200})'/, (match) => `${match[1]}.${match[2]}`],
]

const SYNTAX =
  /\b(?:SyntaxError|ParseError|IndentationError|TabError|Parse failure|Parse error|Parsing error|Transform failed)\b/

// A name that is not initialised yet because modules import each other in a circle is not missing.
const CIRCULAR = 'partially initialized module'

const CAUSE_LINES_MAX = 400

/**
 * The cause in an error text. JavaScript names the first cause first; Python names the last exception last, after the
 * ones that it was raised from.
 */
export function findCause(lines: readonly string[], which: 'first' | 'last'): Cause {
  const looked = which === 'first' ? lines.slice(0, CAUSE_LINES_MAX) : lines.slice(-CAUSE_LINES_MAX).reverse()
  for (const line of looked) {
    const cause = parseCauseLine(line)
    if (cause !== null) return cause
  }
  const said =
    which === 'first'
      ? looked.find((line) => line.trim() !== '')
      : (looked.find((line) => line.startsWith('E ') || ERROR_LINE.test(line)) ??
        looked.find((line) => line.trim() !== ''))
  return { kind: 'other', module: null, message: (said ?? '').trim().replace(/^E {1,8}/, '') }
}

/** The cause named in one line; null when it names none. */
export function parseCauseLine(line: string): Cause | null {
  const message = line.trim().replace(/^E {1,8}/, '')
  if (line.includes(CIRCULAR)) return { kind: 'other', module: null, message }
  for (const [pattern, name] of MISSING) {
    const match = pattern.exec(line)
    if (match !== null) return { kind: 'missing_module', module: name(match), message }
  }
  return SYNTAX.test(line) ? { kind: 'syntax', module: null, message } : null
}

const ERROR_LINE = /^(?:Uncaught )?(?:[A-Z]\w{0,80})?(?:Error|Exception)(?: \[\w{1,80}\])?: /

/** An error that a runtime printed itself, with the lines around it: one of them names the file. */
interface PrintedError {
  readonly cause: Cause
  readonly around: string
}

const PRINTED_MAX = 400
const LINES_BEFORE = 5
const LINES_AFTER = 20
const AROUND_CHARS_MAX = 300
// Where the output about one file ends and that about the next begins.
const BOUNDARY = /^(?:Node\.js v\d|Subtest: |[✔✖▶ℹ﹣⚠] )/u

export function parsePrintedErrors(lines: readonly string[]): readonly PrintedError[] {
  const found: PrintedError[] = []
  for (let index = 0; index < lines.length && found.length < PRINTED_MAX; index++) {
    const line = lines[index] ?? ''
    if (!ERROR_LINE.test(line)) continue
    const cause = parseCauseLine(line) ?? { kind: 'other', module: null, message: line.trim() }
    let start = index
    while (start > 0 && start > index - LINES_BEFORE && !BOUNDARY.test(lines[start - 1] ?? '')) start--
    let end = index + 1
    while (end < lines.length && end <= index + LINES_AFTER && !BOUNDARY.test(lines[end] ?? '')) end++
    found.push({
      cause,
      around: lines
        .slice(start, end)
        .map((one) => one.slice(0, AROUND_CHARS_MAX))
        .join('\n'),
    })
  }
  return found
}

export const UNKNOWN_CAUSE = 'the file failed, and none of its tests was reported'

/**
 * Why each of these files did not run its tests: the error that names the file, or else one that names none of them (it
 * names the source file that the test imports), or else unknown.
 */
export function findCausesOfFiles(files: readonly string[], errors: readonly PrintedError[]): readonly LoadFailure[] {
  const looked = files.slice(0, LOAD_FAILURES_MAX)
  const free = errors.filter(({ around }) => !looked.some((file) => around.includes(file)))
  return files.map((file, index) => {
    const named = index < LOAD_FAILURES_MAX ? errors.find(({ around }) => around.includes(file)) : undefined
    const own = named ?? free.shift()
    return own === undefined ? { file, kind: 'other', module: null, message: UNKNOWN_CAUSE } : { file, ...own.cause }
  })
}
