import { plainLine, type Shown } from '../../core/plain-text.js'
import { getWidth, paintText } from './terminal.js'

const FLEXIBLE_MIN = 8

export interface Column<Row> {
  readonly title: string
  readonly text: (row: Row) => Shown
  /** Right-aligned. */
  readonly isNumber?: boolean
  /** Shrinks when the table is too wide, down to this width; ids and numbers never do. */
  readonly isFlexible?: boolean | number
}

interface Layout {
  readonly room?: number
  /** Spaces between columns; the smallest value is used if there is no room. */
  readonly gaps?: readonly number[]
  /** Each column gets one more if there is room. */
  readonly isAiry?: boolean
}

/** A table that fits the terminal, as far as its ids allow. Everything in it is made safe to print. */
export function formatTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[], layout: Layout = {}): string {
  const [head = '', ...lines] = formatTableLines(rows, columns, layout)
  return [paintText('bold', head), ...lines].join('\n')
}

/** The lines of a table, the titles first. */
export function formatTableLines<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { room = getWidth(), gaps = [2], isAiry = false }: Layout = {},
): readonly string[] {
  const cells = [
    columns.map(({ title }) => title),
    ...rows.map((row) => columns.map(({ text }) => plainLine(text(row)))),
  ]
  const natural = columns.map((_, at) => Math.max(...cells.map((line) => countColumns(line[at] ?? ''))))
  const wide = natural.reduce((sum, one) => sum + one, 0)
  const between = columns.length - 1
  const gap = gaps.find((one) => wide + one * between <= room) ?? gaps.at(-1) ?? 1
  const widths = shrinkWidths(natural, columns, wide + gap * between - room)
  const spare = isAiry && room - wide - gap * between >= columns.length ? 1 : 0
  return cells.map((texts) =>
    texts
      .map((text, at) => padText(text, (widths[at] ?? 0) + spare, columns[at]?.isNumber))
      .join(' '.repeat(gap))
      .trimEnd(),
  )
}

function shrinkWidths(
  natural: readonly number[],
  columns: readonly Column<never>[],
  tooWide: number,
): readonly number[] {
  const widths = [...natural]
  const least = columns.map(({ isFlexible = false }) =>
    isFlexible === false ? Number.POSITIVE_INFINITY : isFlexible === true ? FLEXIBLE_MIN : isFlexible,
  )
  for (let excess = tooWide; excess > 0; excess -= 1) {
    const [widest] = [...widths.keys()]
      .filter((at) => (widths[at] ?? 0) > (least[at] ?? 0))
      .sort((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0))
    if (widest === undefined) break
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return widths
}

/** The text in at most this many columns, with an ellipsis if it is cut. */
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

/** The text in exactly this many columns. */
export function padText(text: string, room: number, isRight = false): string {
  const fitted = cut(text, room)
  const space = ' '.repeat(Math.max(0, room - countColumns(fitted)))
  return isRight ? space + fitted : fitted + space
}

const WIDE =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6]|[\u{1F300}-\u{1FAFF}\u{20000}-\u{3FFFD}]/u

/** The number of terminal columns of the text. */
export function countColumns(text: string): number {
  let sum = 0
  for (const char of text) sum += /\p{M}/u.test(char) ? 0 : WIDE.test(char) ? 2 : 1
  return sum
}
