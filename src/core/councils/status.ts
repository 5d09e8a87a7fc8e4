import { takeFirstChars } from './code-points.js'
import type { CoordinationRun, FinishReason, Participant, Vote } from './council.js'
import { answerCountOf, isDone, isPresenting, tally } from './council.js'
import { buildReliabilityRecord, type ReliabilityOutcome, type ReliabilityRecord } from './reliability.js'

export type AgentStatusWord =
  | 'waiting'
  | 'streaming'
  | 'restarting'
  | 'answered'
  | 'voted'
  | 'stopped'
  | 'timeout'
  | 'error'
  | 'completed'

export type AgentStatus = {
  readonly status: AgentStatusWord
  readonly answer_count: number
  readonly latest_answer_label: string | null
  readonly vote_cast: {
    readonly voted_for_agent: string
    readonly voted_for_label: string
    readonly reason_preview: string
  } | null
  readonly times_restarted: number
  readonly last_activity: number | null
  readonly error: { readonly type: string; readonly message: string; readonly timestamp: number } | null
  readonly reliability: ReliabilityRecord | null
}

/** `status.json` of a run. Times are Unix seconds with a fraction. */
export type RunStatus = {
  /** Only for tasks: a council is never parked. */
  readonly finish_reason: 'in_progress' | FinishReason | 'parked'
  readonly finish_reason_details: string | null
  readonly is_complete: boolean
  readonly meta: {
    readonly last_updated: number
    readonly session_id: string
    readonly log_dir: string | null
    readonly question: string
    readonly start_time: number
    readonly elapsed_seconds: number
  }
  readonly coordination: {
    readonly phase: 'initial_answer' | 'voting' | 'presentation' | 'finished'
    /** The only working agent; null when there are several or none. */
    readonly active_agent: string | null
    readonly completion_percentage: number
    readonly is_final_presentation: boolean
  }
  readonly agents: Readonly<Record<string, AgentStatus>>
  readonly results: {
    readonly votes: Readonly<Record<string, number>>
    readonly winner: string | null
    readonly is_tie: boolean
    readonly final_answer_preview: string | null
  }
}

const PREVIEW_CHARS_MAX = 500
const PERCENT_BEFORE_END_MAX = 99

/** The content of `status.json` for a council at this time, with its keys in order. */
export function buildRunStatus(run: CoordinationRun, now: number, logDir: string | null = null): RunStatus {
  const until = run.endedAt ?? now
  return {
    finish_reason: run.finishReason ?? 'in_progress',
    finish_reason_details: run.finishDetails,
    is_complete: run.endedAt !== null,
    meta: {
      last_updated: run.updatedAt / 1000,
      session_id: run.id,
      log_dir: logDir,
      question: run.question,
      start_time: run.startedAt / 1000,
      elapsed_seconds: Math.max(0, until - run.startedAt) / 1000,
    },
    coordination: {
      phase: computeRunPhase(run),
      active_agent: findActiveAgent(run),
      completion_percentage: computePercentage(run),
      is_final_presentation: isPresenting(run),
    },
    agents: Object.fromEntries([...run.agents].map(([id, agent]) => [id, buildAgentStatus(run, agent)])),
    results: {
      votes: Object.fromEntries(tally(run)),
      winner: run.result?.winner ?? null,
      is_tie: run.result?.isTie ?? false,
      final_answer_preview: findFinalPreview(run),
    },
  }
}

export function computeRunPhase(run: CoordinationRun): RunStatus['coordination']['phase'] {
  if (run.endedAt !== null) return 'finished'
  if (run.result !== null) return 'presentation'
  return run.answers.length === 0 ? 'initial_answer' : 'voting'
}

function findActiveAgent(run: CoordinationRun): string | null {
  if (run.endedAt !== null) return null
  if (run.result !== null) return run.result.winner
  const running = [...run.agents.values()].filter((agent) => agent.turn === 'running')
  return running.length === 1 ? (running[0]?.id ?? null) : null
}

/** An answer is half of an agent's progress; finished agents count fully. */
function computePercentage(run: CoordinationRun): number {
  if (run.endedAt !== null) return 100
  const halves = [...run.agents.values()].map((agent) => {
    if (agent.status !== 'live' || isDone(run, agent)) return 2
    return run.newest.has(agent.id) ? 1 : 0
  })
  const made = halves.reduce<number>((sum, half) => sum + half, 0)
  return Math.min(PERCENT_BEFORE_END_MAX, Math.floor((made * 100) / (2 * halves.length)))
}

function buildAgentStatus(run: CoordinationRun, agent: Participant): AgentStatus {
  const { error, vote } = agent
  return {
    status: computeStatusWord(run, agent),
    answer_count: answerCountOf(run, agent.id),
    latest_answer_label: run.newest.get(agent.id)?.label ?? null,
    vote_cast: vote === null ? null : voteCast(vote),
    times_restarted: Math.max(0, agent.turns - 1),
    last_activity: agent.lastActivity === null ? null : agent.lastActivity / 1000,
    error: error === null ? null : { type: error.type, message: error.message, timestamp: error.at / 1000 },
    reliability: buildReliabilityRecord(agent.reliability, computeOutcome(agent)),
  }
}

function voteCast(vote: Vote): AgentStatus['vote_cast'] {
  return {
    voted_for_agent: vote.votedFor,
    voted_for_label: vote.label,
    reason_preview: takeFirstChars(vote.reason, PREVIEW_CHARS_MAX),
  }
}

const GONE: Readonly<Record<Exclude<Participant['status'], 'live'>, AgentStatusWord>> = {
  stopped: 'stopped',
  failed: 'error',
  timed_out: 'timeout',
}

function computeStatusWord(run: CoordinationRun, agent: Participant): AgentStatusWord {
  if (agent.status !== 'live') return GONE[agent.status]
  if (run.endedAt !== null) return 'completed'
  if (agent.vote !== null) return 'voted'
  if (agent.turn !== 'none') return agent.turn === 'running' ? 'streaming' : 'restarting'
  return run.newest.has(agent.id) ? 'answered' : 'waiting'
}

function computeOutcome(agent: Participant): ReliabilityOutcome {
  if (agent.status === 'live') return 'ok'
  return agent.status === 'stopped' ? 'non_compliant' : 'dropped'
}

function findFinalPreview(run: CoordinationRun): string | null {
  const { result } = run
  if (result === null || result.winner === null) return null
  const text = run.presentation ?? run.answers.find((answer) => answer.label === result.label)?.content ?? null
  return text === null ? null : takeFirstChars(text, PREVIEW_CHARS_MAX)
}
