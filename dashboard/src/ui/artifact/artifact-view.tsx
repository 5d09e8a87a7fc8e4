import { type ReactNode, useState } from 'react'
import { Markdown } from '../markdown/markdown.js'
import { PlainText } from '../text/plain-text.js'

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

const DEPTH_MAX = 6
const ROWS_MAX = 200
const COLUMNS_MAX = 6

interface Props {
  readonly content: Json
  /** What the readable form shows in place of the content, where a part of it is shown elsewhere on the page. */
  readonly readable?: Json
}

/** An artifact for reading: texts as Markdown, lists as lists, lists of records as tables. The raw form is one click away. */
export function ArtifactView({ content, readable = content }: Props): ReactNode {
  const [isRaw, setRaw] = useState(false)
  return (
    <div className="artifact">
      {isRaw ? (
        <pre className="raw">
          <PlainText text={JSON.stringify(content, null, 2)} charsMax={100_000} />
        </pre>
      ) : (
        <Value value={readable} depth={0} />
      )}
      <button type="button" className="link artifact__raw" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
        {isRaw ? 'Readable form' : 'Raw form'}
      </button>
    </div>
  )
}

interface ValueProps {
  readonly value: Json
  readonly depth: number
}

function Value({ value, depth }: ValueProps): ReactNode {
  if (value === null) return <span className="muted">nothing</span>
  if (typeof value === 'string') return <TextValue text={value} />
  if (typeof value !== 'object') return String(value)
  if (depth >= DEPTH_MAX) return <PlainText text={JSON.stringify(value)} charsMax={2000} />
  if (!Array.isArray(value)) return <RecordValue value={value as Fields} depth={depth} />
  return <ListValue values={value} depth={depth} />
}

function TextValue({ text }: { readonly text: string }): ReactNode {
  if (isPatch(text))
    return (
      <pre className="raw">
        <PlainText text={text} />
      </pre>
    )
  const isMarkdown = text.includes('\n') || /[*_`#|[\]<>]/.test(text)
  return isMarkdown ? <Markdown text={text} /> : <PlainText text={text} />
}

/** A unified diff: signs at the start of lines would be lists in Markdown. */
function isPatch(text: string): boolean {
  return /^(diff |--- )/.test(text) || /^@@ -\d/m.test(text)
}

type Fields = { readonly [name: string]: Json }

function RecordValue({ value, depth }: { readonly value: Fields; readonly depth: number }): ReactNode {
  const entries = Object.entries(value).toSorted(([a], [b]) => rankName(a) - rankName(b))
  if (entries.length === 0) return <span className="muted">nothing</span>
  return (
    <div className={depth === 0 ? 'artifact__parts' : 'artifact__inner'}>
      {entries.slice(0, ROWS_MAX).map(([name, one]) => (
        <div key={name} className={isShort(one) ? 'artifact__line' : 'artifact__part'}>
          <p className="artifact__name">
            <PlainText text={formatName(name)} charsMax={100} />
          </p>
          <div className="artifact__value">
            <Value value={one} depth={depth + 1} />
          </div>
        </div>
      ))}
      <More count={entries.length - ROWS_MAX} />
    </div>
  )
}

function ListValue({ values, depth }: { readonly values: readonly Json[]; readonly depth: number }): ReactNode {
  if (values.length === 0) return <span className="muted">none</span>
  const columns = findColumns(values)
  if (columns !== null) return <RecordTable rows={values as readonly Fields[]} columns={columns} depth={depth} />
  return (
    <>
      <ol className="artifact__list">
        {values.slice(0, ROWS_MAX).map((one, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the entries of an artifact never move
          <li key={index}>
            <Value value={one} depth={depth + 1} />
          </li>
        ))}
      </ol>
      <More count={values.length - ROWS_MAX} />
    </>
  )
}

interface RecordTableProps {
  readonly rows: readonly Fields[]
  readonly columns: readonly string[]
  readonly depth: number
}

function RecordTable({ rows, columns, depth }: RecordTableProps): ReactNode {
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls sideways must be reachable by keyboard */}
      <section className="table-scroll" tabIndex={0} aria-label={columns.map(formatName).join(', ')}>
        <table className="table artifact__table">
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column} scope="col">
                  <PlainText text={formatName(column)} charsMax={60} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, ROWS_MAX).map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the rows of an artifact never move
              <tr key={index}>
                {columns.map((column) => (
                  <td key={column}>
                    {row[column] === undefined ? '' : <Value value={row[column]} depth={depth + 2} />}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <More count={rows.length - ROWS_MAX} />
    </>
  )
}

function More({ count }: { readonly count: number }): ReactNode {
  return count > 0 ? <p className="text-cut">{count} more are in the raw form</p> : null
}

/** The columns of a list of flat records; null when it is not one. */
export function findColumns(values: readonly Json[]): readonly string[] | null {
  const names = new Set<string>()
  for (const value of values) {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return null
    for (const [name, one] of Object.entries(value)) {
      if (one !== null && typeof one === 'object' && !Array.isArray(one)) return null
      names.add(name)
    }
    if (names.size > COLUMNS_MAX) return null
  }
  return names.size === 0 ? null : [...names].toSorted((a, b) => rankName(a) - rankName(b))
}

// Kept contents have their names in alphabetical order; a reader wants these first.
const FIRST = ['id', 'title', 'name', 'path', 'summary', 'status', 'description', 'criterion']

function rankName(name: string): number {
  const place = FIRST.indexOf(name)
  return place === -1 ? FIRST.length : place
}

function isShort(value: Json): boolean {
  return value === null || typeof value !== 'object'
    ? String(value).length < 120 && !String(value).includes('\n')
    : false
}

function formatName(name: string): string {
  const spaced = name.replaceAll('_', ' ')
  return spaced.charAt(0).toUpperCase() + spaced.slice(1)
}
