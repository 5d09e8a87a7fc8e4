import { firstChars } from '../councils/code-points.js'
import {
  NO_RELIABILITY,
  type RefusalSeen,
  type Reliability,
  type ReliabilityOutcome,
  withRefusal,
  withRound,
} from '../councils/reliability.js'
import { HOLDERS_MAX } from '../reviews/review.js'
import type { TaskEvent } from './event.js'
import { isRefusal } from './refusal.js'

/** Why an agent has the task no more. */
type Left = 'lapsed' | 'released' | 'taken' | 'completed' | 'cancelled'

/** What is kept of one agent that has held the task. */
export interface RunAgent {
  readonly reliability: Reliability
  readonly outcome: ReliabilityOutcome
  /** How often it claimed the task. */
  readonly claims: number
  /** The newest visit it was in; 0: none yet. */
  readonly visit: number
  readonly lastActivity: number
  readonly left: Left | null
  readonly error: { readonly type: string; readonly message: string; readonly at: number } | null
}

/** A task as a run, folded from its stream beside the state: who worked on it and what was refused to whom. Bounded. */
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
  /** Attempts that are kept, of all agents together. */
  readonly attemptsKept: number
  /** The interrupt that the last event told, and the run without it. */
  readonly interrupted: { readonly at: number; readonly before: TaskRun } | null
}

export const ATTEMPTS_OF_RUN_MAX = 1000
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
  const refused = refusalIn(event)
  const next = refused === null ? moved(run, event) : withRefused(run, event, refused)
  const name = event.actor.startsWith('agent:') ? event.actor.slice('agent:'.length) : null
  const active = name === null ? next : withAgent(next, name, { lastActivity: event.at })
  const { at } = event
  const interrupted = event.type === 'rule_violated' && !event.shadow ? { at, before: plain(run) } : null
  return { ...active, version: run.version + 1, interrupted }
}

// Only the last event can be one of two that say the same: nothing older is held on to.
function plain(run: TaskRun): TaskRun {
  return run.interrupted === null ? run : { ...run, interrupted: null }
}

function moved(run: TaskRun, event: TaskEvent): TaskRun {
  switch (event.type) {
    case 'task_claimed':
      return claimed(run, event)
    case 'phase_entered':
      return inVisit(run, event.visit, run.holder)
    case 'task_rewound':
      return inVisit(
        event.keepsAgent ? goesOn({ ...run, endedAt: null }) : { ...left(run, 'taken', event.at), endedAt: null },
        run.visit + 1,
        event.keepsAgent ? run.holder : null,
      )
    case 'lease_lapsed':
      return left(run, 'lapsed', event.at)
    case 'agent_dropped':
      return left(run, 'lapsed', event.at, { type: event.type, message: event.reason })
    case 'task_released':
      return left(run, 'released', event.at)
    case 'task_reassigned':
      return left(run, 'taken', event.at)
    case 'task_parked':
      return parked(run, event)
    case 'task_resumed':
      return event.keepsAgent ? goesOn(run) : left(run, 'taken', event.at)
    case 'task_completed':
      return { ...left(run, 'completed', event.at), endedAt: event.at }
    case 'task_cancelled':
      return { ...left(run, 'cancelled', event.at), endedAt: event.at, cancelledFor: event.reason }
    default:
      return run
  }
}

function claimed(run: TaskRun, event: TaskEvent & { type: 'task_claimed' }): TaskRun {
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
  return inVisit({ ...started, agents: new Map(run.agents).set(agentId, agent) }, run.visit, agentId)
}

function inVisit(run: TaskRun, visit: number, holder: string | null): TaskRun {
  const agent = holder === null ? undefined : run.agents.get(holder)
  const there = { ...run, visit }
  if (holder === null || agent === undefined || visit === 0) return there
  return withAgent(there, holder, { visit, reliability: withRound(agent.reliability, visit) })
}

const LAPSED = { type: 'lease_lapsed', message: 'The agent was not heard of until its lease had lapsed' }

// Whoever lost the task, gave it back or had it taken away did not bring it to its end; one that was stopped before stays so.
function left(run: TaskRun, why: Left, at: number, said = LAPSED): TaskRun {
  const { holder } = run
  const outcome = holder === null ? undefined : run.agents.get(holder)?.outcome
  if (holder === null || outcome === undefined) return { ...run, holder: null }
  const isOver = why === 'completed' || why === 'cancelled'
  const error = { ...said, at }
  return {
    ...withAgent(run, holder, {
      left: why,
      outcome: outcome === 'ok' && !isOver ? 'dropped' : outcome,
      ...(why === 'lapsed' ? { error } : {}),
    }),
    holder: null,
  }
}

function goesOn(run: TaskRun): TaskRun {
  return run.holder === null ? run : withAgent(run, run.holder, { outcome: 'ok', error: null })
}

// A task that waits for others is parked without a code, or with that of the waiting: no agent is to blame for it.
function parked(run: TaskRun, event: TaskEvent & { type: 'task_parked' }): TaskRun {
  if (run.holder === null || event.code === null || event.code === 'approval_pending') return run
  const error = { type: 'parked', message: firstChars(event.reason, MESSAGE_CHARS_MAX), at: event.at }
  return withAgent(run, run.holder, { outcome: 'non_compliant', error })
}

function withAgent(run: TaskRun, id: string, change: Partial<RunAgent>): TaskRun {
  const agent = run.agents.get(id)
  return agent === undefined ? run : { ...run, agents: new Map(run.agents).set(id, { ...agent, ...change }) }
}

interface AgentRefusal {
  readonly agentId: string
  readonly refusal: RefusalSeen
}

/** The refusal of an agent that the event tells; null where it tells none, or one of somebody else. */
function refusalIn(event: TaskEvent): AgentRefusal | null {
  switch (event.type) {
    case 'tool_denied':
      return event.reviewer === undefined && event.agentId !== undefined ? seen(event.agentId, event) : null
    case 'changes_dropped':
    case 'transition_refused':
    case 'checkpoint_refused':
      return seen(event.agentId, event)
    case 'gate_blocked':
      // Who waits for an approval or for reviewers does nothing wrong.
      return isRefusal(event) ? seen(event.agentId, { ...event, code: reasonOf(event) }) : null
    case 'rule_violated':
      return event.shadow ? null : seen(event.agentId, event)
    case 'token_refused':
      return event.agentId === undefined ? null : seen(event.agentId, event)
    case 'question_refused':
      return ofActor(event, event.questionId === null ? { ...event, toolName: 'ask_user_question' } : event)
    case 'approval_refused':
      return ofActor(event, event)
    default:
      return null
  }
}

function seen(agentId: string, event: RefusalSeen): AgentRefusal {
  const { at, code, retry, toolName } = event
  const detail = firstChars(event.detail, MESSAGE_CHARS_MAX)
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

// Operators are refused answers too, and may be called like an agent.
function ofActor(event: TaskEvent, refusal: RefusalSeen): AgentRefusal | null {
  return event.actor.startsWith('agent:') ? seen(event.actor.slice('agent:'.length), refusal) : null
}

function reasonOf({ code, blockers }: TaskEvent & { type: 'gate_blocked' }): string {
  const isTree = code === 'gate_blocked' && blockers.some((one) => one.code === 'unledgered_change')
  return isTree ? 'unledgered_change' : code
}

// One request is one attempt: a rule that holds it back is told by the rule and by the refusal, and counts once.
function withRefused(run: TaskRun, event: TaskEvent, { agentId, refusal }: AgentRefusal): TaskRun {
  const { interrupted } = run
  const isTold = refusal.code === 'rule_interrupt' && event.type !== 'rule_violated' && interrupted?.at === event.at
  const base = isTold ? interrupted.before : run
  const agent = base.agents.get(agentId)
  if (agent === undefined) return base
  // Whoever was refused with a token of a visit that is over did not enter the one that came after.
  const after = withRefusal(agent.reliability, refusal, Math.max(1, agent.visit))
  const isKept = base.attemptsKept < ATTEMPTS_OF_RUN_MAX && after.attempts.length > agent.reliability.attempts.length
  const reliability = isKept ? after : { ...after, attempts: agent.reliability.attempts }
  return { ...withAgent(base, agentId, { reliability }), attemptsKept: base.attemptsKept + (isKept ? 1 : 0) }
}
