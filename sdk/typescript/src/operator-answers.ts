import type { Approval, ContractRef, PromptAnswer, Task, Worktree } from './answers.js'
import type { Blocker } from './errors.js'
import type { Json, JsonObject } from './json.js'

/** A rule that was violated and not acknowledged yet. */
export type Violation = { readonly rule: string; readonly diagnostic: string }

/** One task with details that need its contract. */
export interface TaskDetails extends Task {
  readonly checking: boolean
  readonly phase_entered_at: string | null
  readonly phase_seconds: number | null
  readonly rules: {
    readonly open: Violation | null
    readonly acknowledged: readonly string[]
    readonly unavailable: readonly string[]
  }
  readonly pending_consensus: PendingVote | null
  readonly next_step: string
  readonly held_out?: { readonly sha256: string; readonly count: number; readonly failures: number }
}

export type PendingVote = {
  readonly id: string
  readonly voters: readonly string[]
  readonly voted: readonly string[]
  readonly awaited: readonly string[]
}

/** A task in a list. */
export interface TaskRow {
  readonly id: string
  readonly title: string
  readonly status: string
  readonly checking: boolean
  readonly phase: string
  readonly agent_id: string | null
  readonly created_at: string
}

export interface TaskPage {
  readonly tasks: readonly TaskRow[]
  readonly next_cursor: string | null
}

/** A task that was added. One with a separate work tree lists what is not in it. */
export interface AddedTask extends Task {
  readonly uncommitted?: Uncommitted
}

export type Uncommitted = { readonly count: number; readonly paths: readonly string[] }

export interface MergedTask extends Task {
  readonly merge: {
    readonly into: string
    readonly commit: string
    readonly result: string
    readonly fast_forward: boolean
    readonly already: boolean
  }
}

export interface AcceptedTools extends Task {
  readonly accepted_tools: Readonly<Record<string, string>>
}

export interface InstalledTask {
  readonly install: {
    readonly command: readonly string[]
    readonly exit_code: number
    readonly paths: readonly string[]
    readonly output: string
    readonly duration_ms: number
    readonly notes?: readonly string[]
  }
}

export interface PutBack {
  readonly paths: readonly string[]
  readonly path_count: number
}

/** An event of the ledger. */
export interface LedgerEvent {
  readonly seq: number
  readonly stream: string
  readonly type: string
  readonly at: string
  readonly actor: string
  readonly phase: string | null
  readonly data: JsonObject
}

export type EventPage = { readonly events: readonly LedgerEvent[] }

/** A page of a search: `searched` are the numbers of the events that were looked at, newest first. */
export interface FoundEvents extends EventPage {
  readonly next_cursor: string | null
  readonly searched: { readonly from: number; readonly to: number }
}

export interface TimelinePage {
  readonly events: readonly LedgerEvent[]
  readonly next_after: number | null
}

export interface LedgerStats {
  readonly events: number
  readonly streams: number
  readonly first_at: string | null
  readonly last_at: string | null
  readonly by_type: Readonly<Record<string, number>>
  readonly by_code: Readonly<Record<string, number>>
}

export interface LedgerCheck {
  readonly ok: boolean
  readonly events: number
  readonly streams: number
  readonly checkpoints: number
  readonly problems: readonly { readonly code: string; readonly detail: string }[]
}

export interface Remark {
  readonly text: string
  readonly path?: string
  readonly line?: number
  readonly resolved?: boolean
}

export interface Review {
  readonly reviewer: string
  readonly status: string | null
  readonly counts_as: string | null
  readonly token_status: string
  /** Absent before the first report, as are blocking issues. */
  readonly comments?: readonly Remark[]
  readonly blocking_issues?: readonly Remark[]
}

export interface ReviewList {
  readonly reviews: readonly Review[]
  /** `null` once the task is over. */
  readonly required_reviews: readonly string[] | null
}

export interface SentReview {
  readonly reviewer: string
  readonly task_id: string
  readonly status: string | null
  readonly finished: boolean
}

export interface AddedReviewer {
  readonly reviewer: string
  readonly review_token: string
  readonly expires_at: string
}

export interface HeldOut {
  readonly count: number
  readonly failures: number
  readonly examples: readonly { readonly criterion: string | null; readonly run: string; readonly expect: Json }[]
  readonly last_failure: readonly { readonly difference?: string | null }[] | null
}

export interface ApprovalPage {
  readonly approvals: readonly Approval[]
  readonly next_cursor: string | null
}

export interface Question {
  readonly id: string
  readonly task_id: string
  readonly task_title: string
  readonly agent_id: string
  readonly phase: string
  readonly status: string
  readonly question: string
  readonly options: readonly string[]
  readonly asked_at: string
  readonly answer: string | null
  readonly answered_by: string | null
  readonly answered_at: string | null
}

export interface QuestionPage {
  readonly questions: readonly Question[]
  readonly next_cursor: string | null
}

/** An agent that the server started. */
export interface Spawn {
  readonly task_id: string
  readonly state: string
  readonly restarts: number
  readonly outcome: string | null
  readonly reason: string | null
}

export interface SpawnedAgent extends Spawn {
  readonly agent_id: string
  readonly window?: { readonly socket: string; readonly session: string } | null
  readonly workspace?: string
  readonly worktree?: Worktree
  readonly uncommitted?: Uncommitted
}

export interface LogPart {
  readonly text: string
  readonly cursor: string | null
  readonly more: boolean
  readonly ended: boolean
}

export interface AgentRow {
  readonly agent_id: string
  readonly capabilities: readonly string[]
  readonly status: string
  readonly task_id: string | null
  readonly phase: string | null
  readonly last_activity: string | null
  readonly spawn: Spawn | null
  /** How it is bound, and what that holds. */
  readonly binding: { readonly kind: string; readonly holds: string }
}

export interface AddedAgent {
  readonly agent_id: string
  readonly agent_token: string
  readonly expires_at: string
}

export interface OperatorRow {
  readonly name: string
  readonly role: string | null
  readonly added_at: string
  readonly revoked_at: string | null
}

export interface SessionRow {
  readonly id: string
  readonly operator: string
  readonly came_from: 'first_code' | 'code' | 'token'
  readonly created_at: string
  readonly last_used_at: string
  readonly expires_at: string
  readonly user_agent: string
  readonly current: boolean
}

export interface LoginCode {
  readonly code: string
  readonly expires_at: string
  readonly url: string
}

export interface AddedOperator {
  readonly name: string
  readonly role: string | null
  readonly operator_token: string
}

export interface ContractRow extends ContractRef {
  readonly origin: string
  readonly registered_at: string
  readonly default: boolean
}

/** What the command line shows an agent: the prompt, the interrupt, or all blockers. */
export interface Step extends Omit<PromptAnswer, 'blockers'> {
  readonly blockers?: readonly (Blocker & { readonly run?: { readonly last_lines?: readonly string[] } })[]
  readonly warnings?: readonly Blocker[]
  readonly checking?: boolean
  readonly next_step?: string
}

export interface Coordination {
  readonly id: string
  readonly agents: readonly { readonly id: string; readonly anonymous_id: string; readonly token?: string }[]
}
