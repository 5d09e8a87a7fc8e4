/** The page size asked for; the schema has checked that it is a number within its limits. */
export function parseLimit(query: Readonly<Record<string, string>>, fallback: number): number {
  return query.limit === undefined ? fallback : Number(query.limit)
}

/** A time of the query in Unix milliseconds. */
export function parseTime(value: string | undefined): number | undefined {
  return value === undefined ? undefined : Date.parse(value)
}
