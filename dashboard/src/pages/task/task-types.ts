import type { LedgerEvent } from '../../live/event.js'

export type Grade = 'reported' | 'artifact' | 'observed' | 'proved'

/** A task, as `GET /tasks/{id}` answers it. */
export interface Task {
  readonly id: string
  readonly title: string
  readonly description: string
  readonly status: TaskStatus
  readonly checking?: boolean
  readonly phase: string
  readonly epoch: number
  readonly visit: number
  readonly agent_id: string | null
  readonly contract: { readonly name: string; readonly version: string; readonly hash: string }
  readonly workspace: string
  readonly worktree?: {
    readonly repository: string
    readonly branch: string
    readonly base: string
    readonly into: string | null
    readonly status: string
    readonly commit?: string | null
  }
  readonly lease_expires_at: string | null
  /** How long a claim lasts without a call. */
  readonly lease_seconds: number
  readonly created_at: string
  readonly updated_at: string
  readonly mode: string | null
  readonly refusals: number
  readonly parked_reason: string | null
  readonly stash: string | null
  readonly pending_approval: { readonly id: string; readonly digest: string; readonly expires_at: string } | null
  readonly open_questions: number
  readonly phase_entered_at?: string | null
  readonly phase_seconds?: number | null
  readonly next_step?: string
}

export type TaskStatus =
  | 'queued'
  | 'active'
  | 'awaiting_approval'
  | 'interrupted'
  | 'parked'
  | 'completed'
  | 'cancelled'

/** A task as it was at an event, as `GET /tasks/{id}/state` answers it. */
export interface TaskStateAt {
  readonly at: { readonly seq: number; readonly time: string; readonly type: string }
  readonly last_seq: number
  readonly task: Task
  readonly phases: readonly PhaseState[]
  readonly artifacts: readonly ArtifactState[]
  readonly gates: readonly GateState[]
  readonly changed_paths: readonly string[]
}

export interface PhaseState {
  readonly id: string
  readonly name: string
  readonly status: 'done' | 'current' | 'ahead'
  readonly visits: readonly { readonly visit: number; readonly entered_at: string; readonly left_at: string | null }[]
}

export interface ArtifactState {
  readonly type: string
  readonly version: number
  readonly sha256: string
  readonly grade: Grade
  readonly bytes: number
  readonly phase: string
  readonly visit: number
  readonly seq: number
}

export interface GateState {
  readonly id: string
  readonly phase: string
  readonly type: string
  readonly status: 'passed' | 'blocked' | 'waiting' | 'not_tried'
  readonly checks: readonly CheckState[]
}

export interface CheckState {
  readonly check: string
  readonly status: 'passed' | 'failed' | 'warning' | 'not_run'
  readonly grade: Grade | null
  readonly message: string
  readonly remedy?: string | null
}

/** What keeps a gate closed, in an event. */
export interface Blocker {
  readonly code: string
  readonly gate: string | null
  readonly check: string | null
  readonly artifact: string | null
  readonly message: string
  readonly remedy: string
  readonly severity: string
  readonly grade: Grade | null
}

export interface Question {
  readonly id: string
  readonly task_id: string
  readonly agent_id: string
  readonly status: 'open' | 'answered' | 'withdrawn'
  readonly question: string
  readonly options: readonly string[]
  readonly asked_at: string
}

export type TaskEvent = LedgerEvent

/** A text in the data of an event; empty where there is none. */
export function readText(data: TaskEvent['data'], name: string): string {
  const value = data[name]
  return typeof value === 'string' ? value : ''
}

/** A list of records in the data of an event; empty where there is none. */
export function readRecords<T>(data: TaskEvent['data'], name: string): readonly T[] {
  const value = data[name]
  return Array.isArray(value) ? (value as readonly T[]) : []
}
