import type { Json, JsonObject } from '../core/json.js'
import type { Row } from './database.js'
import type { Append, NewEvent, Remembered, StoredEvent, StoreRefused, TaskRow } from './store.js'

/** One event on its way to the writer thread; columns in the order of the table, data as the text to store. */
type WireEvent = readonly [
  type: string,
  at: number,
  actor: string,
  epoch: number,
  phase: string | null,
  contract: string | null,
  dataText: string,
]

/** An append on its way to the writer thread. Only what is needed, flat: this is the hot path. */
export interface WireAppend {
  readonly id: number
  readonly stream: string
  readonly expectedVersion: number
  readonly line?: number
  readonly events: readonly WireEvent[]
  readonly task?: TaskRow
  readonly blobs?: Append['blobs']
  readonly remember?: WireRemembered
}

export interface WireRemembered {
  readonly principal: string
  readonly key: string
  readonly bodyHash: string
  readonly status: number
  readonly answerText: string
  readonly at: number
  readonly replaces?: true
}

export type WireResult =
  | {
      readonly id: number
      readonly ok: true
      readonly seq: number
      readonly prevHash: string
      readonly hashes: string[]
    }
  | { readonly id: number; readonly ok: false; readonly reason: 'version_conflict'; readonly version: number }
  | { readonly id: number; readonly ok: false; readonly reason: 'agent_busy' | 'key_taken' }
  | { readonly id: number; readonly ok: false; readonly reason: 'wrong_node'; readonly home: string }
  /** A fault of this append alone: the database rejects it. */
  | { readonly id: number; readonly ok: false; readonly reason: 'refused'; readonly message: string }
  | { readonly id: number; readonly ok: false; readonly reason: 'unavailable'; readonly message: string }

export type ToWriter = { readonly type: 'appends'; readonly json: string } | { readonly type: 'stop' }

export type FromWriter =
  | { readonly type: 'ready' }
  | { readonly type: 'refused'; readonly code: StoreRefused['code']; readonly message: string }
  /** Events may be visible in the database before their results are sent. */
  | { readonly type: 'committing' }
  | { readonly type: 'results'; readonly json: string; readonly lastSeq: number; readonly batches: number }
  | { readonly type: 'stopped' }

const STREAM_CHARS_MAX = 512
const COLUMN_CHARS_MAX = 1_024
const EVENTS_MAX = 1_000

export function toWireAppend(append: Append, id: number, now: number): WireAppend {
  if (append.events.length > EVENTS_MAX) throw new TypeError(`an append has at most ${EVENTS_MAX} events`)
  assertText(append.stream, 'stream', STREAM_CHARS_MAX)
  const { line, task, blobs, remember } = append
  if (task !== undefined) assertTask(task)
  return {
    id,
    stream: append.stream,
    expectedVersion: append.expectedVersion,
    ...(line === undefined ? {} : { line }),
    events: append.events.map(toWireEvent),
    ...(task === undefined ? {} : { task }),
    ...(blobs === undefined || blobs.length === 0 ? {} : { blobs }),
    ...(remember === undefined ? {} : { remember: toWireRemembered(remember, now) }),
  }
}

function toWireEvent(event: NewEvent): WireEvent {
  assertText(event.type, 'type', COLUMN_CHARS_MAX)
  assertText(event.actor, 'actor', COLUMN_CHARS_MAX)
  assertInteger(event.at, 'at')
  assertInteger(event.epoch, 'epoch')
  if (event.phase !== null) assertText(event.phase, 'phase', COLUMN_CHARS_MAX)
  if (event.contract !== null) assertText(event.contract, 'contract', COLUMN_CHARS_MAX)
  const dataText = event.text ?? JSON.stringify(event.data)
  return [event.type, event.at, event.actor, event.epoch, event.phase, event.contract, dataText]
}

function toWireRemembered(remember: Remembered, now: number): WireRemembered {
  assertText(remember.principal, 'principal', COLUMN_CHARS_MAX)
  assertText(remember.key, 'idempotency key', COLUMN_CHARS_MAX)
  const { answer, ...stored } = remember
  return { ...stored, answerText: JSON.stringify(answer), at: now }
}

function assertTask(task: TaskRow): void {
  for (const text of [task.id, task.status, task.phase, ...task.dependsOn]) assertText(text, 'task', COLUMN_CHARS_MAX)
  if (task.agentId !== null) assertText(task.agentId, 'agent', COLUMN_CHARS_MAX)
}

// SQLite stores UTF-8 and its binding ends a text at NUL: such a text would change and break the chain.
const UNSTORABLE = /[\0\p{Surrogate}]/u

function assertText(text: string, what: string, charsMax: number): void {
  if (text.length <= charsMax && !UNSTORABLE.test(text)) return
  throw new TypeError(`the ${what} of an append is longer than ${charsMax} characters or not well-formed text`)
}

function assertInteger(value: number, what: string): void {
  if (!Number.isSafeInteger(value)) throw new TypeError(`${what} of an event is not an integer`)
}

/** The acknowledged events, built from what was sent: only places and hashes are sent back. */
export function toStoredEvents(append: Append, result: Extract<WireResult, { ok: true }>): readonly StoredEvent[] {
  let prevHash = result.prevHash
  return append.events.map((event, index) => {
    const hash = result.hashes[index] ?? ''
    const stored = {
      seq: result.seq + index,
      stream: append.stream,
      version: append.expectedVersion + index + 1,
      type: event.type,
      at: event.at,
      actor: event.actor,
      epoch: event.epoch,
      phase: event.phase,
      contract: event.contract,
      data: event.data,
      prevHash,
      hash,
    }
    prevHash = hash
    return stored
  })
}

export const EVENT_COLUMNS = 'seq, stream, version, type, at, actor, epoch, phase, contract, data, prev_hash, hash'

export function toStoredEvent(row: Row): StoredEvent {
  return { ...readEnvelope(row), data: JSON.parse(String(row.data)) as JsonObject, hash: String(row.hash) }
}

/** The columns of an event except its data and its own hash. */
export function readEnvelope(row: Row): Omit<StoredEvent, 'data' | 'hash'> {
  return {
    seq: Number(row.seq),
    stream: String(row.stream),
    version: Number(row.version),
    type: String(row.type),
    at: Number(row.at),
    actor: String(row.actor),
    epoch: Number(row.epoch),
    phase: row.phase === null ? null : String(row.phase),
    contract: row.contract === null ? null : String(row.contract),
    prevHash: String(row.prev_hash),
  }
}

// Rows from before questions existed have no such columns.
const WITHOUT_QUESTIONS = { openQuestions: 0, questions: 0 }

export function toTaskRow(row: Row): TaskRow {
  return { ...WITHOUT_QUESTIONS, ...(JSON.parse(String(row.document)) as TaskRow) }
}

export function toRemembered(row: Row): Remembered {
  return {
    principal: String(row.principal),
    key: String(row.key),
    bodyHash: String(row.body_hash),
    status: Number(row.status),
    answer: JSON.parse(String(row.answer)) as Json,
  }
}
