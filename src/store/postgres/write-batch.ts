import type { KeyObject } from 'node:crypto'
import type { PoolClient } from 'pg'
import type { JsonObject } from '../../core/json.js'
import { SYSTEM_STREAM } from '../cluster.js'
import type { TaskRow } from '../store.js'
import type { WireAppend, WireRemembered, WireResult } from '../wire.js'
import type { Lines } from '../write/broken-lines.js'
import { computeEventHash } from '../write/chain.js'
import type { Head } from '../write/head.js'
import { KEY_LIFETIME_MS } from '../write/ledger-writer.js'
import {
  type BatchTerms,
  type BatchView,
  countStep,
  formatKey,
  getStreamHead,
  readBatchView,
  type StreamHead,
} from './batch-view.js'
import { transpose } from './transpose.js'
import { writeTasks } from './write-tasks.js'

/** The rows that a batch adds. */
interface Written {
  /** Those of the part that is being decided. */
  events: EventRow[]
  streams: Set<string>
  /** The newest row of each task that changed, and the row before the batch. */
  readonly tasks: Map<string, { readonly num: number; readonly row: TaskRow; readonly before: TaskRow | null }>
  readonly blobs: Map<string, string>
  readonly keys: Map<string, WireRemembered>
}

type EventRow = readonly [
  seq: number,
  stream: string,
  version: number,
  type: string,
  at: number,
  actor: string,
  epoch: number,
  phase: string | null,
  contract: string | null,
  data: string,
  prevHash: string,
  hash: string,
  tool: string | null,
  code: string | null,
  success: boolean | null,
  agent: string | null,
]

// Small enough that the database begins early, large enough that few statements are needed.
const PART = 32

interface Batch extends BatchTerms {
  readonly key: KeyObject
  readonly lines: Lines
  readonly appends: readonly WireAppend[]
  /** Ends the transaction; rejects if PostgreSQL has rolled it back, as it does unless all steps were carried out. */
  readonly commit: (head: Head, steps: number) => Promise<void>
}

/**
 * Decides and writes a batch in one transaction of two round trips: lock and read, write and commit. Refusing one append
 * does not affect the others. PostgreSQL inserts each part while the next one is hashed.
 */
export async function writeBatch(
  client: PoolClient,
  batch: Batch,
): Promise<{
  readonly results: readonly WireResult[]
  readonly head: Head
  readonly streamHeads: ReadonlyMap<string, StreamHead>
}> {
  const view = await readBatchView(client, batch, batch.appends)
  const written: Written = { events: [], streams: new Set(), tasks: new Map(), blobs: new Map(), keys: new Map() }
  const results: WireResult[] = []
  const writes: Promise<unknown>[] = []
  const send = (more: readonly Promise<unknown>[]) => {
    // They are waited for below, unless a later append cannot be decided.
    for (const write of more) write.catch(() => undefined)
    writes.push(...more)
  }
  for (let first = 0; first < batch.appends.length; first += PART) {
    for (const append of batch.appends.slice(first, first + PART)) {
      const result = applyAppend(view, written, batch, append)
      if (!result.ok) batch.lines.break(append.line)
      results.push(result)
    }
    send(insertEvents(client, view, written))
    written.events = []
    written.streams = new Set()
  }
  send(insertRest(client, written))
  const committed = batch.commit(view.head, writes.length)
  // The first statement that fails says why the others do.
  committed.catch(() => undefined)
  await Promise.all(writes)
  await committed
  return { results, head: view.head, streamHeads: view.streamHeads }
}

function applyAppend(view: BatchView, written: Written, batch: Batch, append: WireAppend): WireResult {
  const { lease, lines } = batch
  const { id, remember, task, stream } = append
  if (remember !== undefined && remember.replaces !== true && isKeyTaken(view, remember))
    return { id, ok: false, reason: 'key_taken' }
  const head = getStreamHead(view, stream)
  if (head.home !== '' && head.home !== lease.nodeId) return { id, ok: false, reason: 'wrong_node', home: head.home }
  if (head.version !== append.expectedVersion || lines.isBroken(append.line))
    return { id, ok: false, reason: 'version_conflict', version: head.version }
  if (task !== undefined && isAgentBusy(view, task)) return { id, ok: false, reason: 'agent_busy' }
  const seq = view.head.count + 1
  const hashes = addEvents(view, written, batch, append)
  if (task !== undefined) addTask(view, written, task)
  for (const blob of append.blobs ?? []) written.blobs.set(blob.sha256, blob.content)
  if (remember !== undefined) {
    const name = formatKey(remember.principal, remember.key)
    view.keys.set(name, remember.at)
    written.keys.set(name, remember)
  }
  return { id, ok: true, seq, prevHash: head.hash, hashes }
}

function isKeyTaken(view: BatchView, { principal, key, at }: WireRemembered): boolean {
  const taken = view.keys.get(formatKey(principal, key))
  return taken !== undefined && taken > at - KEY_LIFETIME_MS
}

function isHeld({ status }: TaskRow): boolean {
  return status === 'active' || status === 'awaiting_approval'
}

function isAgentBusy(view: BatchView, task: TaskRow): boolean {
  if (task.agentId === null || !isHeld(task)) return false
  const held = view.held.get(task.agentId)
  return held !== undefined && held !== task.id
}

function addEvents(view: BatchView, written: Written, { key, lease }: Batch, append: WireAppend): string[] {
  const { stream } = append
  const before = getStreamHead(view, stream)
  let { version, hash: prevHash } = before
  let seq = view.head.count
  const hashes: string[] = []
  for (const [type, at, actor, epoch, phase, contract, dataText] of append.events) {
    seq += 1
    version += 1
    const columns = { seq, stream, version, type, at, actor, epoch, phase, contract, dataText, prevHash }
    const hash = computeEventHash(key, columns)
    const found = readSearchColumns(actor, dataText)
    written.events.push([
      ...[seq, stream, version, type, at, actor, epoch, phase, contract, dataText, prevHash, hash],
      ...[found.tool, found.code, found.success, found.agent],
    ] as unknown as EventRow)
    hashes.push(hash)
    prevHash = hash
  }
  if (hashes.length === 0) return hashes
  if (before.num === 0) view.streams += 1
  const home = before.num === 0 && stream !== SYSTEM_STREAM ? lease.nodeId : before.home
  view.streamHeads.set(stream, { num: before.num || view.streams, version, hash: prevHash, home })
  view.head = { count: seq, hash: prevHash }
  written.streams.add(stream)
  return hashes
}

/** Values that the audit filters by, read from the data of an event. */
export function readSearchColumns(actor: string, dataText: string) {
  const data = JSON.parse(dataText) as JsonObject
  const agent = typeof data.agent_id === 'string' ? data.agent_id : null
  return {
    tool: toSearchText(data.tool_name),
    code: toSearchText(data.code),
    success: typeof data.success === 'boolean' ? data.success : null,
    agent: toSearchText(agent ?? (actor.startsWith('agent:') ? actor.slice(6) : null)),
  }
}

// PostgreSQL stores no NUL in a text; such a value can only be found by its stream.
function toSearchText(value: unknown): string | null {
  return typeof value === 'string' && !value.includes('\0') ? value : null
}

function addTask(view: BatchView, written: Written, row: TaskRow): void {
  const known = view.taskRows.get(row.id)
  if (known === undefined) view.tasks += 1
  const num = known?.num ?? view.tasks
  const before = written.tasks.has(row.id) ? (written.tasks.get(row.id)?.before ?? null) : (known?.row ?? null)
  if (known?.row.agentId != null && view.held.get(known.row.agentId) === row.id) view.held.delete(known.row.agentId)
  if (row.agentId !== null && isHeld(row)) view.held.set(row.agentId, row.id)
  view.taskRows.set(row.id, { num, row })
  written.tasks.set(row.id, { num, row, before })
}

function insertRest(client: PoolClient, { tasks, blobs, keys }: Written): Promise<unknown>[] {
  return [
    ...writeTasks(client, [...tasks.values()]),
    ...[...blobs].map(([sha256, content]) => insertBlob(client, sha256, content)),
    ...insertKeys(client, [...keys.values()]),
  ]
}

function insertEvents(client: PoolClient, view: BatchView, { events, streams, tasks }: Written): Promise<unknown>[] {
  if (events.length === 0 && tasks.size === 0) return []
  const streamRows = [...streams].map((name) => {
    const { num, version, hash, home } = getStreamHead(view, name)
    return [num, name, version, hash, home]
  })
  return [
    client.query({
      name: 'batch_events',
      text: countStep(`events AS (
        INSERT INTO event (seq, stream, version, type, at, actor, epoch, phase, contract, data, prev_hash, hash,
          tool, code, success, agent)
        SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::text[], $7::bigint[],
          $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::boolean[],
          $16::text[])
      ), streams AS (
        INSERT INTO stream (num, name, version, hash, home)
        SELECT * FROM unnest($17::bigint[], $18::text[], $19::bigint[], $20::text[], $21::text[])
        ON CONFLICT (name) DO UPDATE SET version = excluded.version, hash = excluded.hash
      ), head AS (
        UPDATE ledger_head SET count = $22, hash = $23, streams = $24, tasks = $25
      )`),
      values: [
        ...transpose(events, 16),
        ...transpose(streamRows, 5),
        ...[view.head.count, view.head.hash, view.streams, view.tasks],
      ],
    }),
  ]
}

function insertBlob(client: PoolClient, sha256: string, content: string): Promise<unknown> {
  return client.query({
    name: 'batch_blob',
    text: countStep('written AS (INSERT INTO blob (sha256, content) VALUES ($1, $2) ON CONFLICT DO NOTHING)'),
    values: [sha256, Buffer.from(content)],
  })
}

function insertKeys(client: PoolClient, keys: readonly WireRemembered[]): Promise<unknown>[] {
  if (keys.length === 0) return []
  const rows = keys.map(({ principal, key, bodyHash, status, answerText, at }) => [
    ...[principal, key, bodyHash, status, answerText, at],
  ])
  return [
    client.query({
      name: 'batch_remember',
      text: countStep(`written AS (
        INSERT INTO idempotency (principal, key, body_hash, status, answer, at)
        SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::text[], $6::bigint[])
        ON CONFLICT (principal, key) DO UPDATE SET body_hash = excluded.body_hash, status = excluded.status,
          answer = excluded.answer, at = excluded.at
      )`),
      values: transpose(rows, 6),
    }),
  ]
}
