import { formatThousands } from '../../core/text.js'
import { html, type Markup } from './report-markup.js'

const ROWS_MAX = 500

interface Column<Row> {
  readonly title: string
  readonly isNumber?: boolean
  readonly cell: (row: Row) => string | number | null
}

/** A table with a maximum number of rows; the number of omitted ones is below it. */
export function renderTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): Markup {
  const head = columns.map(({ title, isNumber }) =>
    isNumber === true ? html`<th scope="col" class="number">${title}</th>` : html`<th scope="col">${title}</th>`,
  )
  const body = rows.slice(0, ROWS_MAX).map((row) => {
    const cells = columns.map(({ cell, isNumber }) =>
      isNumber === true ? html`<td class="number">${cell(row)}</td>` : html`<td>${cell(row)}</td>`,
    )
    return html`<tr>${cells}</tr>
`
  })
  const left = rows.length - ROWS_MAX
  const more = left > 0 ? html`<p class="dim">and ${formatThousands(left)} more</p>` : html``
  return html`<div class="table"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>${more}`
}

export function formatPercent(rate: number | null, none = 'none tried'): string {
  return rate === null ? none : `${Math.round(rate * 100)} %`
}
