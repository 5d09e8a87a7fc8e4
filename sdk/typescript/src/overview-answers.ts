import type { Alert, Task } from './answers.js'
import type { PendingApproval } from './errors.js'
import type { TaskRow, Violation } from './operator-answers.js'

/** Everything that an operator sees at a glance. */
export interface Overview {
  readonly paused: string | null
  readonly counts: { readonly by_status: Readonly<Record<string, number>> }
  readonly agents: readonly WorkingAgent[]
  readonly alerts: readonly (Alert & { readonly task_id: string })[]
}

export interface WorkingAgent {
  readonly agent_id: string | null
  readonly task_id: string
  readonly phase: string
  readonly checking: boolean
  /** How the agent is bound; servers of earlier versions do not say it. */
  readonly binding?: string | null
  readonly since: string
  readonly waiting_for_reviewers?: readonly string[]
  /** How often it was refused since it last got on. */
  readonly refused_in_a_row?: number
}

/** What an agent sees of its task and of others. */
export interface AgentSnapshot {
  readonly task: Task | null
  readonly next_step: string
  readonly completed_tasks: readonly { readonly id: string }[]
}

export interface Activity {
  readonly at: string
  readonly tasks: readonly ActiveTask[]
  readonly counts: Readonly<Record<string, number>>
  readonly paused: string | null
}

export interface ActiveTask extends Omit<TaskRow, 'created_at'> {
  readonly phase_seconds: number | null
  readonly tokens: number
  readonly tokens_grade: string
  readonly calls_per_minute: number
  readonly refusals: number
  readonly violation: Violation | null
  readonly pending_approval: PendingApproval | null
  readonly open_questions: number
  readonly parked_reason: string | null
}

/** A server on a database that several servers share. */
export interface NodeRow {
  readonly id: string
  /** The server that was asked. */
  readonly own: boolean
  readonly alive: boolean
  readonly url: string | null
  readonly program_version: string
  readonly started_at: string
  readonly seen_at: string
  /** Where it keeps what it knows about work trees that nodes share; null: in its state directory. */
  readonly shared_trees: { readonly id: string; readonly folder: string } | null
}

/** What waits for an operator, oldest first. */
export interface Inbox {
  readonly items: readonly InboxItem[]
  readonly total: number
  readonly truncated: boolean
}

export interface InboxItem {
  readonly kind: 'approval' | 'question' | 'parked' | 'unexplained' | 'tree_missing' | 'alert' | 'contract'
  readonly id: string
  readonly task_id: string | null
  readonly task_title: string | null
  readonly agent_id: string | null
  readonly phase: string | null
  readonly since: string
  readonly title: string
  readonly detail: string
  /** What an operator can do about it. */
  readonly actions: readonly string[]
}

/** What the server looked at, of itself. */
export interface ServerChecks {
  readonly checks: readonly {
    readonly name: string
    readonly status: 'ok' | 'warning' | 'problem'
    readonly detail: string
    readonly remedy: string
  }[]
}
