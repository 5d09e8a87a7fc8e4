import { assertUnreachable } from '../core/unreachable.js'
import { readClaudeCodeLine } from './claude-code.js'
import { type CodexTotals, makeCodexTotals, readCodexLine } from './codex.js'
import { RECENT_IDS_MAX, type TranscriptCursor } from './cursor.js'
import { type Fields, isFields, parseTime } from './fields.js'
import type { TranscriptFormat } from './folders.js'
import { readGeminiLine } from './gemini.js'
import { isEmpty, type LineFound, MALFORMED, mergeUsage, type UsageSeen } from './usage.js'

const BYTE_ORDER_MARK = '\ufeff'
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The totals of one call, updated line by line. */
export interface Tally {
  readonly format: TranscriptFormat
  readonly recent: Map<string, UsageSeen>
  /** Every answer that a line of this call reported. */
  readonly seen: Map<string, UsageSeen>
  at: number
  latestAt: number
  readonly countedUntil: number
  totals: CodexTotals
  turns: number
  malformed: number
  skippedBytes: number
}

/** `name` identifies the session until a line of the file names it. */
export function startTally(format: TranscriptFormat, name: string, cursor: TranscriptCursor | null): Tally {
  return {
    format,
    recent: new Map((cursor?.recent ?? []).slice(-RECENT_IDS_MAX).map((usage) => [usage.id, usage])),
    seen: new Map(),
    at: cursor?.at ?? 0,
    latestAt: cursor?.latestAt ?? -1,
    countedUntil: cursor?.countedUntil ?? -1,
    totals: cursor?.totals ?? makeCodexTotals(name),
    turns: 0,
    malformed: 0,
    skippedBytes: 0,
  }
}

export function takeLine(tally: Tally, bytes: Buffer, isFirst: boolean): void {
  const text = decode(bytes, isFirst)
  if (text !== null && text.trim() === '') return
  const line = text === null ? null : parse(text)
  const found = line === null ? MALFORMED : read(tally, line)
  for (const usage of found.usage) count(tally, usage)
  if (found.malformed) {
    tally.malformed += 1
    tally.skippedBytes += bytes.length
  }
}

function decode(bytes: Buffer, isFirst: boolean): string | null {
  try {
    const text = decoder.decode(bytes)
    return isFirst && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text
  } catch {
    return null
  }
}

function parse(text: string): Fields | null {
  try {
    const value: unknown = JSON.parse(text)
    return isFields(value) ? value : null
  } catch {
    return null
  }
}

function read(tally: Tally, line: Fields): LineFound {
  const own = parseTime(line)
  const at = own ?? tally.at
  tally.at = at
  tally.latestAt = Math.max(tally.latestAt, at)
  switch (tally.format) {
    case 'claude-code':
      return readClaudeCodeLine(line, at)
    case 'gemini':
      return readGeminiLine(line, at)
    case 'codex': {
      const found = readCodexLine(line, { at, isOwn: own !== null }, tally.totals)
      tally.totals = found.totals
      return found
    }
    default:
      return assertUnreachable(tally.format)
  }
}

function count(tally: Tally, usage: UsageSeen): void {
  if (isEmpty(usage)) return
  const known = tally.recent.get(usage.id)
  const merged = known === undefined ? usage : mergeUsage(known, usage)
  if (known === undefined && usage.at > tally.countedUntil) tally.turns += 1
  // Removed and added again: the map's order is the order of last use.
  tally.recent.delete(usage.id)
  tally.recent.set(usage.id, merged)
  if (tally.recent.size > RECENT_IDS_MAX) {
    const oldest = tally.recent.keys().next()
    if (!oldest.done) tally.recent.delete(oldest.value)
  }
  const earlier = tally.seen.get(usage.id)
  tally.seen.set(usage.id, earlier === undefined ? merged : mergeUsage(earlier, merged))
}
