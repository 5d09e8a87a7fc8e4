import { createHmac, type KeyObject } from 'node:crypto'
import type { Pool } from 'pg'
import type { NodeNote, NodeRow } from '../cluster.js'
import type { SharedTreesNote } from '../shared-trees/shared-folder.js'
import { toUnavailable } from './connect.js'
import type { NodeLease } from './node-lease.js'

type Sealer = NodeLease & { readonly key: KeyObject }

/** Tokens are sent to this address. It is sealed, so that write access to the database is not enough to change it. */
export async function announceNode(pool: Pool, { nodeId, epoch, key }: Sealer, note: NodeNote): Promise<void> {
  const url = `${computeSeal(key, ['node address', nodeId, note.url])} ${note.url}`
  await pool.query('UPDATE node SET url = $3, program_version = $4 WHERE id = $1 AND epoch = $2', [
    ...[nodeId, epoch, url, note.programVersion],
  ])
}

/** Who adopts the node relies on it: sealed like the address. */
export async function declareSharedTrees(
  pool: Pool,
  { nodeId, epoch, key }: Sealer,
  note: SharedTreesNote | null,
): Promise<void> {
  const sealed = note === null ? null : `${sealSharedTrees(key, nodeId, note)} ${note.id} ${note.folder}`
  await pool.query('UPDATE node SET shared_trees = $3 WHERE id = $1 AND epoch = $2', [nodeId, epoch, sealed])
}

/** The home of a shared tree. A start of the node that was superseded takes none. */
export async function takeTree(
  pool: Pool,
  { nodeId, epoch }: NodeLease,
  one: { readonly folderId: string; readonly tree: string },
): Promise<string | null> {
  const text = `INSERT INTO shared_tree (folder, tree, home)
    SELECT $1, $2, id FROM node WHERE id = $3 AND epoch = $4
    ON CONFLICT (folder, tree) DO UPDATE SET home = shared_tree.home RETURNING home`
  const { rows } = await pool.query(text, [one.folderId, one.tree, nodeId, epoch]).catch((error: unknown) => {
    throw toUnavailable(error, 'The home of the tree cannot be read now')
  })
  return rows[0]?.home ?? null
}

export async function readNodes(pool: Pool, key: KeyObject): Promise<readonly NodeRow[]> {
  const { rows } = await pool.query(
    `SELECT id, epoch, url, program_version, extract(epoch FROM started_at) * 1000 AS started,
       extract(epoch FROM seen_at) * 1000 AS seen, expires_at > clock_timestamp() AS alive,
       coalesce(returns_until > clock_timestamp(), false) AS returning, shared_trees
     FROM node ORDER BY id`,
  )
  return rows.map(({ id, epoch, url, program_version: programVersion, started, seen, alive, returning, ...row }) => ({
    ...{ id, epoch, url: readAddress(key, id, url), programVersion, isAlive: alive, isReturning: returning },
    ...{ startedAt: Math.round(Number(started)), seenAt: Math.round(Number(seen)) },
    sharedTrees: readSharedTrees(key, id, row.shared_trees),
  }))
}

function readAddress(key: KeyObject, nodeId: string, sealed: string | null): string | null {
  const [seal = '', url = ''] = (sealed ?? '').split(' ')
  return sealed !== null && seal === computeSeal(key, ['node address', nodeId, url]) ? url : null
}

function readSharedTrees(key: KeyObject, nodeId: string, sealed: string | null): NodeRow['sharedTrees'] {
  if (sealed === null) return null
  const [seal = '', id = '', ...rest] = sealed.split(' ')
  const note = { id, folder: rest.join(' ') }
  return seal === sealSharedTrees(key, nodeId, note) ? note : 'forged'
}

function sealSharedTrees(key: KeyObject, nodeId: string, { id, folder }: SharedTreesNote): string {
  return computeSeal(key, ['shared trees', nodeId, id, folder])
}

function computeSeal(key: KeyObject, said: readonly string[]): string {
  return createHmac('sha256', key).update(JSON.stringify(said)).digest('hex')
}
