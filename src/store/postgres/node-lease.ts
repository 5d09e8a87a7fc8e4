import { createHmac, type KeyObject, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Pool, PoolClient } from 'pg'
import { readFileIfPresent, writeFileAtomically } from '../../base/atomic-file.js'
import { StoreRefused } from '../store.js'

export const LEASE_MS = 6_000
/** Unix milliseconds by the clock of the database. */
export const DATABASE_CLOCK = 'floor(extract(epoch FROM clock_timestamp()) * 1000)'
const NODE_ID = /^node-[0-9a-f]{12}$/

/** One start of a node. What it writes is refused after a later start of the same node. */
export interface NodeLease {
  readonly nodeId: string
  readonly epoch: number
}

/** The name of the node whose state directory this is; made at its first start. */
export function takeNodeId(dir: string): string {
  const file = join(dir, 'node.id')
  const known = readFileIfPresent(file)?.toString('utf8').trim()
  if (known !== undefined && NODE_ID.test(known)) return known
  if (known !== undefined)
    throw new StoreRefused(
      'unreachable',
      `${file} is not the id of a node. Restore it from a backup of this state directory.`,
    )
  const id = `node-${randomBytes(6).toString('hex')}`
  writeFileAtomically(file, `${id}\n`)
  return id
}

/** The number of an advisory lock that only servers with the key of the ledger know. */
export function computeLockNumber(key: KeyObject, purpose: string): string {
  return String(createHmac('sha256', key).update(purpose).digest().readBigInt64BE())
}

/**
 * Begins a new epoch of the node. `isAlone`: no other process holds the node's connection. Appends hold the same lock on
 * the head, so none of an earlier epoch is committed after this.
 */
export async function takeNode(
  client: PoolClient,
  options: { readonly nodeId: string; readonly leaseMs: number; readonly isAlone: boolean },
): Promise<NodeLease> {
  const { nodeId, leaseMs, isAlone } = options
  await client.query('BEGIN')
  try {
    await client.query('SELECT count FROM ledger_head FOR UPDATE')
    const { rows } = await client.query(
      `SELECT ceil(extract(epoch FROM expires_at - clock_timestamp()))::int AS left FROM node
       WHERE id = $1 AND expires_at > clock_timestamp()`,
      [nodeId],
    )
    if (rows.length > 0 && !isAlone)
      throw new StoreRefused(
        'locked',
        `Another server runs as ${nodeId} on this ledger. Stop it first, or remove node.id from the copy of its state directory.`,
      )
    const { rows: taken } = await client.query(
      `INSERT INTO node (id, epoch, program_version, secrets, started_at, seen_at, expires_at)
       VALUES ($1, 1, '', '[]', clock_timestamp(), clock_timestamp(), clock_timestamp() + $2 * interval '1 ms')
       ON CONFLICT (id) DO UPDATE SET epoch = node.epoch + 1, url = NULL, secrets = '[]', started_at = excluded.started_at,
         seen_at = excluded.seen_at, expires_at = excluded.expires_at, returns_until = NULL
       RETURNING epoch`,
      [nodeId, leaseMs],
    )
    // Streams of the time before nodes belong to the first one.
    await client.query("UPDATE stream SET home = $1 WHERE home = '' AND name <> 'system'", [nodeId])
    await client.query('COMMIT')
    return { nodeId, epoch: taken[0]?.epoch }
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  }
}

/** Whether the node still holds its epoch; extends its lease if it does. */
export async function renewLease(pool: Pool, { nodeId, epoch }: NodeLease, leaseMs: number): Promise<boolean> {
  const { rowCount } = await pool.query(
    `UPDATE node SET seen_at = clock_timestamp(), expires_at = clock_timestamp() + $3 * interval '1 ms'
     WHERE id = $1 AND epoch = $2`,
    [nodeId, epoch, leaseMs],
  )
  return rowCount === 1
}

/** The node answers no new calls from now on, and expects to be started again. */
export async function leaveNodes(pool: Pool, { nodeId, epoch }: NodeLease, returnMs: number): Promise<void> {
  await pool.query(
    `UPDATE node SET url = NULL, returns_until = clock_timestamp() + $3 * interval '1 ms' WHERE id = $1 AND epoch = $2`,
    [nodeId, epoch, returnMs],
  )
}

/** What it still tries to write is refused. */
export async function endLease(pool: Pool, { nodeId, epoch }: NodeLease): Promise<void> {
  await pool.query('UPDATE node SET expires_at = clock_timestamp() WHERE id = $1 AND epoch = $2', [nodeId, epoch])
}

/**
 * Notes which signing secrets this node accepts, the one it signs with first. Refused when a living node would not
 * accept its tokens, or the other way round.
 */
export async function agreeOnSecrets(
  client: PoolClient,
  { nodeId, epoch }: NodeLease,
  seals: readonly string[],
): Promise<void> {
  await client.query('BEGIN')
  try {
    await client.query('SELECT count FROM ledger_head FOR UPDATE')
    const { rows } = await client.query(
      "SELECT id, secrets FROM node WHERE id <> $1 AND expires_at > clock_timestamp() AND secrets <> '[]'",
      [nodeId],
    )
    for (const { id, secrets } of rows) {
      const theirs = JSON.parse(secrets) as readonly string[]
      if (seals.includes(theirs[0] ?? '') && theirs.includes(seals[0] ?? '')) continue
      throw new StoreRefused(
        'unreachable',
        `${id} signs its tokens with another secret. Give all nodes the same ORCHESTRATOR_JWT_SECRET; while it is changed, the other one in ORCHESTRATOR_JWT_SECRET_PREVIOUS.`,
      )
    }
    await client.query('UPDATE node SET secrets = $3 WHERE id = $1 AND epoch = $2', [
      nodeId,
      epoch,
      JSON.stringify(seals),
    ])
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK')
    // A node that was refused at its first start is not one of them.
    await client.query('DELETE FROM node WHERE id = $1 AND epoch = 1', [nodeId])
    throw error
  }
}

/** Ends the epoch of a node that is away and makes its streams those of another. The lock keeps appends out meanwhile. */
export async function adoptStreams(
  client: PoolClient,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<number | 'alive' | 'unknown'> {
  await client.query('BEGIN')
  try {
    await client.query('SELECT count FROM ledger_head FOR UPDATE')
    const { rows } = await client.query('SELECT expires_at > clock_timestamp() AS alive FROM node WHERE id = $1', [
      from,
    ])
    const found = rows[0]?.alive
    if (found === false)
      await client.query('UPDATE node SET epoch = epoch + 1, url = NULL, returns_until = NULL WHERE id = $1', [from])
    if (found === false) await client.query('UPDATE shared_tree SET home = $2 WHERE home = $1', [from, to])
    const moved = found === false ? await client.query('UPDATE stream SET home = $2 WHERE home = $1', [from, to]) : null
    await client.query('COMMIT')
    return moved === null ? (found === true ? 'alive' : 'unknown') : (moved.rowCount ?? 0)
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  }
}
