/** What one answer of a model cost, as far as its transcript has said until now. */
export interface UsageSeen {
  /** Milliseconds since 1970, from the earliest line that tells of this answer; 0 when no line before it had a time either. */
  readonly at: number
  /** The same for the same answer, in whichever call, order or copy of the file its lines are read. */
  readonly id: string
  /** Without what was read from or written to a cache: those are never part of a budget. */
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

/** What one line says: the answers it tells of, and whether something in it could not be understood. */
export interface LineFound {
  readonly usage: readonly UsageSeen[]
  readonly malformed: boolean
}

export const NOTHING_FOUND: LineFound = { usage: [], malformed: false }
export const MALFORMED: LineFound = { usage: [], malformed: true }

/** Both readings of one answer as one: the largest values and the earliest time, so that their order makes no difference. */
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

// Errors and interruptions are written as answers without any tokens: no model was asked.
export function isEmpty(usage: UsageSeen): boolean {
  return usage.input === 0 && usage.output === 0 && usage.cacheRead === 0 && usage.cacheWrite === 0
}
