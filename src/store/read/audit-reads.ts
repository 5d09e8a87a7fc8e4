import { clampPageLimit, decodeCursor, encodeCursor } from '../cursor.js'
import type { Database, Value } from '../database.js'
import type { AuditFilter, AuditStats, Page, StoredEvent } from '../store.js'
import { EVENT_COLUMNS, toStoredEvent } from '../wire.js'

/** Newest first. May read many rows when the filter is rare: run it in the reader thread. */
export function queryEvents(database: Database, filter: AuditFilter): Page<StoredEvent> {
  const wanted: [string, Value | undefined][] = [
    ['stream = ?', filter.taskId === undefined ? undefined : `task:${filter.taskId}`],
    ['agent = ?', filter.agentId],
    ['phase = ?', filter.phase],
    ['tool = ?', filter.toolName],
    ['code = ?', filter.code],
    ['success = ?', filter.success === undefined ? undefined : Number(filter.success)],
    ['type = ?', filter.type],
    ['at >= ?', filter.since],
    ['at <= ?', filter.until],
    ['seq < ?', filter.cursor === undefined ? undefined : decodeCursor(filter.cursor)],
  ]
  const given = wanted.filter(([, value]) => value !== undefined)
  const where = given.length === 0 ? '' : `WHERE ${given.map(([condition]) => condition).join(' AND ')}`
  // Within one stream the version grows with seq, and the index on it makes the sort unnecessary.
  const order = filter.taskId === undefined ? 'seq DESC' : 'version DESC'
  const limit = clampPageLimit(filter.limit)
  const rows = database
    .prepare(`SELECT ${EVENT_COLUMNS} FROM event ${where} ORDER BY ${order} LIMIT ?`)
    .all(...given.map(([, value]) => value ?? null), limit + 1)
  const items = rows.slice(0, limit).map(toStoredEvent)
  return { items, nextCursor: rows.length > limit ? encodeCursor(items.at(-1)?.seq ?? 0) : null }
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
