import { sha256Hex } from '../../base/sha256.js'
import { clampPageLimit, decodeCursor, encodeCursor, readLimit } from '../cursor.js'
import { type Database, openDatabase, type Value } from '../database.js'
import { listLedgerFiles } from '../ledger-files.js'
import {
  type Page,
  type Remembered,
  type StoredEvent,
  StoreUnavailable,
  type TaskFilter,
  type TaskRow,
} from '../store.js'
import { EVENT_COLUMNS, toRemembered, toStoredEvent, toTaskRow } from '../wire.js'
import { KEY_LIFETIME_MS } from '../write/ledger-writer.js'
import { HELD } from '../write/write-statements.js'

// The index is named: statistics must never make the planner sort all waiting tasks for one claim.
export const CLAIMABLE_SQL = `SELECT document FROM task INDEXED BY task_claimable
  WHERE status IN ('queued', 'interrupted') AND open_deps = 0
  ORDER BY priority DESC, created_at, num LIMIT ? OFFSET ?`

/** Small indexed reads on a read-only connection. Each sees everything that was acknowledged before it. */
export class PointReads {
  #database: Database | null = null
  readonly #dir: string

  constructor(dir: string) {
    this.#dir = dir
  }

  stream(stream: string, afterVersion: number, limit: number): readonly StoredEvent[] {
    return this.#all(`SELECT ${EVENT_COLUMNS} FROM event WHERE stream = ? AND version > ? ORDER BY version LIMIT ?`, [
      stream,
      afterVersion,
      readLimit(limit),
    ]).map(toStoredEvent)
  }

  readAllStreams(afterSeq: number, limit: number): readonly StoredEvent[] {
    return this.#all(`SELECT ${EVENT_COLUMNS} FROM event WHERE seq > ? ORDER BY seq LIMIT ?`, [
      afterSeq,
      readLimit(limit),
    ]).map(toStoredEvent)
  }

  /** The writer maintains it with every row, so it costs the same with any number of tasks. */
  taskCounts(): readonly { readonly status: string; readonly phase: string; readonly count: number }[] {
    return this.#all('SELECT status, phase, count FROM task_count WHERE count > 0 ORDER BY status, phase', []).map(
      (row) => ({ status: String(row.status), phase: String(row.phase), count: Number(row.count) }),
    )
  }

  lastSeq(): number {
    return Number(this.#all('SELECT max(seq) AS seq FROM event', [])[0]?.seq ?? 0)
  }

  readTask(id: string): TaskRow | null {
    return takeFirst(this.#all('SELECT document FROM task WHERE id = ?', [id]).map(toTaskRow))
  }

  readTasks(filter: TaskFilter): Page<TaskRow> {
    const wanted: [string, Value | undefined][] = [
      ['status = ?', filter.status],
      ['phase = ?', filter.phase],
      ['agent_id = ?', filter.agentId],
      ['num < ?', filter.cursor === undefined ? undefined : decodeCursor(filter.cursor)],
    ]
    const given = wanted.filter(([, value]) => value !== undefined)
    const conditions = given.map(([condition]) => condition)
    if (filter.hasApproval) conditions.push('approval_expires_at IS NOT NULL')
    if (filter.hasQuestion !== undefined)
      conditions.push(filter.hasQuestion === 'open' ? 'open_questions > 0' : 'questions > 0')
    const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
    const limit = clampPageLimit(filter.limit)
    const values = given.map(([, value]) => value ?? null)
    // Sorts numbers, which an index holds, and reads the documents of this page only: there may be many tasks.
    const page = `SELECT num FROM task ${where} ORDER BY num DESC LIMIT ?`
    const rows = this.#all(`SELECT num, document FROM task WHERE num IN (${page}) ORDER BY num DESC`, [
      ...values,
      limit + 1,
    ])
    const items = rows.slice(0, limit)
    const isMore = rows.length > limit
    return { items: items.map(toTaskRow), nextCursor: isMore ? encodeCursor(Number(items.at(-1)?.num)) : null }
  }

  readClaimable(offset: number, limit: number): readonly TaskRow[] {
    return this.#all(CLAIMABLE_SQL, [clampPageLimit(limit), Math.max(0, Math.trunc(offset))]).map(toTaskRow)
  }

  readHeldBy(agentId: string): TaskRow | null {
    return takeFirst(
      this.#all(`SELECT document FROM task WHERE agent_id = ? AND status IN ${HELD}`, [agentId]).map(toTaskRow),
    )
  }

  readOverdue(now: number, limit: number): readonly TaskRow[] {
    return this.#all(
      `SELECT document FROM task WHERE num IN (
         SELECT num FROM (SELECT num FROM task INDEXED BY task_lease WHERE status IN ${HELD} AND lease_expires_at < ?1
           ORDER BY lease_expires_at LIMIT ?2)
         UNION SELECT num FROM (SELECT num FROM task WHERE approval_expires_at IS NOT NULL
           AND approval_expires_at < ?1 ORDER BY approval_expires_at LIMIT ?2))
       ORDER BY num LIMIT ?2`,
      [now, clampPageLimit(limit)],
    ).map(toTaskRow)
  }

  readDependents(id: string): readonly string[] {
    return this.#all('SELECT task FROM dependency WHERE needs = ? ORDER BY task', [id]).map((row) => String(row.task))
  }

  readBlobText(sha256: string): string | null {
    const content = this.#all('SELECT content FROM blob WHERE sha256 = ?', [sha256])[0]?.content
    if (!(content instanceof Uint8Array)) return null
    // Content that does not match its hash is never used.
    if (sha256Hex(content) !== sha256) throw new Error(`the content kept under ${sha256} was changed`)
    return Buffer.from(content).toString('utf8')
  }

  recall(options: { readonly principal: string; readonly key: string; readonly now: number }): Remembered | null {
    const values = [options.principal, options.key, options.now - KEY_LIFETIME_MS]
    return takeFirst(
      this.#all(
        `SELECT principal, key, body_hash, status, answer FROM idempotency WHERE principal = ? AND key = ? AND at > ?`,
        values,
      ).map(toRemembered),
    )
  }

  close(): void {
    this.#database?.close()
    this.#database = null
  }

  #all(sql: string, values: readonly Value[]) {
    try {
      this.#database ??= openDatabase(listLedgerFiles(this.#dir).database, { readOnly: true })
      return this.#database.prepare(sql).all(...values)
    } catch (error) {
      this.close()
      throw new StoreUnavailable(`The ledger cannot be read now: ${String(error)}`, { cause: error })
    }
  }
}

function takeFirst<T>(items: readonly T[]): T | null {
  return items[0] ?? null
}
