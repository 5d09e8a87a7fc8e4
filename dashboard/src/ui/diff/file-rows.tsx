import { type ReactNode, useMemo, useRef } from 'react'
import { cutText } from '../text/hidden-characters.js'
import { PlainText } from '../text/plain-text.js'
import { type DiffRow, findChangedPart, listRows } from './diff-rows.js'
import type { FileDiff } from './diff-types.js'
import { useVisibleRows } from './use-visible-rows.js'

/** The same as `--diff-row` in diff.css. */
const ROW_HEIGHT = 20
/** A longer line is cut aloud: one line of a megabyte must not be laid out. */
const LINE_CHARS_MAX = 1000
const SIGNS = { same: '', del: '−', add: '+' } as const
const SPOKEN = { same: '', del: 'removed ', add: 'added ' } as const

interface Props {
  readonly file: FileDiff
  /** Whether all lines are in the page; else only those near the screen. */
  readonly isWhole: boolean
}

/** The changed lines of one file. */
export function FileRows({ file, isWhole }: Props) {
  const rows = useMemo(() => listRows(file), [file])
  const chars = useMemo(() => findWidth(rows), [rows])
  const list = useRef<HTMLTableSectionElement>(null)
  const visible = useVisibleRows(list, rows.length, ROW_HEIGHT)
  const { first, end } = isWhole ? { first: 0, end: rows.length } : visible
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls sideways must be reachable by keyboard
    <section className="diff-scroll" tabIndex={0} aria-label={`Changed lines of ${file.path}`}>
      <table className="diff" aria-rowcount={rows.length} style={{ minWidth: `calc(8.5rem + ${chars}ch)` }}>
        <caption className="sr">Changed lines: old number, new number, sign, text</caption>
        <colgroup>
          <col className="diff-col-num diff-col-old" />
          <col className="diff-col-num" />
          <col className="diff-col-sign" />
          <col />
        </colgroup>
        <tbody ref={list}>
          <Spacer rows={first} />
          {rows.slice(first, end).map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line is known by its place
            <Row key={first + index} row={row} index={first + index} />
          ))}
          <Spacer rows={rows.length - end} />
        </tbody>
      </table>
    </section>
  )
}

function Spacer({ rows }: { readonly rows: number }) {
  if (rows === 0) return null
  return (
    <tr style={{ height: rows * ROW_HEIGHT }}>
      <td colSpan={4} />
    </tr>
  )
}

function Row({ row, index }: { readonly row: DiffRow; readonly index: number }) {
  if (row.kind === 'hunk')
    return (
      <tr className="diff-hunk" aria-rowindex={index + 1}>
        <td colSpan={4}>{row.text}</td>
      </tr>
    )
  return (
    <tr className={`diff-${row.kind}`} aria-rowindex={index + 1}>
      <td className="diff-num">{row.kind === 'add' ? '' : row.old}</td>
      <td className="diff-num">{row.kind === 'del' ? '' : row.new}</td>
      <td className="diff-sign">
        <span aria-hidden="true">{SIGNS[row.kind]}</span>
        <span className="sr">{SPOKEN[row.kind]}</span>
      </td>
      <td className="diff-src">{row.kind === 'same' ? <Line text={row.text} /> : <MarkedLine {...row} />}</td>
    </tr>
  )
}

function Line({ text }: { readonly text: string }) {
  return <PlainText text={text} charsMax={LINE_CHARS_MAX} />
}

function MarkedLine({ text, pair }: { readonly text: string; readonly pair: string | null }): ReactNode {
  const { text: shown, left } = cutText(text, LINE_CHARS_MAX)
  const part = left > 0 ? null : findChangedPart(shown, pair)
  if (part === null || part.start === part.end) return <Line text={text} />
  return (
    <>
      <PlainText text={shown.slice(0, part.start)} />
      <mark>
        <PlainText text={shown.slice(part.start, part.end)} />
      </mark>
      <PlainText text={shown.slice(part.end)} />
    </>
  )
}

/** How wide the widest line is, so that the table keeps its width while rows come and go. */
function findWidth(rows: readonly DiffRow[]): number {
  let widest = 0
  for (const { text } of rows) {
    if (text.length > widest) widest = text.length
    if (widest > LINE_CHARS_MAX) return LINE_CHARS_MAX + 40
  }
  return widest + 2
}
