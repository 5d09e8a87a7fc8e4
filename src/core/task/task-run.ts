import { takeFirstChars } from '../councils/code-points.js'
import {
  addRefusal,
  addRound,
  NO_RELIABILITY,
  type RefusalSeen,
  type Reliability,
  type ReliabilityOutcome,
} from '../councils/reliability.js'
import { HOLDERS_MAX } from '../reviews/review.js'
import type { TaskEvent } from './event.js'
import { isRefusal } from './refusal.js'

/** Why an agent no longer has the task. */
type LeaveReason = 'lapsed' | 'released' | 'taken' | 'completed' | 'cancelled'

/** The record of one agent that has held the task. */
export interface RunAgent {
  readonly reliability: Reliability
  readonly outcome: ReliabilityOutcome
  /** How often it claimed the task. */
  readonly claims: number
  /** The newest visit it was in; 0: none yet. */
  readonly visit: number
  readonly lastActivity: number
  readonly left: LeaveReason | null
  readonly error: { readonly type: string; readonly message: string; readonly at: number } | null
}

/** A task as a run, folded from its stream beside the state: who worked on it and who was refused what. Bounded. */
export interface TaskRun {
  /** Number of events folded. */
  readonly version: number
  /** Its first claim; null before. */
  readonly startedAt: number | null
  readonly endedAt: number | null
  readonly cancelledFor: string | null
  readonly visit: number
  readonly holder: string | null
  /** In the order in which they first held it. */
  readonly agents: ReadonlyMap<string, RunAgent>
  /** Number of stored attempts of all agents. */
  readonly attemptsKept: number
  /** The interrupt reported by the last event, and the run without it. */
  readonly interrupted: { readonly at: number; readonly before: TaskRun } | null
}

const ATTEMPTS_OF_RUN_MAX = 1000
const MESSAGE_CHARS_MAX = 1000

export const NO_TASK_RUN: TaskRun = {
  version: 0,
  startedAt: null,
  endedAt: null,
  cancelledFor: null,
  visit: 0,
  holder: null,
  agents: new Map(),
  attemptsKept: 0,
  interrupted: null,
}

/** Folds one event of the task's stream into the run. */
export function evolveTaskRun(run: TaskRun, event: TaskEvent): TaskRun {
  const refused = findRefusal(event)
  const next = refused === null ? applyMove(run, event) : addRefusedAttempt(run, event, refused)
  const name = event.actor.startsWith('agent:') ? event.actor.slice('agent:'.length) : null
  const active = name === null ? next : updateAgent(next, name, { lastActivity: event.at })
  const { at } = event
  const interrupted = event.type === 'rule_violated' && !event.shadow ? { at, before: clearInterrupted(run) } : null
  return { ...active, version: run.version + 1, interrupted }
}

// Only the last event can have a duplicate, so nothing older is kept.
function clearInterrupted(run: TaskRun): TaskRun {
  return run.interrupted === null ? run : { ...run, interrupted: null }
}

function applyMove(run: TaskRun, event: TaskEvent): TaskRun {
  switch (event.type) {
    case 'task_claimed':
      return applyClaim(run, event)
    case 'phase_entered':
      return enterVisit(run, event.visit, run.holder)
    case 'task_rewound':
      return enterVisit(
        event.keepsAgent
          ? clearOutcome({ ...run, endedAt: null })
          : { ...markLeft(run, 'taken', event.at), endedAt: null },
        run.visit + 1,
        event.keepsAgent ? run.holder : null,
      )
    case 'lease_lapsed':
      return markLeft(run, 'lapsed', event.at)
    case 'agent_dropped':
      return markLeft(run, 'lapsed', event.at, { type: event.type, message: event.reason })
    case 'task_released':
      return markLeft(run, 'released', event.at)
    case 'task_reassigned':
      return markLeft(run, 'taken', event.at)
    case 'task_parked':
      return applyParked(run, event)
    case 'task_resumed':
      return event.keepsAgent ? clearOutcome(run) : markLeft(run, 'taken', event.at)
    case 'task_completed':
      return { ...markLeft(run, 'completed', event.at), endedAt: event.at }
    case 'task_cancelled':
      return { ...markLeft(run, 'cancelled', event.at), endedAt: event.at, cancelledFor: event.reason }
    default:
      return run
  }
}

function applyClaim(run: TaskRun, event: TaskEvent & { type: 'task_claimed' }): TaskRun {
  const { agentId, at } = event
  const known = run.agents.get(agentId)
  const started = { ...run, startedAt: run.startedAt ?? at, holder: agentId }
  if (known === undefined && run.agents.size >= HOLDERS_MAX) return started
  const agent: RunAgent = {
    reliability: known?.reliability ?? NO_RELIABILITY,
    outcome: 'ok',
    claims: (known?.claims ?? 0) + 1,
    visit: known?.visit ?? 0,
    lastActivity: at,
    left: null,
    error: null,
  }
  return enterVisit({ ...started, agents: new Map(run.agents).set(agentId, agent) }, run.visit, agentId)
}

function enterVisit(run: TaskRun, visit: number, holder: string | null): TaskRun {
  const agent = holder === null ? undefined : run.agents.get(holder)
  const there = { ...run, visit }
  if (holder === null || agent === undefined || visit === 0) return there
  return updateAgent(there, holder, { visit, reliability: addRound(agent.reliability, visit) })
}

const LAPSED = { type: 'lease_lapsed', message: 'The agent made no call before its lease lapsed' }

// An agent that lost the task, gave it back or had it taken away did not finish it; one that was stopped before stays
// so.
function markLeft(run: TaskRun, why: LeaveReason, at: number, said = LAPSED): TaskRun {
  const { holder } = run
  const outcome = holder === null ? undefined : run.agents.get(holder)?.outcome
  if (holder === null || outcome === undefined) return { ...run, holder: null }
  const isOver = why === 'completed' || why === 'cancelled'
  const error = { ...said, at }
  return {
    ...updateAgent(run, holder, {
      left: why,
      outcome: outcome === 'ok' && !isOver ? 'dropped' : outcome,
      ...(why === 'lapsed' ? { error } : {}),
    }),
    holder: null,
  }
}

function clearOutcome(run: TaskRun): TaskRun {
  return run.holder === null ? run : updateAgent(run, run.holder, { outcome: 'ok', error: null })
}

// A task that waits for others is parked without a code, or with that of the wait: no agent caused it.
function applyParked(run: TaskRun, event: TaskEvent & { type: 'task_parked' }): TaskRun {
  if (run.holder === null || event.code === null || event.code === 'approval_pending') return run
  const error = { type: 'parked', message: takeFirstChars(event.reason, MESSAGE_CHARS_MAX), at: event.at }
  return updateAgent(run, run.holder, { outcome: 'non_compliant', error })
}

function updateAgent(run: TaskRun, id: string, change: Partial<RunAgent>): TaskRun {
  const agent = run.agents.get(id)
  return agent === undefined ? run : { ...run, agents: new Map(run.agents).set(id, { ...agent, ...change }) }
}

interface AgentRefusal {
  readonly agentId: string
  readonly refusal: RefusalSeen
}

/** The agent's refusal that the event reports; null if there is none, or it is somebody else's. */
function findRefusal(event: TaskEvent): AgentRefusal | null {
  switch (event.type) {
    case 'tool_denied':
      return event.reviewer === undefined && event.agentId !== undefined ? makeAgentRefusal(event.agentId, event) : null
    case 'changes_dropped':
    case 'transition_refused':
    case 'checkpoint_refused':
      return makeAgentRefusal(event.agentId, event)
    case 'gate_blocked':
      // Waiting for an approval or for reviewers is not a refusal.
      return isRefusal(event) ? makeAgentRefusal(event.agentId, { ...event, code: formatReason(event) }) : null
    case 'rule_violated':
      return event.shadow ? null : makeAgentRefusal(event.agentId, event)
    case 'token_refused':
      return event.agentId === undefined ? null : makeAgentRefusal(event.agentId, event)
    case 'question_refused':
      return findRefusalOfActor(event, event.questionId === null ? { ...event, toolName: 'ask_user_question' } : event)
    case 'approval_refused':
      return findRefusalOfActor(event, event)
    default:
      return null
  }
}

function makeAgentRefusal(agentId: string, event: RefusalSeen): AgentRefusal {
  const { at, code, retry, toolName } = event
  const detail = takeFirstChars(event.detail, MESSAGE_CHARS_MAX)
  return {
    agentId,
    refusal: {
      at,
      code,
      detail,
      ...(retry === undefined ? {} : { retry }),
      ...(toolName === undefined ? {} : { toolName }),
    },
  }
}

// Operators can be refused answers too, and may have the same name as an agent.
function findRefusalOfActor(event: TaskEvent, refusal: RefusalSeen): AgentRefusal | null {
  return event.actor.startsWith('agent:') ? makeAgentRefusal(event.actor.slice('agent:'.length), refusal) : null
}

function formatReason({ code, blockers }: TaskEvent & { type: 'gate_blocked' }): string {
  const isTree = code === 'gate_blocked' && blockers.some((blocker) => blocker.code === 'unledgered_change')
  return isTree ? 'unledgered_change' : code
}

// One request is one attempt: a rule that blocks it appears as the rule and as the refusal, and counts once.
function addRefusedAttempt(run: TaskRun, event: TaskEvent, { agentId, refusal }: AgentRefusal): TaskRun {
  const { interrupted } = run
  const isTold = refusal.code === 'rule_interrupt' && event.type !== 'rule_violated' && interrupted?.at === event.at
  const base = isTold ? interrupted.before : run
  const agent = base.agents.get(agentId)
  if (agent === undefined) return base
  // A refusal with a token of an ended visit does not enter the agent in the next visit.
  const after = addRefusal(agent.reliability, refusal, Math.max(1, agent.visit))
  const isKept = base.attemptsKept < ATTEMPTS_OF_RUN_MAX && after.attempts.length > agent.reliability.attempts.length
  const reliability = isKept ? after : { ...after, attempts: agent.reliability.attempts }
  return { ...updateAgent(base, agentId, { reliability }), attemptsKept: base.attemptsKept + (isKept ? 1 : 0) }
}
