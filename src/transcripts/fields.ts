export type Fields = { readonly [key: string]: unknown }

/** More than any model takes or gives in one answer; a larger number is no count of tokens. */
export const ANSWER_TOKENS_MAX = 1_000_000_000
/** For sums over a whole session; a thousand of them are still exact. */
export const SESSION_TOKENS_MAX = 1_000_000_000_000

const ID = /^[\x21-\x7e]{1,200}$/
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A field that the line itself has: never one that every object inherits. */
export function getField(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}

export function getFields(fields: Fields, name: string): Fields | null {
  const value = getField(fields, name)
  return isFields(value) ? value : null
}

/** An id without blanks, so that two of them can be joined by one; null when it is none. */
export function getId(fields: Fields, name: string): string | null {
  const value = getField(fields, name)
  return typeof value === 'string' && ID.test(value) ? value : null
}

export function isAbsent(fields: Fields, name: string): boolean {
  return (getField(fields, name) ?? null) === null
}

/** Counts in the order of their names, or null when one of them is no count. Those behind `required` may be absent, and are 0 then. */
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

/** The time of a line in milliseconds, or null: a line without a proper time has that of the line before. */
export function parseTime(fields: Fields): number | null {
  const value = getField(fields, 'timestamp')
  if (typeof value !== 'string' || !TIME.test(value)) return null
  const at = Date.parse(value)
  return Number.isFinite(at) && at >= 0 ? at : null
}
