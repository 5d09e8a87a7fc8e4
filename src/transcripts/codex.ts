import { type Fields, getCounts, getField, getFields, getId, isAbsent, SESSION_TOKENS_MAX } from './fields.js'
import { type LineFound, MALFORMED, NOTHING_FOUND, type UsageSeen } from './usage.js'

const COUNTS = {
  required: ['input_tokens', 'output_tokens'],
  optional: ['cached_input_tokens', 'cache_write_input_tokens'],
}

/** The usage of a session so far, from its last line. `input` includes cached tokens and cache writes. */
export interface CodexTotals {
  readonly session: string
  /** How often the totals of this session were reset. */
  readonly restarts: number
  readonly at: number
  readonly input: number
  readonly output: number
  readonly cached: number
  readonly written: number
}

interface CodexFound extends LineFound {
  readonly totals: CodexTotals
}

export function makeCodexTotals(session: string): CodexTotals {
  return { session, restarts: 0, at: 0, input: 0, output: 0, cached: 0, written: 0 }
}

/** Codex writes totals of the whole session: the cost of one answer is the difference to the previous line. */
export function readCodexLine(line: Fields, time: LineTime, totals: CodexTotals): CodexFound {
  const type = getField(line, 'type')
  const payload = getFields(line, 'payload')
  if (type === 'session_meta') return { ...NOTHING_FOUND, totals: enterSession(payload, totals) }
  if (type !== 'event_msg') return { ...NOTHING_FOUND, totals }
  if (payload === null) return { ...MALFORMED, totals }
  // Lines about rate limits only have no `info`.
  if (getField(payload, 'type') !== 'token_count' || isAbsent(payload, 'info')) return { ...NOTHING_FOUND, totals }
  const info = getFields(payload, 'info')
  const usage = info && getFields(info, 'total_token_usage')
  const counts = usage && getCounts(usage, COUNTS, SESSION_TOKENS_MAX)
  if (counts === null) return { ...MALFORMED, totals }
  const [input = 0, output = 0, cached = 0, written = 0] = counts
  return advance(totals, { ...totals, at: time.at, input, output, cached, written }, time.isOwn)
}

interface LineTime {
  readonly at: number
  /** False for a line without a time, which uses that of the previous line. */
  readonly isOwn: boolean
}

// A fork starts with the lines of its parent session, under that session's id: the usage ids are then the same in both
// files.
function enterSession(payload: Fields | null, totals: CodexTotals): CodexTotals {
  const session = payload && getId(payload, 'id')
  return session === null || session === totals.session ? totals : makeCodexTotals(session)
}

function advance(before: CodexTotals, now: CodexTotals, isTimed: boolean): CodexFound {
  const isSmaller = now.input < before.input || now.output < before.output
  // A late, older line adds nothing: the larger total includes it.
  if (isSmaller && isTimed && now.at < before.at) return { ...NOTHING_FOUND, totals: before }
  const base = isSmaller ? makeCodexTotals(before.session) : before
  const totals = isSmaller ? { ...now, restarts: before.restarts + 1 } : now
  return { usage: [subtractTotals(base, totals)], malformed: false, totals }
}

function subtractTotals(base: CodexTotals, now: CodexTotals): UsageSeen {
  const cacheRead = Math.max(0, now.cached - base.cached)
  const cacheWrite = Math.max(0, now.written - base.written)
  return {
    at: now.at,
    id: `${now.session} ${now.restarts}:${now.input}:${now.cached}:${now.output}`,
    input: Math.max(0, now.input - base.input - cacheRead - cacheWrite),
    output: now.output - base.output,
    cacheRead,
    cacheWrite,
  }
}
