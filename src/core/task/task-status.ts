import { buildReliabilityRecord } from '../councils/reliability.js'
import type { AgentStatus, AgentStatusWord, RunStatus } from '../councils/status.js'
import type { TaskState } from './state.js'
import type { RunAgent, TaskRun } from './task-run.js'

/** `status.json` of a task: that of a run, with the task's phase and whether its gates are being checked. */
export type TaskRunStatus = Omit<RunStatus, 'coordination'> & {
  readonly coordination: Omit<RunStatus['coordination'], 'phase'> & {
    readonly phase: string
    readonly checking: boolean
  }
}

const PERCENT_BEFORE_END_MAX = 99

/** The content of `status.json` for a task, with its keys in order; null before its first claim. */
export function buildTaskStatus(
  state: TaskState,
  run: TaskRun,
  around: {
    readonly now: number
    readonly phases: number
    readonly logDir: string | null
    readonly isChecking?: boolean
  },
): TaskRunStatus | null {
  const { startedAt } = run
  if (startedAt === null) return null
  const until = run.endedAt ?? around.now
  return {
    ...finishOf(state, run),
    meta: {
      last_updated: state.updatedAt / 1000,
      session_id: state.id,
      log_dir: around.logDir,
      question: state.title,
      start_time: startedAt / 1000,
      elapsed_seconds: Math.max(0, until - startedAt) / 1000,
    },
    coordination: {
      phase: state.phase,
      active_agent: isAtWork(state) ? (state.held?.agentId ?? null) : null,
      completion_percentage: computePercentage(state, around.phases),
      is_final_presentation: false,
      checking: around.isChecking === true,
    },
    agents: Object.fromEntries([...run.agents].map(([id, agent]) => [id, buildAgentStatus(state, agent)])),
    results: { votes: {}, winner: null, is_tie: false, final_answer_preview: null },
  }
}

type Finish = Pick<RunStatus, 'finish_reason' | 'finish_reason_details' | 'is_complete'>

function finishOf(state: TaskState, run: TaskRun): Finish {
  const finish = (reason: Finish['finish_reason'], details: string | null): Finish => ({
    finish_reason: reason,
    finish_reason_details: details,
    is_complete: reason === 'completed' || reason === 'cancelled',
  })
  switch (state.status) {
    case 'completed':
      return finish('completed', null)
    case 'cancelled':
      return finish('cancelled', run.cancelledFor)
    case 'parked':
      return finish('parked', state.parkedReason)
    default:
      return finish('in_progress', null)
  }
}

function isAtWork({ status }: TaskState): boolean {
  return status === 'active' || status === 'awaiting_approval'
}

function computePercentage(state: TaskState, phases: number): number {
  if (state.status === 'completed') return 100
  const passed = (state.completedPhases.length * 100) / Math.max(1, phases)
  return Math.min(PERCENT_BEFORE_END_MAX, Math.floor(passed))
}

function buildAgentStatus(state: TaskState, agent: RunAgent): AgentStatus {
  const { error } = agent
  return {
    status: computeStatusWord(state, agent),
    answer_count: 0,
    latest_answer_label: null,
    vote_cast: null,
    times_restarted: Math.max(0, agent.claims - 1),
    last_activity: agent.lastActivity / 1000,
    error: error === null ? null : { type: error.type, message: error.message, timestamp: error.at / 1000 },
    reliability: buildReliabilityRecord(agent.reliability, agent.outcome),
  }
}

function computeStatusWord(state: TaskState, agent: RunAgent): AgentStatusWord {
  if (agent.outcome === 'non_compliant') return 'stopped'
  if (agent.left === 'completed') return 'completed'
  if (agent.left !== null) return agent.left === 'lapsed' ? 'timeout' : 'stopped'
  return state.status === 'active' ? 'streaming' : 'waiting'
}
