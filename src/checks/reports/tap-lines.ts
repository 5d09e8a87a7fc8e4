import { countIndent, parseWholeNumber } from './text.js'

/** A result line: `not ok 2 - name # SKIP why`. */
export interface PointLine {
  readonly ok: boolean
  readonly name: string
  readonly directive: 'skip' | 'todo' | null
}

const POINT = /^(not )?ok\b ?(\d{0,9}) ?(?:- ?)?/

export function parsePoint(line: string): PointLine | null {
  const head = POINT.exec(line)
  if (head === null) return null
  const rest = stripBrace(line.slice(head[0].length))
  const mark = markOf(rest)
  const name = (mark === null ? rest : rest.slice(0, mark.start)).trim().replaceAll('\\#', '#').replaceAll('\\\\', '\\')
  return { ok: head[1] === undefined, name, directive: mark?.directive ?? null }
}

// `ok 1 - file # time=3ms {` opens a block of subtests.
function stripBrace(text: string): string {
  return text.endsWith(' {') ? text.slice(0, -2) : text
}

interface Mark {
  readonly start: number
  readonly directive: 'skip' | 'todo' | null
}

const MARKS_MAX = 50

// Not every producer escapes `#` in names: only a known directive after it is a mark.
function markOf(text: string): Mark | null {
  let at = text.indexOf('#')
  for (let count = 0; at >= 0 && count < MARKS_MAX; count++) {
    if (at === 0 || text[at - 1] === ' ') {
      const said = /^# ?(skip|todo|time=)/i.exec(text.slice(at, at + 8))?.[1]?.toLowerCase()
      if (said !== undefined) return { start: at, directive: said === 'skip' || said === 'todo' ? said : null }
    }
    at = text.indexOf('#', at + 1)
  }
  return null
}

/** The number of tests that a plan line announces. */
export function parsePlan(line: string): number | null {
  const match = /^1\.\.(\d{1,9})(?: *#.*)?$/.exec(line.trimEnd())
  return parseWholeNumber(match?.[1])
}

export function isVersion(line: string): boolean {
  return /^TAP version 1[234]$/.test(line.trimEnd())
}

/** The used fields of the block below a result line. */
export interface Details {
  /** The line after the block. */
  readonly next: number
  readonly isSuite: boolean
  /** node:test times every test; other producers have no such line. */
  readonly isTimed: boolean
  readonly failure: string | null
  readonly location: string | null
  /** The point has the exit code of a process: only that of a whole file does. */
  readonly isOfProcess: boolean
  /** The kind of error, as the producer names it. */
  readonly errorName: string | null
  readonly text: readonly string[]
}

const DETAIL_LINES_MAX = 60

/** Reads the YAML block that begins at `index`. Without an end it takes the rest, and the plan does not add up. */
export function parseDetails(lines: readonly string[], index: number): Details {
  const indent = countIndent(lines[index] ?? '')
  const end = `${' '.repeat(indent)}...`
  const fields = new Map<string, string>()
  const text: string[] = []
  let at = index + 1
  for (; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (line.trimEnd() === end) break
    if (text.length < DETAIL_LINES_MAX) text.push(line.trim())
    // Only lines at the block's own depth are its fields: output of a test is deeper.
    const field = countIndent(line) === indent ? /^([a-zA-Z_]{1,40}): ?(.*)$/.exec(line.slice(indent)) : null
    if (field !== null && !fields.has(field[1] ?? '')) fields.set(field[1] ?? '', stripQuotes(field[2] ?? ''))
  }
  return {
    next: at + 1,
    isSuite: fields.get('type') === 'suite',
    isTimed: fields.has('duration_ms'),
    failure: fields.get('failureType') ?? null,
    location: stripPosition(fields.get('location') ?? fields.get('at') ?? ''),
    isOfProcess: fields.has('exitCode'),
    errorName: /^\w{1,80}Error$/.exec(fields.get('name') ?? '')?.[0] ?? null,
    text,
  }
}

/**
 * A short description of a failure: the text of its `error` or `message`, and the kind of error unless it is an
 * assertion.
 */
export function summarize(details: Pick<Details, 'text' | 'errorName'> | null): string {
  const message = extractError(details?.text ?? [])
  const kind = details?.errorName ?? null
  return kind === null || kind === 'AssertionError' || message.includes(kind) ? message : `${kind}: ${message}`
}

function extractError(text: readonly string[]): string {
  const start = text.findIndex((line) => /^(?:error|message): ?[^ ]/.test(line))
  const first = stripQuotes((text[start] ?? '').replace(/^\w{1,20}: ?/, ''))
  return first === '|-' || first === '|' ? text.slice(start + 1, start + 4).join(' ') : first
}

function stripQuotes(value: string): string {
  const first = value[0]
  return value.length > 1 && (first === "'" || first === '"') && value.endsWith(first) ? value.slice(1, -1) : value
}

function stripPosition(location: string): string | null {
  const file = location.replace(/:\d{1,9}:\d{1,9}$/, '')
  return file === '' ? null : file
}
