import { toPlainLine } from './plain-text.js'
import { getWidth, paintText } from './terminal.js'

const GAP = 2
const FLEXIBLE_MIN = 8

export interface Column<Row> {
  readonly title: string
  readonly text: (row: Row) => string
  /** Gives way when the table is too wide; ids and numbers never do. */
  readonly isFlexible?: boolean
}

/** A table that fits the terminal, as far as its ids let it. Everything in it is made safe to print. */
export function formatTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  room: number = getWidth(),
): string {
  const cells = rows.map((row) => columns.map((column) => toPlainLine(column.text(row))))
  const natural = columns.map((column, at) =>
    Math.max(countColumns(column.title), ...cells.map((line) => countColumns(line[at] ?? ''))),
  )
  const widths = shrinkWidths(natural, columns, room - GAP * (columns.length - 1))
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, at) => (at === texts.length - 1 ? cut(text, widths[at] ?? 0) : padText(text, widths[at] ?? 0)))
      .join(' '.repeat(GAP))
      .trimEnd()
  const head = line(columns.map((column) => column.title))
  return [paintText('bold', head), ...cells.map(line)].join('\n')
}

function shrinkWidths(natural: readonly number[], columns: readonly Column<never>[], room: number): readonly number[] {
  const widths = [...natural]
  const flexible = columns.flatMap((column, at) => (column.isFlexible === true ? [at] : []))
  let excess = widths.reduce((sum, width) => sum + width, 0) - room
  while (excess > 0) {
    const [widest] = flexible
      .filter((at) => (widths[at] ?? 0) > FLEXIBLE_MIN)
      .sort((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0))
    if (widest === undefined) break
    widths[widest] = (widths[widest] ?? 0) - 1
    excess -= 1
  }
  return widths
}

/** The text in at most so many columns, with an ellipsis where something is missing. */
export function cut(text: string, room: number): string {
  if (countColumns(text) <= room) return text
  let out = ''
  let used = 0
  for (const char of text) {
    used += countColumns(char)
    if (used > room - 1) break
    out += char
  }
  return `${out}…`
}

function padText(text: string, room: number): string {
  const fitted = cut(text, room)
  return fitted + ' '.repeat(Math.max(0, room - countColumns(fitted)))
}

const WIDE =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6]|[\u{1F300}-\u{1FAFF}\u{20000}-\u{3FFFD}]/u

/** How many columns a terminal takes for the text. */
export function countColumns(text: string): number {
  let sum = 0
  for (const char of text) sum += /\p{M}/u.test(char) ? 0 : WIDE.test(char) ? 2 : 1
  return sum
}
