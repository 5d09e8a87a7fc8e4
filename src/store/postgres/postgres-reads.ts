import type { Pool, QueryResultRow } from 'pg'
import { sha256Hex } from '../../base/sha256.js'
import { clampPageLimit, decodeCursor, encodeCursor, readLimit } from '../cursor.js'
import { findOldestWanted, findSearchRange, toAuditPage, toLikePattern } from '../read/search-range.js'
import type {
  AuditFilter,
  AuditPage,
  AuditStats,
  Page,
  Remembered,
  StoredEvent,
  TaskFilter,
  TaskRow,
} from '../store.js'
import { EVENT_COLUMNS, toRemembered, toStoredEvent, toTaskRow } from '../wire.js'
import { KEY_LIFETIME_MS } from '../write/ledger-writer.js'
import { HELD } from '../write/write-statements.js'
import { toUnavailable } from './connect.js'

type Wanted = readonly (readonly [
  condition: string,
  value: string | number | boolean | readonly string[] | undefined,
])[]

/** Reads on the pool. Each sees everything that was acknowledged before it. */
export class PostgresReads {
  constructor(private readonly pool: Pool) {}

  async readStream(stream: string, afterVersion: number, limit: number): Promise<readonly StoredEvent[]> {
    const sql = `SELECT ${EVENT_COLUMNS} FROM event WHERE stream = $1 AND version > $2 ORDER BY version LIMIT $3`
    return (await this.#all(sql, [stream, afterVersion, readLimit(limit)])).map(toStoredEvent)
  }

  async readAllStreams(afterSeq: number, limit: number): Promise<readonly StoredEvent[]> {
    const sql = `SELECT ${EVENT_COLUMNS} FROM event WHERE seq > $1 ORDER BY seq LIMIT $2`
    return (await this.#all(sql, [afterSeq, readLimit(limit)])).map(toStoredEvent)
  }

  async lastSeq(): Promise<number> {
    return Number((await this.#all('SELECT count FROM ledger_head'))[0]?.count ?? 0)
  }

  async readTask(id: string): Promise<TaskRow | null> {
    return this.#firstTask('SELECT document FROM task WHERE id = $1', [id])
  }

  async readHeldBy(agentId: string): Promise<TaskRow | null> {
    return this.#firstTask(`SELECT document FROM task WHERE agent_id = $1 AND status IN ${HELD}`, [agentId])
  }

  async readTasks(filter: TaskFilter): Promise<Page<TaskRow>> {
    const { conditions, values } = toConditions([
      ['status =', filter.status],
      ['phase =', filter.phase],
      ['agent_id =', filter.agentId],
      ['num <', filter.cursor === undefined ? undefined : decodeCursor(filter.cursor)],
    ])
    if (filter.hasApproval) conditions.push('approval_expires_at IS NOT NULL')
    if (filter.hasQuestion !== undefined)
      conditions.push(filter.hasQuestion === 'open' ? 'open_questions > 0' : 'questions > 0')
    const limit = clampPageLimit(filter.limit)
    const sql = `SELECT num, document FROM task ${toWhere(conditions)} ORDER BY num DESC LIMIT $${values.length + 1}`
    const rows = await this.#all(sql, [...values, limit + 1])
    const items = rows.slice(0, limit)
    const last = rows.length > limit ? items.at(-1) : undefined
    return { items: items.map(toTaskRow), nextCursor: last === undefined ? null : encodeCursor(Number(last.num)) }
  }

  async readClaimable(offset: number, limit: number): Promise<readonly TaskRow[]> {
    const sql = `SELECT document FROM task WHERE status IN ('queued', 'interrupted') AND open_deps = 0
      ORDER BY priority DESC, created_at, num LIMIT $1 OFFSET $2`
    return (await this.#all(sql, [clampPageLimit(limit), Math.max(0, Math.trunc(offset))])).map(toTaskRow)
  }

  async readOverdue(now: number, limit: number): Promise<readonly TaskRow[]> {
    const sql = `SELECT document FROM task WHERE num IN (
        (SELECT num FROM task WHERE status IN ${HELD} AND lease_expires_at < $1 ORDER BY lease_expires_at LIMIT $2)
        UNION
        (SELECT num FROM task WHERE approval_expires_at < $1 ORDER BY approval_expires_at LIMIT $2))
      ORDER BY num LIMIT $2`
    return (await this.#all(sql, [now, clampPageLimit(limit)])).map(toTaskRow)
  }

  async countTasks(): Promise<readonly { readonly status: string; readonly phase: string; readonly count: number }[]> {
    const sql = 'SELECT status, phase, count(*) AS count FROM task GROUP BY status, phase ORDER BY status, phase'
    return (await this.#all(sql)).map(({ status, phase, count }) => ({ status, phase, count }))
  }

  async readDependents(id: string): Promise<readonly string[]> {
    return (await this.#all('SELECT task FROM dependency WHERE needs = $1 ORDER BY task', [id])).map(({ task }) => task)
  }

  async readBlobText(sha256: string): Promise<string | null> {
    const content = (await this.#all('SELECT content FROM blob WHERE sha256 = $1', [sha256]))[0]?.content
    if (!(content instanceof Uint8Array)) return null
    // Content that does not match its hash is never used.
    if (sha256Hex(content) !== sha256) throw new Error(`the content kept under ${sha256} was changed`)
    return Buffer.from(content).toString('utf8')
  }

  async recall(options: { readonly principal: string; readonly key: string; readonly now: number }) {
    const sql = `SELECT principal, key, body_hash, status, answer FROM idempotency
      WHERE principal = $1 AND key = $2 AND at > $3`
    const rows = await this.#all(sql, [options.principal, options.key, options.now - KEY_LIFETIME_MS])
    return (rows.map(toRemembered)[0] ?? null) as Remembered | null
  }

  async query(filter: AuditFilter): Promise<AuditPage> {
    const range = findSearchRange(filter, await this.lastSeq())
    const { conditions, values } = toConditions([
      ['stream =', filter.taskId === undefined ? undefined : `task:${filter.taskId}`],
      ['agent =', filter.agentId],
      ['phase =', filter.phase],
      ['tool =', filter.toolName],
      ['code =', filter.code],
      ['success =', filter.success],
      ['type =', filter.type],
      ['ARRAY[type] <@', filter.types],
      ['actor =', filter.actor],
      ['stream =', filter.stream],
      ['lower(data) LIKE', filter.text === undefined ? undefined : toLikePattern(filter.text.toLowerCase())],
      ['seq >=', range.to],
      ['seq <=', range.from],
      ['at >=', filter.since],
      ['at <=', filter.until],
    ])
    const limit = clampPageLimit(filter.limit)
    // Within one stream the version grows with seq, and the index on it makes the sort unnecessary.
    const order = filter.taskId === undefined && filter.stream === undefined ? 'seq DESC' : 'version DESC'
    const sql = `SELECT ${EVENT_COLUMNS} FROM event ${toWhere(conditions)} ORDER BY ${order} LIMIT $${values.length + 1}`
    const rows = await this.#all(sql, [...values, limit + 1])
    return toAuditPage(rows.map(toStoredEvent), { limit, range, oldest: findOldestWanted(filter) })
  }

  async readStats(): Promise<AuditStats> {
    const [totals] = await this.#all(
      `SELECT count(*) AS events, min(at) AS first_at, max(at) AS last_at, (SELECT count(*) FROM stream) AS streams
       FROM event`,
    )
    return {
      events: totals?.events ?? 0,
      streams: totals?.streams ?? 0,
      byType: toCounts(await this.#all('SELECT type AS name, count(*) AS count FROM event GROUP BY type')),
      byCode: toCounts(
        await this.#all('SELECT code AS name, count(*) AS count FROM event WHERE code IS NOT NULL GROUP BY code'),
      ),
      firstAt: totals?.first_at ?? null,
      lastAt: totals?.last_at ?? null,
    }
  }

  async #firstTask(sql: string, values: readonly unknown[]): Promise<TaskRow | null> {
    return (await this.#all(sql, values)).map(toTaskRow)[0] ?? null
  }

  async #all(sql: string, values: readonly unknown[] = []): Promise<QueryResultRow[]> {
    try {
      return (await this.pool.query(sql, [...values])).rows
    } catch (error) {
      throw toUnavailable(error, 'The ledger cannot be read now')
    }
  }
}

function toConditions(wanted: Wanted): { readonly conditions: string[]; readonly values: unknown[] } {
  const given = wanted.filter(([, value]) => value !== undefined)
  return {
    conditions: given.map(([condition], index) => `${condition} $${index + 1}`),
    values: given.map(([, value]) => value),
  }
}

function toWhere(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
}

function toCounts(rows: readonly QueryResultRow[]): Record<string, number> {
  return Object.fromEntries(rows.map(({ name, count }): [string, number] => [name, count]).sort())
}
