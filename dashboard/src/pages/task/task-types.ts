import type { Schema } from '../../api/answers.js'
import type { LedgerEvent } from '../../live/event.js'
import type { CheckStatus } from '../../ui/check-status.js'

export type Grade = Schema<'Grade'>

/** A task, as `GET /tasks/{id}` answers it; as it was at an event, it has less. */
export type Task = Schema<'Task'> & Partial<Schema<'TaskDetails'>>

/** A task as it was at an event, as `GET /tasks/{id}/state` answers it. */
export type TaskStateAt = Schema<'TaskStateAt'>
export type PhaseState = Schema<'PastPhase'>
export type ArtifactState = Schema<'PastArtifact'>
export type GateState = Schema<'PastGate'>

export interface CheckState {
  readonly check: string
  readonly status: CheckStatus
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

export type Question = Schema<'Question'>

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
