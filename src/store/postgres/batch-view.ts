import type { PoolClient, QueryResult } from 'pg'
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

// How many writes the transaction has carried out: a setting of its own, which ends with it.
const STEPS = 'phaselock.steps'

/** Writes, as `name AS (INSERT …)` with commas between them, in one statement that counts itself. */
export function countStep(writes: string): string {
  return `WITH ${writes} SELECT set_config('${STEPS}', (current_setting('${STEPS}')::int + 1)::text, true)`
}

/**
 * Fails in PostgreSQL unless so many writes were carried out. The commit follows in the same message: without this, a
 * write that never arrived would be missing from what is committed.
 */
export function requireSteps(steps: number): string {
  return `SELECT 1 / (current_setting('${STEPS}')::int = ${steps})::int`
}

/** What must hold before a batch is written. */
export interface BatchTerms {
  readonly lease: NodeLease
  /** The newest event that this node has acknowledged. It must still be there, whichever copy of the database answers. */
  readonly acknowledged: Head
  /** Known heads of streams that nobody else appends to. */
  readonly ownHeads: ReadonlyMap<string, StreamHead>
}

/**
 * Begins a transaction, locks the head of the ledger and reads what the appends are compared with. The statements are
 * sent together and answered in turn: each sees what was committed before the lock was had.
 */
export async function readBatchView(
  client: PoolClient,
  terms: BatchTerms,
  batch: readonly WireAppend[],
): Promise<BatchView> {
  const tasks = batch.flatMap(({ task }) => (task === undefined ? [] : [task]))
  const streams = new Set(batch.map(({ stream }) => stream))
  const known = [...streams].flatMap((name) => {
    const head = terms.ownHeads.get(name)
    return head === undefined ? [] : [[name, head] as const]
  })
  const agents = tasks.flatMap(({ agentId }) => (agentId === null ? [] : [agentId]))
  const [locked, , streamHeads, taskRows, held, keys] = await Promise.all([
    lockHead(client),
    requireTerms(client, terms),
    readStreamHeads(
      client,
      [...streams].filter((name) => !terms.ownHeads.has(name)),
    ),
    readTaskRows(client, [...new Set(tasks.map(({ id }) => id))]),
    readHeld(client, [...new Set(agents)]),
    readKeys(client, batch),
  ])
  return { ...locked, streamHeads: new Map([...known, ...streamHeads]), taskRows, held, keys }
}

async function lockHead(client: PoolClient): Promise<Pick<BatchView, 'head' | 'streams' | 'tasks'>> {
  // Several statements in one message: the driver then gives a list of results, which its types do not say.
  const sql = `BEGIN; SET LOCAL ${STEPS} = 0; SELECT count, hash, streams, tasks, owner FROM ledger_head FOR UPDATE`
  const results = (await client.query(sql)) as unknown as readonly QueryResult[]
  const head = results[2]?.rows[0]
  if (head === undefined) throw new StoreUnavailable('The head of the ledger is missing from the database.')
  if (head.owner !== NODES)
    throw new StoreUnavailable('A server of another version has taken over this ledger. This one writes nothing more.')
  return { head: { count: head.count, hash: head.hash }, streams: head.streams, tasks: head.tasks }
}

// A statement of its own after the lock: one that waited for the lock would see the nodes as they were before.
async function requireTerms(client: PoolClient, { lease, acknowledged }: BatchTerms): Promise<void> {
  const { rows } = await client.query({
    name: 'batch_terms',
    text: `SELECT epoch, expires_at > clock_timestamp() AS alive, (SELECT hash FROM event WHERE seq = $2) AS newest
      FROM node WHERE id = $1`,
    values: [lease.nodeId, acknowledged.count],
  })
  if (rows[0]?.epoch !== lease.epoch)
    throw new StoreUnavailable(`Another server has taken over ${lease.nodeId}. This one writes nothing more.`)
  if (rows[0]?.alive !== true)
    throw new StoreUnavailable(`The lease of ${lease.nodeId} has ended; nothing was written.`)
  if (acknowledged.count > 0 && rows[0]?.newest !== acknowledged.hash)
    throw new StoreUnavailable(`Event ${acknowledged.count} was acknowledged and is not in the database any more.`)
}

async function readStreamHeads(client: PoolClient, names: readonly string[]): Promise<Map<string, StreamHead>> {
  if (names.length === 0) return new Map()
  const { rows } = await client.query({
    name: 'batch_streams',
    text: 'SELECT num, name, version, hash, home FROM stream WHERE name = ANY($1)',
    values: [names],
  })
  return new Map(rows.map(({ name, num, version, hash, home }) => [name, { num, version, hash, home }]))
}

async function readTaskRows(client: PoolClient, ids: readonly string[]): Promise<Map<string, StoredTask>> {
  if (ids.length === 0) return new Map()
  const { rows } = await client.query({
    name: 'batch_tasks',
    text: 'SELECT num, id, document FROM task WHERE id = ANY($1)',
    values: [ids],
  })
  return new Map(rows.map(({ num, id, document }) => [id, { num, row: JSON.parse(document) as TaskRow }]))
}

async function readHeld(client: PoolClient, agents: readonly string[]): Promise<Map<string, string>> {
  if (agents.length === 0) return new Map()
  const { rows } = await client.query({
    name: 'batch_held',
    text: "SELECT agent_id, id FROM task WHERE agent_id = ANY($1) AND status IN ('active', 'awaiting_approval')",
    values: [agents],
  })
  return new Map(rows.map(({ agent_id: agent, id }) => [agent, id]))
}

async function readKeys(client: PoolClient, batch: readonly WireAppend[]): Promise<Map<string, number>> {
  const named = batch.flatMap(({ remember }) => (remember === undefined ? [] : [remember]))
  if (named.length === 0) return new Map()
  const { rows } = await client.query({
    name: 'batch_keys',
    text: `SELECT i.principal, i.key, i.at FROM idempotency i
       JOIN unnest($1::text[], $2::text[]) AS w (principal, key) USING (principal, key)`,
    values: [named.map(({ principal }) => principal), named.map(({ key }) => key)],
  })
  return new Map(rows.map(({ principal, key, at }) => [formatKey(principal, key), at]))
}

export function formatKey(principal: string, key: string): string {
  return JSON.stringify([principal, key])
}

export function getStreamHead(view: BatchView, stream: string): StreamHead {
  return view.streamHeads.get(stream) ?? { num: 0, version: 0, hash: FIRST_PREV_HASH, home: '' }
}
