import type { PoolClient } from 'pg'
import { StoreUnavailable, type TaskRow } from '../store.js'
import type { WireAppend } from '../wire.js'
import { FIRST_PREV_HASH } from '../write/chain.js'
import type { Head } from '../write/head.js'
import type { NodeLease } from './node-lease.js'

export interface StreamHead {
  /** Position among all streams, from 1. */
  readonly num: number
  readonly version: number
  readonly hash: string
  /** The node that appends to it; empty: every node. */
  readonly home: string
}

export interface StoredTask {
  readonly num: number
  readonly row: TaskRow
}

/** What a batch of appends is decided on. The lock on the head keeps it true until the transaction ends. */
export interface BatchView {
  head: Head
  streams: number
  tasks: number
  readonly streamHeads: Map<string, StreamHead>
  readonly taskRows: Map<string, StoredTask>
  /** The task that each agent holds. */
  readonly held: Map<string, string>
  /** When each idempotency key was taken, by principal and key. */
  readonly keys: Map<string, number>
}

/** In the place where an earlier version wrote its own name: it then writes nothing beside several nodes. */
export const NODES = 'nodes'

/** Locks the head of the ledger and reads what the appends are compared with. */
export async function readBatchView(
  client: PoolClient,
  lease: NodeLease,
  batch: readonly WireAppend[],
): Promise<BatchView> {
  const { rows } = await client.query('SELECT count, hash, streams, tasks, owner FROM ledger_head FOR UPDATE')
  const head = rows[0]
  if (head === undefined) throw new StoreUnavailable('The head of the ledger is missing from the database.')
  if (head.owner !== NODES)
    throw new StoreUnavailable('A server of another version has taken over this ledger. This one writes nothing more.')
  await requireLease(client, lease)
  const agents = batch.flatMap(({ task }) => (task?.agentId == null ? [] : [task.agentId]))
  return {
    head: { count: head.count, hash: head.hash },
    streams: head.streams,
    tasks: head.tasks,
    streamHeads: await readStreamHeads(client, [...new Set(batch.map(({ stream }) => stream))]),
    taskRows: await readTaskRows(client, [
      ...new Set(batch.flatMap(({ task }) => (task === undefined ? [] : [task.id]))),
    ]),
    held: await readHeld(client, [...new Set(agents)]),
    keys: await readKeys(client, batch),
  }
}

// Read after the lock was had: a statement that waited for it would see the nodes as they were before.
async function requireLease(client: PoolClient, { nodeId, epoch }: NodeLease): Promise<void> {
  const { rows } = await client.query('SELECT epoch, expires_at > clock_timestamp() AS alive FROM node WHERE id = $1', [
    nodeId,
  ])
  if (rows[0]?.epoch !== epoch)
    throw new StoreUnavailable(`Another server has taken over ${nodeId}. This one writes nothing more.`)
  if (rows[0]?.alive !== true) throw new StoreUnavailable(`The lease of ${nodeId} has ended; nothing was written.`)
}

async function readStreamHeads(client: PoolClient, names: readonly string[]): Promise<Map<string, StreamHead>> {
  const { rows } = await client.query('SELECT num, name, version, hash, home FROM stream WHERE name = ANY($1)', [names])
  return new Map(rows.map(({ name, ...head }) => [name, head]))
}

async function readTaskRows(client: PoolClient, ids: readonly string[]): Promise<Map<string, StoredTask>> {
  if (ids.length === 0) return new Map()
  const { rows } = await client.query('SELECT num, id, document FROM task WHERE id = ANY($1)', [ids])
  return new Map(rows.map(({ num, id, document }) => [id, { num, row: JSON.parse(document) as TaskRow }]))
}

async function readHeld(client: PoolClient, agents: readonly string[]): Promise<Map<string, string>> {
  if (agents.length === 0) return new Map()
  const { rows } = await client.query(
    "SELECT agent_id, id FROM task WHERE agent_id = ANY($1) AND status IN ('active', 'awaiting_approval')",
    [agents],
  )
  return new Map(rows.map(({ agent_id: agent, id }) => [agent, id]))
}

async function readKeys(client: PoolClient, batch: readonly WireAppend[]): Promise<Map<string, number>> {
  const named = batch.flatMap(({ remember }) => (remember === undefined ? [] : [remember]))
  if (named.length === 0) return new Map()
  const { rows } = await client.query(
    `SELECT i.principal, i.key, i.at FROM idempotency i
       JOIN unnest($1::text[], $2::text[]) AS w (principal, key) USING (principal, key)`,
    [named.map(({ principal }) => principal), named.map(({ key }) => key)],
  )
  return new Map(rows.map(({ principal, key, at }) => [formatKey(principal, key), at]))
}

export function formatKey(principal: string, key: string): string {
  return JSON.stringify([principal, key])
}

export function getStreamHead(view: BatchView, stream: string): StreamHead {
  return view.streamHeads.get(stream) ?? { num: 0, version: 0, hash: FIRST_PREV_HASH, home: '' }
}
