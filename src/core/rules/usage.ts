import type { Layers } from './layered-map.js'
import { dropOldest, listValues, NO_LAYERS, read, write } from './layered-map.js'

export interface UsageFact {
  readonly at: number
  /** Message and request id: facts with the same id count once, with their largest values. Null: a separate fact. */
  readonly id: string | null
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly grade: 'observed' | 'reported'
}

interface Tokens {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

interface Record extends Tokens {
  /** The earliest reported time: a message belongs where it began. */
  readonly at: number
}

export interface Usage {
  readonly records: Layers<Record>
  readonly kept: number
  /** Number of different messages, including dropped ones. */
  readonly added: number
  readonly earliest: number
  readonly sums: Tokens
  readonly isReported: boolean
}

/** Maximum number of known message ids. Beyond it, most older ones are dropped; their usage still counts. */
const USAGE_MAX = 50_000
const TOKENS_MAX = 1e12
const ID_CHARS_MAX = 500

const NO_TOKENS: Tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

export const NO_USAGE: Usage = {
  records: NO_LAYERS,
  kept: 0,
  added: 0,
  earliest: Number.POSITIVE_INFINITY,
  sums: NO_TOKENS,
  isReported: false,
}

export function addToUsage(usage: Usage, fact: UsageFact): Usage {
  // An overlong id is dropped: truncating it could merge two messages.
  const key = fact.id === null || fact.id.length > ID_CHARS_MAX ? `#${usage.added}` : `=${fact.id}`
  const known = read(usage.records, key)
  const told: Tokens = joinTokens(fact, NO_TOKENS, clampCount)
  const record = { ...joinTokens(told, known ?? NO_TOKENS, Math.max), at: Math.min(fact.at, known?.at ?? fact.at) }
  const more = joinTokens(record, known ?? NO_TOKENS, (now, before) => now - before)
  const isFull = known === undefined && usage.kept === USAGE_MAX
  const records = isFull ? dropOldest(usage.records) : usage.records
  const isNew = known === undefined ? 1 : 0
  return {
    records: write(records, key, record),
    kept: isFull ? countOf(records) + 1 : usage.kept + isNew,
    added: usage.added + isNew,
    earliest: Math.min(usage.earliest, record.at),
    sums: joinTokens(usage.sums, more, (sum, one) => Math.min(sum + one, Number.MAX_SAFE_INTEGER)),
    isReported: usage.isReported || fact.grade === 'reported',
  }
}

/** Usage since a time, and whether any is known. */
export function sumUsedSince(usage: Usage, since: number): Tokens & { readonly isKnown: boolean } {
  let sums = usage.sums
  let messages = usage.added
  if (usage.earliest < since)
    for (const record of listValues(usage.records)) {
      if (record.at >= since) continue
      sums = joinTokens(sums, record, (sum, one) => sum - one)
      messages -= 1
    }
  return { ...sums, isKnown: messages > 0 }
}

function joinTokens(left: Tokens, right: Tokens, join: (left: number, right: number) => number): Tokens {
  return {
    input: join(left.input, right.input),
    output: join(left.output, right.output),
    cacheRead: join(left.cacheRead, right.cacheRead),
    cacheWrite: join(left.cacheWrite, right.cacheWrite),
  }
}

// Reported numbers can be anything: negative ones count as zero, and none can break the sums.
function clampCount(told: number): number {
  return told > 0 ? Math.min(Math.floor(told), TOKENS_MAX) : 0
}

function countOf(records: Layers<Record>): number {
  return records.reduce((sum, layer) => sum + layer.size, 0)
}
