import { LINE_CHARS_MAX, OUTPUT_CHARS_MAX, OUTPUT_LINES_MAX } from './report.js'

/** The output of one stream, prepared to be read line by line. */
export interface WrittenOutput {
  /** Without colours; lines end with \n. */
  readonly text: string
  readonly lines: readonly string[]
  readonly cut: boolean
}

export function normalizeOutput(raw: string): WrittenOutput {
  const end = raw.length > OUTPUT_CHARS_MAX ? dropFirstLine(raw.slice(-OUTPUT_CHARS_MAX)) : raw
  const plain = stripAnsi(end).replace(/\r\n?/g, '\n')
  const text = cutToLastLines(plain)
  return { text, lines: splitLines(text), cut: text.length < plain.length || end.length < raw.length }
}

export const NOTHING: WrittenOutput = { text: '', lines: [], cut: false }

// Each alternative stops at the next ESC, so that a row of unfinished sequences is not scanned again and again.
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with a control character
const ANSI = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])|\x9b[0-?]*[ -/]*[@-~]/g

function stripAnsi(text: string): string {
  return text.includes('\x1b') || text.includes('\x9b') ? text.replace(ANSI, '') : text
}

function dropFirstLine(text: string): string {
  return text.slice(text.indexOf('\n') + 1)
}

function cutToLastLines(text: string): string {
  let start = text.length
  for (let count = 0; count < OUTPUT_LINES_MAX; count++) {
    start = start === 0 ? -1 : text.lastIndexOf('\n', start - 1)
    if (start < 0) return text
  }
  return text.slice(start + 1)
}

export function splitLines(text: string): readonly string[] {
  return text.split('\n').map((line) => (line.length > LINE_CHARS_MAX ? line.slice(0, LINE_CHARS_MAX) : line))
}

// Control characters and marks that reverse the direction of text: neither belongs in a name.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const UNPRINTABLE = /[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]+/g

/** One printable line, at most `charsMax` long. */
export function toOneLine(text: string, charsMax: number): string {
  // Colours first: an escape sequence without its ESC would leave garbage.
  const head = text.length > charsMax * 8 ? text.slice(0, charsMax * 8) : text
  const line = stripAnsi(head).replace(UNPRINTABLE, ' ').trim().toWellFormed()
  return line.length > charsMax ? `${line.slice(0, charsMax - 1).toWellFormed()}…` : line
}

/** A path as the tree names it: without the command's folder, with `/`. */
export function toRelativePath(path: string, root: string | null): string {
  let file = path.startsWith('file://') ? path.slice('file://'.length) : path
  if (file.includes('\\')) file = file.replaceAll('\\', '/')
  if (root !== null && root !== '' && file.startsWith(root.endsWith('/') ? root : `${root}/`))
    file = file.slice(root.endsWith('/') ? root.length : root.length + 1)
  while (file.startsWith('./')) file = file.slice(2)
  return file
}

/** The text as a whole number, or null: `Number` would also accept '', ' 1' and '1e3'. */
export function parseWholeNumber(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : null
}

export function countIndent(line: string): number {
  let count = 0
  while (line.charCodeAt(count) === 32) count++
  return count
}

/** The index of the last line that `matches`, or -1. */
export function findLastIndex(lines: readonly string[], matches: (line: string) => boolean): number {
  for (let index = lines.length - 1; index >= 0; index--) if (matches(lines[index] ?? '')) return index
  return -1
}

/** A duration such as `(5ms)`, `(1.2 s)` or `12ms` at the end is not part of a name. */
export function stripDuration(name: string): string {
  const shown = name.trimEnd()
  const start = shown.endsWith(')') ? shown.lastIndexOf(' (') : shown.lastIndexOf(' ')
  if (start <= 0) return shown
  return /^ \(?\d{1,9}(?:\.\d{1,9})? ?m?s\)?$/.test(shown.slice(start)) ? shown.slice(0, start).trimEnd() : shown
}
