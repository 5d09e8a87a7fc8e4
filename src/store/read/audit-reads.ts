import { clampPageLimit } from '../cursor.js'
import type { Database, Value } from '../database.js'
import type { AuditFilter, AuditPage, AuditStats, StoredEvent } from '../store.js'
import { EVENT_COLUMNS, toStoredEvent } from '../wire.js'
import {
  findOldestWanted,
  findSearchRange,
  isBounded,
  type SearchRange,
  toAuditPage,
  toLikePattern,
} from './search-range.js'

/** A search reads small parts at first, so that what is frequent is found at once, then larger ones. */
const FIRST_PART = 2_000
const PART_MAX = 32_000
/** For so long a search keeps the reader thread; the next page goes on. */
const SEARCH_MS_MAX = 250

/** Newest first. May read many rows when the filter is rare: run it in the reader thread. */
export function queryEvents(database: Database, filter: AuditFilter): AuditPage {
  const newest = Number(database.prepare('SELECT max(seq) AS seq FROM event').get()?.seq ?? 0)
  const range = findSearchRange(filter, newest)
  const limit = clampPageLimit(filter.limit)
  const oldest = findOldestWanted(filter)
  if (!isBounded(filter))
    return toAuditPage(readNewest(database, filter, { range, limit: limit + 1 }), { limit, range, oldest })
  const endsAt = performance.now() + SEARCH_MS_MAX
  const found: StoredEvent[] = []
  let next = range.from
  let size = FIRST_PART
  do {
    const part = { from: next, to: Math.max(range.to, next - size + 1) }
    found.push(...searchPart(database, filter, { range: part, limit: limit + 1 - found.length }))
    next = part.to - 1
    size = Math.min(PART_MAX, size * 2)
  } while (found.length <= limit && next >= range.to && performance.now() < endsAt)
  return toAuditPage(found, { limit, range: { from: range.from, to: next + 1 }, oldest })
}

interface Part {
  readonly range: SearchRange
  readonly limit: number
}

function readNewest(database: Database, filter: AuditFilter, { range, limit }: Part): StoredEvent[] {
  const { where, values } = toConditions(filter, range)
  // Within one stream the version grows with seq, and the index on it makes the sort unnecessary.
  const order = filter.taskId === undefined && filter.stream === undefined ? 'seq DESC' : 'version DESC'
  return database
    .prepare(`SELECT ${EVENT_COLUMNS} FROM event WHERE ${where} ORDER BY ${order} LIMIT ?`)
    .all(...values, limit)
    .map(toStoredEvent)
}

// Looks at the part from its oldest event on: a disk that is read backwards takes six times as long.
function searchPart(database: Database, filter: AuditFilter, { range, limit }: Part): StoredEvent[] {
  const { where, values } = toConditions(filter, range)
  const found = database.prepare(`SELECT seq FROM event WHERE ${where} ORDER BY seq`).all(...values)
  const wanted = found.slice(-limit).map(({ seq }) => Number(seq))
  return database
    .prepare(`SELECT ${EVENT_COLUMNS} FROM event WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq DESC`)
    .all(JSON.stringify(wanted))
    .map(toStoredEvent)
}

function toConditions(filter: AuditFilter, range: SearchRange): { readonly where: string; readonly values: Value[] } {
  const types = filter.types ?? []
  const wanted: [string, Value | undefined][] = [
    ['stream = ?', filter.taskId === undefined ? undefined : `task:${filter.taskId}`],
    ['agent = ?', filter.agentId],
    ['phase = ?', filter.phase],
    ['tool = ?', filter.toolName],
    ['code = ?', filter.code],
    ['success = ?', filter.success === undefined ? undefined : Number(filter.success)],
    ['type = ?', filter.type],
    ['actor = ?', filter.actor],
    // A part is read by number: the plus keeps SQLite from walking the whole stream for each part.
    [isBounded(filter) ? '+stream = ?' : 'stream = ?', filter.stream],
    // Letters of ASCII match in any case, without a copy of the data in small letters.
    ["data LIKE ? ESCAPE '\\'", filter.text === undefined ? undefined : toLikePattern(filter.text)],
    ['seq >= ?', range.to],
    ['seq <= ?', range.from],
    ['at >= ?', filter.since],
    ['at <= ?', filter.until],
  ]
  const given = wanted.filter(([, value]) => value !== undefined)
  const conditions = given.map(([condition]) => condition)
  if (types.length > 0) conditions.push(`type IN (${types.map(() => '?').join(', ')})`)
  return { where: conditions.join(' AND '), values: [...given.map(([, value]) => value ?? null), ...types] }
}

/** What was counted up to an event. */
export interface EventCounts {
  readonly seq: number
  readonly events: number
  readonly byType: Readonly<Record<string, number>>
  readonly firstAt: number | null
  readonly lastAt: number | null
}

export const NO_COUNTS: EventCounts = { seq: 0, events: 0, byType: {}, firstAt: null, lastAt: null }

/**
 * Adds what is new to what was counted before. Numbers, types and times of events never change; their codes do when a
 * text is erased, and are counted by an index.
 */
export function countEvents(database: Database, before: EventCounts): EventCounts {
  const rows = database
    .prepare(
      `SELECT type, count(*) AS count, max(seq) AS seq, min(at) AS first_at, max(at) AS last_at FROM event
       WHERE seq > ? GROUP BY type`,
    )
    .all(before.seq)
    .map(({ type, count, seq, first_at, last_at }) => ({
      ...{ type: String(type), count: Number(count), seq: Number(seq) },
      ...{ firstAt: Number(first_at), lastAt: Number(last_at) },
    }))
  if (rows.length === 0) return before
  const byType: Record<string, number> = { ...before.byType }
  for (const { type, count } of rows) byType[type] = (byType[type] ?? 0) + count
  return {
    seq: Math.max(...rows.map(({ seq }) => seq)),
    events: before.events + rows.reduce((sum, { count }) => sum + count, 0),
    byType: Object.fromEntries(Object.entries(byType).toSorted(([a], [b]) => (a < b ? -1 : 1))),
    firstAt: Math.min(before.firstAt ?? Number.POSITIVE_INFINITY, ...rows.map(({ firstAt }) => firstAt)),
    lastAt: Math.max(before.lastAt ?? 0, ...rows.map(({ lastAt }) => lastAt)),
  }
}

export function readAuditStats(database: Database, { events, byType, firstAt, lastAt }: EventCounts): AuditStats {
  const streams = database.prepare('SELECT count(*) AS streams FROM stream').get()
  return {
    ...{ events, byType, firstAt, lastAt },
    streams: Number(streams?.streams ?? 0),
    byCode: readCounts(
      database,
      'SELECT code AS name, count(*) AS count FROM event WHERE code IS NOT NULL GROUP BY code ORDER BY code',
    ),
  }
}

function readCounts(database: Database, sql: string): Record<string, number> {
  return Object.fromEntries(
    database
      .prepare(sql)
      .all()
      .map((row) => [String(row.name), Number(row.count)]),
  )
}
