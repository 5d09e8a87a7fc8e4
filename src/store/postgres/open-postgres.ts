import type { KeyObject } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { Pool, PoolClient } from 'pg'
import { makeDirectory } from '../../base/atomic-file.js'
import { refuseRotating } from '../key-ring.js'
import { computeKeySeal } from '../key-seal.js'
import { createKeys, readChainKey, readPublicKey, readSigningKey } from '../keys.js'
import { listLedgerFiles } from '../ledger-files.js'
import { readNewestCheckpoint, writeNewestCheckpoint } from '../seals/seal-pointer.js'
import { StoreRefused } from '../store.js'
import { judgeEvent, type StreamEnd } from '../verify/verify-events.js'
import { EVENT_COLUMNS } from '../wire.js'
import { FIRST_PREV_HASH } from '../write/chain.js'
import { type Head, readHead, writeWholeHead } from '../write/head.js'
import { NODES } from './batch-view.js'
import { refuseMovedDatabase } from './moved-database.js'
import { computeLockNumber } from './node-lease.js'
import { findForeignTrigger, migrate, readSchemaVersion, refuseNewerSchema } from './schema.js'

const PAGE = 2_000
const WHAT_TO_DO =
  '`phaselock audit verify` shows the details; restore a backup of the database and the state directory.'

export interface OpenedPostgres {
  readonly key: KeyObject
  readonly head: Head
}

/**
 * Creates the ledger in an empty database, or checks and migrates the existing one. Throws StoreRefused for one that
 * must not be used.
 */
export async function openPostgres(pool: Pool, dir: string): Promise<OpenedPostgres> {
  const client = await pool.connect()
  try {
    refuseRotating(dir)
    await requireDurable(client)
    const version = await readSchemaVersion(client)
    const isNew = version === 0
    refuseNewerSchema(version)
    // Everything that can be refused is refused before anything is written.
    if (isNew) await requireEmptyPlace(client, dir)
    const key = isNew ? takeKeys(dir) : requireKeys(dir)
    await refuseEarlierVersion(client, key)
    if (!isNew) await requireOwnLedger(client, key)
    await migrate(client)
    await client.query("INSERT INTO meta (name, value) VALUES ('key_seal', $1) ON CONFLICT DO NOTHING", [
      computeKeySeal(key),
    ])
    await requireOwnLedger(client, key)
    const head = await settleHead(client, dir, key)
    await client.query(
      `INSERT INTO ledger_head (count, hash, streams, tasks, owner) VALUES (0, $1, 0, 0, $2)
       ON CONFLICT (only_row) DO UPDATE SET owner = excluded.owner`,
      [FIRST_PREV_HASH, NODES],
    )
    return { key, head }
  } finally {
    // Its lock ends with the connection.
    client.release(true)
  }
}

/** A server that does not wait for its disk would lose what was acknowledged. */
async function requireDurable(client: PoolClient): Promise<void> {
  const { rows } = await client.query("SELECT current_setting('fsync') AS fsync")
  if (rows[0]?.fsync !== 'on')
    throw new StoreRefused(
      'unreachable',
      'PostgreSQL runs with fsync = off, so that a power failure would lose acknowledged events. Set fsync = on.',
    )
}

/** An empty database is made a ledger if its user may, and if the directory has no events of another database. */
async function requireEmptyPlace(client: PoolClient, dir: string): Promise<void> {
  const { rows } = await client.query("SELECT has_schema_privilege(current_schema(), 'CREATE') AS may")
  if (rows[0]?.may !== true)
    throw new StoreRefused(
      'unreachable',
      'The PostgreSQL store cannot be opened: its user may not create tables. Give it the right (GRANT CREATE ON SCHEMA).',
    )
  const key = readChainKey(dir)
  const found = key === null ? null : readHead(dir, key)
  if (found?.state === 'valid' && found.head.count > 0)
    throw refuseTampered(
      `The database is empty, but the ledger head says ${found.head.count} events: events were cut off.`,
    )
}

/** Keys for a new database: those of a directory whose ledger has no events yet, or new ones. */
function takeKeys(dir: string): KeyObject {
  if (existsSync(listLedgerFiles(dir).database))
    throw new StoreRefused(
      'unreachable',
      `${dir} holds a ledger in SQLite, and the database is empty. Give this server its own --state-dir, or start it without --store.`,
    )
  const known = readChainKey(dir)
  if (known !== null) return known
  makeDirectory(listLedgerFiles(dir).checkpoints)
  const key = createKeys(dir)
  writeWholeHead(dir, key, { head: { count: 0, hash: FIRST_PREV_HASH }, generation: 0 })
  writeNewestCheckpoint(dir, key, { seq: 0, hash: FIRST_PREV_HASH })
  return key
}

function requireKeys(dir: string): KeyObject {
  const key = readChainKey(dir)
  if (key !== null && readSigningKey(dir) !== null && readPublicKey(dir) !== null) return key
  throw new StoreRefused(
    'tampered',
    `The database holds a ledger whose keys are not in ${dir}. Name the --state-dir of its server, or use an empty database.`,
  )
}

/** A server of the version that was alone on its database holds a lock while it is connected. */
async function refuseEarlierVersion(client: PoolClient, key: KeyObject): Promise<void> {
  const lock = computeLockNumber(key, 'phaselock advisory lock')
  const { rows } = await client.query('SELECT pg_try_advisory_lock_shared($1) AS taken', [lock])
  if (rows[0]?.taken === true) return
  throw new StoreRefused('locked', 'A server of an earlier version uses this ledger in PostgreSQL. Stop it first.')
}

async function requireOwnLedger(client: PoolClient, key: KeyObject): Promise<void> {
  const { rows } = await client.query("SELECT value FROM meta WHERE name = 'key_seal'")
  if (rows[0]?.value !== computeKeySeal(key))
    throw new StoreRefused(
      'tampered',
      'ledger.key is not the key that the ledger in this database was made with. Name the --state-dir of its server, or use an empty database.',
    )
  await refuseMovedDatabase(client)
  const trigger = await findForeignTrigger(client)
  if (trigger !== null) throw refuseTampered(`The database's schema was changed (${trigger}).`)
}

/** Compares the database with the head outside it. Events after the head were committed but perhaps not acknowledged. */
async function settleHead(client: PoolClient, dir: string, key: KeyObject): Promise<Head> {
  const found = readHead(dir, key)
  const { rows } = await client.query('SELECT seq, hash FROM event ORDER BY seq DESC LIMIT 1')
  const last: Head = { count: rows[0]?.seq ?? 0, hash: rows[0]?.hash ?? FIRST_PREV_HASH }
  if (found.state === 'missing')
    throw refuseTampered(`ledger.head is missing, but the database has ${last.count} events.`)
  if (found.state === 'invalid') throw refuseTampered(`ledger.head is not valid: ${found.detail}.`)
  const { head, generation, torn } = found
  if (last.count < head.count)
    throw refuseTampered(
      `The database ends at event ${last.count}, but the ledger head says ${head.count}: events were cut off.`,
    )
  await requireGoodEnd(client, key, head)
  const pointer = readNewestCheckpoint(dir, key)
  if (pointer === null) throw refuseTampered('ledger.checkpoint is missing or not valid.')
  if (pointer.seq > last.count) throw refuseTampered('The ledger was sealed at a later event: this is an older copy.')
  if (last.count > head.count || torn) writeWholeHead(dir, key, { head: last, generation })
  return last
}

// Other nodes may have written much since this one last did.
async function requireGoodEnd(client: PoolClient, key: KeyObject, head: Head): Promise<void> {
  const first = Math.max(1, head.count)
  const ends = new Map<string, StreamEnd>()
  for (let seq = first; ; ) {
    const { rows } = await client.query(`SELECT ${EVENT_COLUMNS} FROM event WHERE seq >= $1 ORDER BY seq LIMIT $2`, [
      seq,
      PAGE,
    ])
    if (seq === first && head.count > 0 && rows[0]?.hash !== head.hash)
      throw refuseTampered(`Event ${head.count} is not the one that the ledger head names.`)
    for (const row of rows) {
      const end = ends.get(row.stream) ?? (await readEndBefore(client, row.stream, row.version))
      const problem = judgeEvent(row, key, { seq, end })
      if (problem !== null) throw refuseTampered(problem.detail)
      ends.set(row.stream, { version: row.version, hash: row.hash })
      seq += 1
    }
    if (rows.length < PAGE) return
  }
}

async function readEndBefore(client: PoolClient, stream: string, version: number): Promise<StreamEnd | null> {
  const { rows } = await client.query('SELECT version, hash FROM event WHERE stream = $1 AND version = $2', [
    stream,
    version - 1,
  ])
  return rows[0] ?? null
}

function refuseTampered(detail: string): StoreRefused {
  return new StoreRefused('tampered', `${detail} ${WHAT_TO_DO}`)
}
