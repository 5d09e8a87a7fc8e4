import type { ReactNode } from 'react'

interface SectionProps {
  readonly title: ReactNode
  readonly count?: ReactNode
  readonly end?: ReactNode
  readonly children: ReactNode
  readonly label?: string
}

/** A heading with what belongs to it. */
export function Section({ title, count, end, children, label }: SectionProps): ReactNode {
  return (
    <section aria-label={label ?? (typeof title === 'string' ? title : undefined)}>
      <div className="sect">
        <h2 className="h2">
          {title} {count === undefined ? null : <span className="count">{count}</span>}
        </h2>
        {end === undefined ? null : <div className="sect__end">{end}</div>}
      </div>
      {children}
    </section>
  )
}

interface PanelProps {
  readonly title?: ReactNode
  readonly sub?: ReactNode
  readonly end?: ReactNode
  /** Without padding, for tables and lists. */
  readonly flush?: boolean
  readonly className?: string
  readonly children: ReactNode
}

export function Panel({ title, sub, end, flush, className = '', children }: PanelProps): ReactNode {
  return (
    <section className={`panel ${className}`}>
      {title === undefined ? null : (
        <header className="panel__head">
          <h2 className="h3">{title}</h2>
          {sub === undefined ? null : <span className="panel__sub">{sub}</span>}
          {end === undefined ? null : <div className="panel__end">{end}</div>}
        </header>
      )}
      {flush === true ? children : <div className="panel__body">{children}</div>}
    </section>
  )
}

/** Names and values; a value that is null is left out. */
export function KeyValues({ rows }: { readonly rows: readonly (readonly [string, ReactNode])[] }): ReactNode {
  return (
    <dl className="kv">
      {rows
        .filter(([, value]) => value !== null && value !== undefined)
        .map(([name, value]) => (
          <div key={name} className="kv__row">
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}

export interface Column<Row> {
  readonly name: string
  readonly cell: (row: Row) => ReactNode
  readonly right?: boolean
}

interface TableProps<Row> {
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
}

export function Table<Row>({ label, columns, rows, keyOf }: TableProps<Row>): ReactNode {
  return (
    <div className="table-scroll">
      <table className="table" aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ name, right }) => (
              <th key={name} scope="col" className={right === true ? 'r' : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ name, cell, right }) => (
                <td key={name} className={right === true ? 'r' : undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
