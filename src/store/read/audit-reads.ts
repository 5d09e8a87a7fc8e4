import { clampPageLimit, decodeCursor, encodeCursor } from '../cursor.js'
import type { Database, Value } from '../database.js'
import type { AuditFilter, AuditStats, Page, StoredEvent } from '../store.js'
import { EVENT_COLUMNS, toStoredEvent } from '../wire.js'

/** How many events one page of a text search reads at most: the next page goes on from there. */
const SEARCHED_MAX = 200_000

/** Newest first. May read many rows when the filter is rare: run it in the reader thread. */
export function queryEvents(database: Database, filter: AuditFilter): Page<StoredEvent> {
  const newest = database.prepare('SELECT max(seq) AS seq FROM event')
  const floor = filter.text === undefined ? 0 : findSearchFloor(filter, Number(newest.get()?.seq ?? 0))
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
    ['stream = ?', filter.stream],
    ['instr(lower(data), lower(?)) > 0', filter.text === undefined ? undefined : toStoredText(filter.text)],
    ['seq > ?', filter.afterSeq],
    ['seq > ?', floor === 0 ? undefined : floor],
    ['at >= ?', filter.since],
    ['at <= ?', filter.until],
    ['seq < ?', filter.cursor === undefined ? undefined : decodeCursor(filter.cursor)],
  ]
  const given = wanted.filter(([, value]) => value !== undefined)
  const conditions = given.map(([condition]) => condition)
  if (types.length > 0) conditions.push(`type IN (${types.map(() => '?').join(', ')})`)
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
  // Within one stream the version grows with seq, and the index on it makes the sort unnecessary.
  const order = filter.taskId === undefined ? 'seq DESC' : 'version DESC'
  const limit = clampPageLimit(filter.limit)
  const rows = database
    .prepare(`SELECT ${EVENT_COLUMNS} FROM event ${where} ORDER BY ${order} LIMIT ?`)
    .all(...given.map(([, value]) => value ?? null), ...types, limit + 1)
  return toEventPage(rows.map(toStoredEvent), { limit, floor, afterSeq: filter.afterSeq ?? 0 })
}

/** A page of the rows, of which there is one more than asked for if there are more. */
export function toEventPage(
  rows: readonly StoredEvent[],
  { limit, floor, afterSeq }: { readonly limit: number; readonly floor: number; readonly afterSeq: number },
): Page<StoredEvent> {
  const items = rows.slice(0, limit)
  if (rows.length > limit) return { items, nextCursor: encodeCursor(items.at(-1)?.seq ?? 0) }
  // A search that stopped at its bound goes on there.
  return { items, nextCursor: floor > Math.max(0, afterSeq) ? encodeCursor(floor + 1) : null }
}

/** A text as it stands in the data, which is JSON. */
export function toStoredText(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** The event at which a page of a text search stops; 0: it reads to the beginning. */
export function findSearchFloor({ cursor }: Pick<AuditFilter, 'cursor'>, newest: number): number {
  const from = cursor === undefined ? newest + 1 : decodeCursor(cursor)
  return Math.max(0, from - 1 - SEARCHED_MAX)
}

export function readAuditStats(database: Database): AuditStats {
  const totals = database.prepare('SELECT count(*) AS events, min(at) AS first_at, max(at) AS last_at FROM event').get()
  const streams = database.prepare('SELECT count(*) AS streams FROM stream').get()
  return {
    events: Number(totals?.events ?? 0),
    streams: Number(streams?.streams ?? 0),
    byType: readCounts(database, 'SELECT type AS name, count(*) AS count FROM event GROUP BY type ORDER BY type'),
    byCode: readCounts(
      database,
      'SELECT code AS name, count(*) AS count FROM event WHERE code IS NOT NULL GROUP BY code ORDER BY code',
    ),
    firstAt: totals?.first_at == null ? null : Number(totals.first_at),
    lastAt: totals?.last_at == null ? null : Number(totals.last_at),
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
