import type { Json, JsonObject } from '../core/json.js'
import type { Cluster } from './cluster.js'
import type { StorePlace } from './store-place.js'

/**
 * An event from the core before it is in the ledger. `data` has snake_case keys and is already redacted and bounded.
 */
export interface NewEvent {
  readonly type: string
  /** Unix milliseconds. */
  readonly at: number
  readonly actor: string
  readonly epoch: number
  readonly phase: string | null
  readonly contract: string | null
  readonly data: JsonObject
  /** `data` as JSON text, if available; never anything else. */
  readonly text?: string
}

/** An event in the ledger: `seq` counts over all streams from 1 without gaps, `version` in its stream from 1. */
export interface StoredEvent extends NewEvent {
  readonly seq: number
  readonly stream: string
  readonly version: number
  readonly prevHash: string
  readonly hash: string
}

/**
 * Values for queries over many tasks. A projection of the task's stream, written in the same transaction as its events.
 */
export interface TaskRow {
  readonly id: string
  readonly title: string
  readonly status: string
  readonly phase: string
  readonly agentId: string | null
  readonly contract: string
  readonly priority: number
  readonly requires: readonly string[]
  readonly dependsOn: readonly string[]
  /** Unix milliseconds; null when nobody holds the task. */
  readonly leaseExpiresAt: number | null
  /** Unix milliseconds; null when no approval is pending. */
  readonly approvalExpiresAt: number | null
  /** Number of open questions. */
  readonly openQuestions: number
  /** Number of questions in the task's state, with any status. */
  readonly questions: number
  readonly createdAt: number
  readonly updatedAt: number
}

export interface Blob {
  readonly sha256: string
  readonly content: string
}

/** The stored answer of an unsafe call, so that repeating the call does not act twice. Never contains tokens. */
export interface Remembered {
  readonly principal: string
  readonly key: string
  readonly bodyHash: string
  readonly status: number
  readonly answer: Json
  /** The same call stored an answer before it was done: this one takes its place. */
  readonly replaces?: true
}

export interface Append {
  readonly stream: string
  /** Compare-and-set: the number of events the stream must have. */
  readonly expectedVersion: number
  /**
   * Appends to one stream, each decided on the previous one before the first is written. If one of them is not written,
   * the later ones are a `version_conflict`, even if others have brought the stream to their version.
   */
  readonly line?: number
  readonly events: readonly NewEvent[]
  readonly task?: TaskRow
  readonly blobs?: readonly Blob[]
  readonly remember?: Remembered
}

export type AppendResult =
  | { readonly ok: true; readonly events: readonly StoredEvent[] }
  /** The stream has changed. */
  | { readonly ok: false; readonly reason: 'version_conflict'; readonly version: number }
  /** Another task is already held by the agent that `task.agentId` names. */
  | { readonly ok: false; readonly reason: 'agent_busy' }
  /** The idempotency key is taken. */
  | { readonly ok: false; readonly reason: 'key_taken' }
  /** Another node decides on this stream. */
  | { readonly ok: false; readonly reason: 'wrong_node'; readonly home: string }

export interface TaskFilter {
  readonly status?: string
  readonly phase?: string
  readonly agentId?: string
  /** Only tasks with a pending approval. */
  readonly hasApproval?: true
  /** Only tasks with an open question, or with any known question. */
  readonly hasQuestion?: 'open' | 'any'
  /** Opaque; from the previous page. */
  readonly cursor?: string
  readonly limit: number
}

export interface AuditFilter {
  readonly taskId?: string
  readonly agentId?: string
  readonly phase?: string
  readonly toolName?: string
  readonly code?: string
  readonly success?: boolean
  readonly type?: string
  /** Any of these. */
  readonly types?: readonly string[]
  readonly actor?: string
  readonly stream?: string
  /** In the data, in any case. */
  readonly text?: string
  /** Only events after this one. */
  readonly afterSeq?: number
  readonly since?: number
  readonly until?: number
  readonly cursor?: string
  readonly limit: number
  /**
   * How many events a page looks at: a page may then have few events, or none, and a next one all the same. Without it a
   * rare filter reads the whole ledger. One task is always read whole.
   */
  readonly searchedMax?: number
}

export interface Page<T> {
  readonly items: readonly T[]
  readonly nextCursor: string | null
}

/** A page of a search. */
export interface AuditPage extends Page<StoredEvent> {
  /** The events that were looked at for it, newest first: what fits and is not older than `to` has been found. */
  readonly searched: { readonly from: number; readonly to: number }
}

export interface AuditStats {
  readonly events: number
  readonly streams: number
  readonly byType: Readonly<Record<string, number>>
  readonly byCode: Readonly<Record<string, number>>
  readonly firstAt: number | null
  readonly lastAt: number | null
}

export interface VerifyProblem {
  /** `changed_event`, `missing_event`, `cut_tail`, `bad_order`, `head_missing`, `head_invalid`, `checkpoint_missing`, `checkpoint_invalid`, `older_copy`, … */
  readonly code: string
  readonly detail: string
  /** The first bad event, if known. */
  readonly seq: number | null
  readonly stream: string | null
  readonly version: number | null
}

export interface VerifyReport {
  readonly ok: boolean
  readonly events: number
  readonly streams: number
  readonly checkpoints: number
  readonly problems: readonly VerifyProblem[]
}

/**
 * The store of the ledger. Every implementation passes the same suite (test/store/suite.ts). What `append` acknowledged
 * with `ok: true` is durable. A store that cannot write rejects with a StoreUnavailable.
 */
export interface Store {
  /** Where the ledger is kept; undefined: in memory. */
  readonly place?: StorePlace
  /** Where several servers share the ledger. */
  readonly cluster?: Cluster
  append(append: Append): Promise<AppendResult>
  readStream(stream: string, afterVersion: number, limit: number): Promise<readonly StoredEvent[]>
  /** Events of all streams in the order of `seq`, for the event feed and its catch-up. */
  readAll(afterSeq: number, limit: number): Promise<readonly StoredEvent[]>
  lastSeq(): Promise<number>
  task(id: string): Promise<TaskRow | null>
  queryTasks(filter: TaskFilter): Promise<Page<TaskRow>>
  /**
   * Tasks that wait for an agent (status `queued` or `interrupted`) and whose dependencies are all `completed`, highest
   * priority first, then oldest first. The cost does not grow with the number of finished, held or blocked tasks.
   */
  listClaimable(options: { readonly offset: number; readonly limit: number }): Promise<readonly TaskRow[]>
  /**
   * The task this agent holds (status `active` or `awaiting_approval`), if any. A unique index guarantees at most one.
   */
  findHeldBy(agentId: string): Promise<TaskRow | null>
  /** Held tasks whose lease ended before `now`, and tasks whose approval expired before `now`. */
  listOverdue(options: { readonly now: number; readonly limit: number }): Promise<readonly TaskRow[]>
  countTasks(): Promise<readonly { readonly status: string; readonly phase: string; readonly count: number }[]>
  /** Tasks that depend on this one. */
  listDependents(id: string): Promise<readonly string[]>
  readBlob(sha256: string): Promise<string | null>
  recall(options: { readonly principal: string; readonly key: string }): Promise<Remembered | null>
  query(filter: AuditFilter): Promise<AuditPage>
  readStats(): Promise<AuditStats>
  verify(): Promise<VerifyReport>
  /** Writes a signed checkpoint outside the database. */
  writeSeal(): Promise<void>
  close(): Promise<void>
}

/**
 * The store cannot write or read now: full disk, I/O error, lost connection. The append was not acknowledged, and is
 * never partial; if the fault came after its commit it may exist: send it again under the same key.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}

/** The store must not be opened: corrupt, cut, locked by another server, newer than this program. */
export class StoreRefused extends Error {
  override readonly name = 'StoreRefused'
  constructor(
    readonly code: 'locked' | 'corrupt' | 'tampered' | 'too_new' | 'unreadable' | 'unreachable',
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options)
  }
}
