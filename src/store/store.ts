import type { Json, JsonObject } from '../core/json.js'

/** An event as the core made it, before it has a place in the ledger. `data` has snake_case keys and is already redacted and bounded. */
export interface NewEvent {
  readonly type: string
  /** Unix milliseconds. */
  readonly at: number
  readonly actor: string
  readonly epoch: number
  readonly phase: string | null
  readonly contract: string | null
  readonly data: JsonObject
  /** `data` as JSON text, where it is at hand already; never anything else. */
  readonly text?: string
}

/** An event with its place in the ledger: `seq` over all streams from 1 without gaps, `version` in its stream from 1. */
export interface StoredEvent extends NewEvent {
  readonly seq: number
  readonly stream: string
  readonly version: number
  readonly prevHash: string
  readonly hash: string
}

/** What is looked up over many tasks. A projection of the task's stream, written in the same transaction as its events. */
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
  /** How many questions wait for an answer. */
  readonly openQuestions: number
  /** How many questions the task's state knows, whatever became of them. */
  readonly questions: number
  readonly createdAt: number
  readonly updatedAt: number
}

export interface Blob {
  readonly sha256: string
  readonly content: string
}

/** The answer of an unsafe call, kept so that the same call does not act twice. Tokens are never part of it. */
export interface Remembered {
  readonly principal: string
  readonly key: string
  readonly bodyHash: string
  readonly status: number
  readonly answer: Json
}

export interface Append {
  readonly stream: string
  /** Compare-and-set: the number of events the stream must have. */
  readonly expectedVersion: number
  /**
   * Appends to one stream that are decided one on the other before the first is written. Once one of them is not
   * written, the later ones are a `version_conflict`, even where others have brought the stream to their version.
   */
  readonly line?: number
  readonly events: readonly NewEvent[]
  readonly task?: TaskRow
  readonly blobs?: readonly Blob[]
  readonly remember?: Remembered
}

export type AppendResult =
  | { readonly ok: true; readonly events: readonly StoredEvent[] }
  /** The stream has moved on. */
  | { readonly ok: false; readonly reason: 'version_conflict'; readonly version: number }
  /** Another task is already held by the agent that `task.agentId` names. */
  | { readonly ok: false; readonly reason: 'agent_busy' }
  /** The idempotency key is taken. */
  | { readonly ok: false; readonly reason: 'key_taken' }

export interface TaskFilter {
  readonly status?: string
  readonly phase?: string
  readonly agentId?: string
  /** Only tasks with an approval that waits for an answer. */
  readonly hasApproval?: true
  /** Only tasks with a question that waits for an answer, or with any that is still known. */
  readonly hasQuestion?: 'open' | 'any'
  /** Opaque; from the page before. */
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
  readonly since?: number
  readonly until?: number
  readonly cursor?: string
  readonly limit: number
}

export interface Page<T> {
  readonly items: readonly T[]
  readonly nextCursor: string | null
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
  /** The first bad event, where one can be named. */
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
 * Where the ledger is kept. Every implementation passes the same suite (test/store/suite.ts).
 * What `append` acknowledged with `ok: true` is durable. A store that cannot write rejects with a StoreUnavailable.
 */
export interface Store {
  append(append: Append): Promise<AppendResult>
  readStream(stream: string, afterVersion: number, limit: number): Promise<readonly StoredEvent[]>
  /** Events of all streams in the order of `seq`, for the event feed and its catch-up. */
  readAll(afterSeq: number, limit: number): Promise<readonly StoredEvent[]>
  lastSeq(): Promise<number>
  findTask(id: string): Promise<TaskRow | null>
  queryTasks(filter: TaskFilter): Promise<Page<TaskRow>>
  /**
   * Tasks that wait for an agent (status `queued` or `interrupted`) and whose dependencies are all `completed`,
   * highest priority first, then oldest first.
   * The cost does not grow with the number of tasks that are finished, held or blocked.
   */
  listClaimable(options: { readonly offset: number; readonly limit: number }): Promise<readonly TaskRow[]>
  /** The task this agent holds (status `active` or `awaiting_approval`), if any. At most one, held by a unique index. */
  findHeldBy(agentId: string): Promise<TaskRow | null>
  /** Held tasks whose lease ended before `now`, and tasks whose approval expired before `now`. */
  listOverdue(options: { readonly now: number; readonly limit: number }): Promise<readonly TaskRow[]>
  countTasks(): Promise<readonly { readonly status: string; readonly phase: string; readonly count: number }[]>
  /** Tasks that depend on this one. */
  listDependents(id: string): Promise<readonly string[]>
  readBlob(sha256: string): Promise<string | null>
  recall(options: { readonly principal: string; readonly key: string }): Promise<Remembered | null>
  query(filter: AuditFilter): Promise<Page<StoredEvent>>
  readStats(): Promise<AuditStats>
  verify(): Promise<VerifyReport>
  /** Writes a signed checkpoint outside the database. */
  writeSeal(): Promise<void>
  close(): Promise<void>
}

/**
 * The store cannot write or read now: full disk, I/O error, lost connection. An append was not acknowledged, and
 * never happened in part; where the fault came after its commit it may be there: ask again under the same key.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}

/** The store must not be opened: corrupt, cut, locked by another server, newer than this program. */
export class StoreRefused extends Error {
  override readonly name = 'StoreRefused'
  constructor(
    readonly code: 'locked' | 'corrupt' | 'tampered' | 'too_new' | 'unreadable',
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options)
  }
}
