import { decodeCursor, encodeCursor } from '../cursor.js'
import type { AuditFilter, AuditPage, StoredEvent } from '../store.js'

/** Numbers of events, the newest first. */
export interface SearchRange {
  readonly from: number
  readonly to: number
}

/** Which events a page looks at. */
export function findSearchRange(filter: AuditFilter, newest: number): SearchRange {
  const from = filter.cursor === undefined ? newest : Math.min(newest, decodeCursor(filter.cursor) - 1)
  const oldest = findOldestWanted(filter)
  return { from, to: isBounded(filter) ? Math.max(oldest, from - filter.searchedMax + 1) : oldest }
}

/** Whether a page ends after a number of events that were looked at. One task is found by an index, and read whole. */
export function isBounded(filter: AuditFilter): filter is AuditFilter & { readonly searchedMax: number } {
  return filter.searchedMax !== undefined && filter.taskId === undefined
}

export function findOldestWanted({ afterSeq }: AuditFilter): number {
  return (afterSeq ?? 0) + 1
}

interface Searched {
  readonly limit: number
  /** What was looked at. */
  readonly range: SearchRange
  /** The last event that the search may come to. */
  readonly oldest: number
}

/** A page of the rows, of which there is one more than asked for if there are more. */
export function toAuditPage(rows: readonly StoredEvent[], { limit, range, oldest }: Searched): AuditPage {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  if (rows.length > limit && last !== undefined)
    return { items, nextCursor: encodeCursor(last.seq), searched: { from: range.from, to: last.seq } }
  // A search that stopped at its bound goes on there.
  return { items, nextCursor: range.to > oldest ? encodeCursor(range.to) : null, searched: range }
}

/** A pattern for a text as it stands in the data, which is JSON. */
export function toLikePattern(text: string): string {
  const stored = JSON.stringify(text).slice(1, -1)
  return `%${stored.replace(/[\\%_]/g, '\\$&')}%`
}
