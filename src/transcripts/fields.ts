export type Fields = { readonly [key: string]: unknown }

/** More than any model uses in one answer; a larger number is not a token count. */
export const ANSWER_TOKENS_MAX = 1_000_000_000
/** For sums over a whole session; a thousand of them are still exact. */
export const SESSION_TOKENS_MAX = 1_000_000_000_000

const ID = /^[\x21-\x7e]{1,200}$/
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An own field of the line: never an inherited one. */
export function getField(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}

export function getFields(fields: Fields, name: string): Fields | null {
  const value = getField(fields, name)
  return isFields(value) ? value : null
}

/** An id without spaces, so that two of them can be joined by one; null when it is invalid. */
export function getId(fields: Fields, name: string): string | null {
  const value = getField(fields, name)
  return typeof value === 'string' && ID.test(value) ? value : null
}

export function isAbsent(fields: Fields, name: string): boolean {
  return (getField(fields, name) ?? null) === null
}

/**
 * Counts in the order of their names, or null when one of them is invalid. Those after `required` may be absent, and
 * are then 0.
 */
export function getCounts(
  fields: Fields,
  names: { readonly required: readonly string[]; readonly optional: readonly string[] },
  tokensMax: number,
): readonly number[] | null {
  const counts = [
    ...names.required.map((name) => countOf(getField(fields, name), tokensMax)),
    ...names.optional.map((name) => (isAbsent(fields, name) ? 0 : countOf(getField(fields, name), tokensMax))),
  ]
  return counts.every((count) => count !== null) ? counts : null
}

function countOf(value: unknown, tokensMax: number): number | null {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > tokensMax) return null
  return value === 0 ? 0 : value
}

/** The time of a line in milliseconds, or null: a line without a valid time uses that of the previous line. */
export function parseTime(fields: Fields): number | null {
  const value = getField(fields, 'timestamp')
  if (typeof value !== 'string' || !TIME.test(value)) return null
  const at = Date.parse(value)
  return Number.isFinite(at) && at >= 0 ? at : null
}
