export interface Tokens {
  readonly input: number
  readonly output: number
  readonly cache_read: number
  readonly cache_write: number
  readonly grade?: string
}

/** The cost of a visit, a phase or a whole task. */
export interface Tally {
  readonly duration_seconds: number
  readonly tokens: Tokens
  readonly commands: { readonly count: number; readonly by_command: readonly { command: string; count: number }[] }
  readonly edits: { readonly count: number; readonly by_path: readonly { path: string; count: number }[] }
  readonly tool_calls: number
  readonly refusals: { readonly count: number; readonly by_code: Readonly<Record<string, number>> }
  readonly interrupts: number
  readonly commits: number
}

export interface VisitTally extends Tally {
  readonly phase: string
  readonly visit: number
  readonly entered_by: string
}

export interface TaskMetrics {
  readonly task: { readonly id: string; readonly title: string; readonly status: string; readonly phase: string }
  readonly agent_id: string | null
  readonly visits: readonly VisitTally[]
  readonly phases: readonly (Tally & { readonly phase: string; readonly visits: number })[]
  readonly totals: Tally & { readonly visits: number }
  readonly truncated: boolean
}

/** The report of a run: a task or a council. */
export type Report = TaskReport | CouncilReport

interface ReportHead {
  readonly at: string
  readonly refusals: {
    readonly count: number
    readonly by_reason: readonly { readonly reason: string; readonly count: number }[]
    readonly rows: readonly RefusalRow[]
  }
  readonly buffer_chars_lost: number
  readonly events: number
  readonly truncated: boolean
}

export interface ReportedRun {
  readonly id: string
  readonly title: string
  readonly status: string
  readonly finish_reason_details?: string | null
  readonly elapsed_seconds: number
}

export interface RefusalRow {
  readonly agent: string
  readonly reason: string
  readonly phase: string
  readonly round: number
  readonly count: number
}

export interface TaskReport extends ReportHead {
  readonly run: ReportedRun & { readonly kind: 'task' }
  readonly phases: readonly ReportedPhase[]
  readonly visits: readonly {
    readonly visit: number
    readonly phase: string
    readonly entered_at: string
    readonly seconds: number
  }[]
  readonly totals: { readonly tokens: Tokens | null }
  readonly gates: {
    readonly passed: number
    readonly blocked: number
    readonly pass_rate: number | null
    readonly by_gate: readonly { readonly gate: string; readonly passed: number; readonly blocked: number }[]
  }
  /** Absent in answers of older servers. */
  readonly approvals?: readonly ReportedDecision[]
  /** What was committed, oldest first. Absent in answers of older servers. */
  readonly commits?: readonly { readonly commit: string; readonly by: string; readonly at: string }[]
  /** What operators did to the task beside approvals. Absent in answers of older servers. */
  readonly interventions?: readonly ReportedIntervention[]
  readonly evidence: readonly Evidence[]
}

/** An operator accepted or reverted changes, or returned or resumed the task; `type` is that of the event. */
export interface ReportedIntervention {
  readonly type: string
  readonly phase: string
  readonly by: string
  readonly reason: string
  readonly paths: readonly string[]
  readonly at: string
}

/** Who approved or rejected what, where and when. */
export interface ReportedDecision {
  readonly phase: string
  readonly target_phase: string
  readonly gate: string
  readonly decision: string
  readonly by: string
  /** Where the person decided; null: over the API. */
  readonly channel: string | null
  readonly at: string
}

interface ReportedPhase {
  readonly phase: string
  readonly visits: number
  readonly seconds: number
  readonly tokens: Tokens | null
  readonly tool_calls: number
  readonly interrupts: number
  readonly refusals: number
}

export interface Evidence {
  readonly phase: string
  readonly name: string
  readonly grade: string
  readonly run?: TestRun
}

/** A run of the tests, counted. */
export interface TestRun {
  readonly sigusr1?: string
  readonly passed?: number | null
  readonly failed?: number | null
  readonly skipped?: number | null
  /** Files or packages that could not be loaded or built; absent if there are none. */
  readonly not_loaded?: number
  readonly inverted?: Readonly<Record<string, number>>
}

export interface CouncilReport extends ReportHead {
  readonly run: ReportedRun & { readonly kind: 'coordination' }
  readonly result: { readonly winner: string | null; readonly label: string | null; readonly is_tie: boolean }
  readonly agents: readonly CouncilAgent[]
  readonly answers: readonly CouncilAnswer[]
  readonly presentation: Omit<CouncilAnswer, 'round' | 'verdict'> | null
  readonly votes: readonly {
    readonly agent: string
    readonly label: string
    readonly round: number
    readonly reason: string
    readonly stands: boolean
  }[]
  readonly timeline: readonly { readonly type: string; readonly agent: string | null; readonly seconds: number }[]
}

export interface CouncilAgent {
  readonly id: string
  readonly anonymous_id: string
  readonly status: string
  readonly error: string | null
  readonly answers: number
  readonly refusals: number
  readonly buffer_chars_lost: number
  readonly outcome: string | null
  readonly unknown_tools: readonly string[]
  readonly tokens: Tokens
  readonly rounds: readonly CouncilRound[]
}

export interface CouncilRound {
  readonly round: number
  readonly seconds: number
  readonly refusals: number
  readonly reasons: readonly string[]
  readonly tokens: Tokens
}

export interface CouncilAnswer {
  readonly agent: string
  readonly label: string
  readonly round: number
  readonly verdict?: string | null
  readonly chars: number
  readonly content: string
  readonly is_cut: boolean
}
