import type { JsonObject } from '../../core/json.js'

/** The value below which this share of sorted values lies, between neighbours in proportion; 0 without values. */
export function computeQuantile(sorted: readonly number[], share: number): number {
  if (sorted.length === 0) return 0
  const at = (sorted.length - 1) * share
  const low = sorted[Math.floor(at)] ?? 0
  const high = sorted[Math.ceil(at)] ?? low
  return Math.round((low + (high - low) * (at - Math.floor(at))) * 10) / 10
}

const SHARES = { p10: 0.1, p25: 0.25, median: 0.5, p75: 0.75, p90: 0.9, max: 1 } as const

/** Some of these measures of values, in any order. */
export function measureSpread(values: readonly number[], names: readonly (keyof typeof SHARES)[]): JsonObject {
  const sorted = values.toSorted((a, b) => a - b)
  return Object.fromEntries(names.map((name) => [name, computeQuantile(sorted, SHARES[name])]))
}
