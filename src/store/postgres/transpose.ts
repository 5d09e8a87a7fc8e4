/** Rows as the columns that `unnest` takes, each the text of an array: much cheaper than letting the driver write it. */
export function transpose(rows: readonly (readonly unknown[])[], width: number): string[] {
  return Array.from({ length: width }, (_, column) => `{${rows.map((row) => formatElement(row[column])).join(',')}}`)
}

const SPECIAL = /["\\]/
const EVERY_SPECIAL = /["\\]/g

function formatElement(value: unknown): string {
  if (value === null || value === undefined) return 'NULL'
  if (typeof value !== 'string') return String(value)
  return SPECIAL.test(value) ? `"${value.replace(EVERY_SPECIAL, '\\$&')}"` : `"${value}"`
}
