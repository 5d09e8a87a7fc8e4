import type { Pool, PoolClient } from 'pg'
import { sha256Hex } from '../../base/sha256.js'
import { readPostgresReplaced } from '../erasure/replaced-contents.js'
import { StoreUnavailable, type VerifyProblem, type VerifyReport } from '../store.js'
import { countAtHead, makeFailedReport, makeProblem, type Outside, startLedgerWalk } from '../verify/ledger-walk.js'
import { readOutside } from '../verify/read-outside.js'
import { EVENT_COLUMNS } from '../wire.js'
import { createPool, isAway, toUnavailable } from './connect.js'
import { findForeignTrigger } from './schema.js'
import { readSearchColumns } from './write-batch.js'

const PAGE = 2_000

/** Verifies the ledger of a database without a server. */
export async function verifyPostgresLedger(url: string, dir: string): Promise<VerifyReport> {
  const pool = createPool(url)
  try {
    return await verifyPostgres(pool, dir)
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
    return makeFailedReport(makeProblem('unreadable', error.message))
  } finally {
    await pool.end()
  }
}

/**
 * Reads the whole ledger in one snapshot and reports its problems, the first bad event first. Rejects with
 * StoreUnavailable while PostgreSQL is away.
 */
export async function verifyPostgres(pool: Pool, dir: string): Promise<VerifyReport> {
  const read = readOutside(dir)
  if (!read.ok) return read.report
  let client: PoolClient | null = null
  try {
    client = await pool.connect()
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    return await walk(client, read.outside)
  } catch (error) {
    if (isAway(error)) throw toUnavailable(error, 'The ledger cannot be verified now')
    return makeFailedReport(makeProblem('unreadable', `The database cannot be read: ${String(error)}`))
  } finally {
    // Ending the connection ends the snapshot, whatever state it is in.
    client?.release(true)
  }
}

async function walk(client: PoolClient, outside: Outside): Promise<VerifyReport> {
  const ledger = startLedgerWalk(outside, await readPostgresReplaced(client))
  const others: VerifyProblem[] = []
  let last = 0
  let isWhole = true
  while (isWhole) {
    const { rows } = await client.query(
      `SELECT ${EVENT_COLUMNS}, tool, code, success, agent FROM event WHERE seq > $1 ORDER BY seq LIMIT $2`,
      [last, PAGE],
    )
    for (const row of rows) {
      isWhole = isWhole && ledger.pass(row)
      if (isWhole && others.length === 0) others.push(...judgeSearchColumns(row))
    }
    last = rows.at(-1)?.seq ?? last
    if (rows.length < PAGE) break
  }
  const ask = async (sql: string, values: readonly unknown[] = []) => (await client.query(sql, [...values])).rows
  const [end] = await ask('SELECT coalesce(max(seq), 0) AS seq FROM event')
  const [named] = await ask('SELECT hash FROM event WHERE seq = $1', [countAtHead(outside)])
  others.push(...(await judgeHeadRow(client)), ...(await judgeBlobs(client)), ...(await judgeTriggers(client)))
  return ledger.finish({
    last: end?.seq ?? 0,
    hashAtHead: named?.hash,
    streams: await ask('SELECT num, name FROM stream ORDER BY num'),
    others,
  })
}

// The columns that the audit filters by are not part of the hash.
function judgeSearchColumns(row: Record<string, unknown>): readonly VerifyProblem[] {
  const found = readSearchColumns(String(row.actor), String(row.data))
  const isSame = (['tool', 'code', 'success', 'agent'] as const).every((name) => row[name] === found[name])
  if (isSame) return []
  const detail = `Event ${row.seq} was changed: a column that searches use does not match its content.`
  const place = { seq: Number(row.seq), stream: String(row.stream), version: Number(row.version) }
  return [{ code: 'changed_event', detail, ...place }]
}

async function judgeHeadRow(client: PoolClient): Promise<readonly VerifyProblem[]> {
  const { rows } = await client.query(`
    SELECT h.count, (SELECT coalesce(max(seq), 0) FROM event) AS last, h.streams,
      (SELECT count(*) FROM stream) AS found,
      (SELECT count(*) FROM stream s WHERE NOT EXISTS (
        SELECT 1 FROM event e WHERE e.stream = s.name AND e.version = s.version AND e.hash = s.hash)) AS wrong
    FROM ledger_head h`)
  const head = rows[0]
  if (head !== undefined && head.count === head.last && head.streams === head.found && head.wrong === 0) return []
  return [makeProblem('head_mismatch', 'The head in the database does not match its events.')]
}

async function judgeBlobs(client: PoolClient): Promise<readonly VerifyProblem[]> {
  let after = ''
  for (;;) {
    const { rows } = await client.query(
      'SELECT sha256, content FROM blob WHERE sha256 > $1 ORDER BY sha256 LIMIT 100',
      [after],
    )
    for (const { sha256, content } of rows)
      if (sha256Hex(content) !== sha256)
        return [makeProblem('changed_blob', `The content stored under ${sha256} was changed.`)]
    if (rows.length < 100) return []
    after = rows.at(-1)?.sha256
  }
}

async function judgeTriggers(client: PoolClient): Promise<readonly VerifyProblem[]> {
  const found = await findForeignTrigger(client)
  return found === null ? [] : [makeProblem('schema_changed', `The database's schema was changed (${found}).`)]
}
