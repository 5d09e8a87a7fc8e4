/** The cost of one answer of a model, as its transcript reports it so far. */
export interface UsageSeen {
  /** Milliseconds since 1970, from the earliest line about this answer; 0 when no line before it had a time either. */
  readonly at: number
  /** Stable for an answer, in whichever call, order or copy of the file its lines are read. */
  readonly id: string
  /** Without tokens that were read from or written to a cache: those never count toward a budget. */
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

/** The content of one line: the answers it reports, and whether part of it could not be parsed. */
export interface LineFound {
  readonly usage: readonly UsageSeen[]
  readonly malformed: boolean
}

export const NOTHING_FOUND: LineFound = { usage: [], malformed: false }
export const MALFORMED: LineFound = { usage: [], malformed: true }

/** Merges two readings of one answer: the largest values and the earliest time, so that their order does not matter. */
export function mergeUsage(known: UsageSeen, seen: UsageSeen): UsageSeen {
  return {
    at: Math.min(known.at, seen.at),
    id: known.id,
    input: Math.max(known.input, seen.input),
    output: Math.max(known.output, seen.output),
    cacheRead: Math.max(known.cacheRead, seen.cacheRead),
    cacheWrite: Math.max(known.cacheWrite, seen.cacheWrite),
  }
}

// Errors and interruptions are written as answers without tokens: no model was asked.
export function isEmpty(usage: UsageSeen): boolean {
  return usage.input === 0 && usage.output === 0 && usage.cacheRead === 0 && usage.cacheWrite === 0
}
