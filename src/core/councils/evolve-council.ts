import { assertUnreachable } from '../unreachable.js'
import type { AgentError, Answer, CoordinationRun, Participant, TokensUsed } from './council.js'
import { assignAnonymousIds } from './council.js'
import type { RunEvent } from './event.js'
import { addAttempt, addRound, NO_RELIABILITY } from './reliability.js'
import { computeSight } from './visible-answers.js'

type LaterEvent = Exclude<RunEvent, { readonly type: 'run_started' }>
type AgentEvent = Extract<LaterEvent, { readonly agent: string }>

/** Folds one event into the council. The first must be `run_started`; anything else before it is a fault. */
export function evolveRun(run: CoordinationRun | null, event: RunEvent): CoordinationRun {
  if (event.type === 'run_started') return applyRunStarted(event)
  if (run === null) throw new Error(`the run starts with ${event.type} instead of run_started`)
  return { ...applyEvent(run, event), updatedAt: event.at }
}

function applyRunStarted(event: Extract<RunEvent, { readonly type: 'run_started' }>): CoordinationRun {
  const names = assignAnonymousIds(event.agents.map((agent) => agent.id))
  return {
    id: event.id,
    question: event.question,
    isConsensus: event.isConsensus,
    council: event.council,
    options: event.options,
    startedAt: event.at,
    updatedAt: event.at,
    agents: new Map(
      event.agents.map(({ id, workTree }) => [
        id,
        makeParticipant({ id, workTree, anonymousId: names.get(id) ?? '' }, event.at),
      ]),
    ),
    ids: new Map([...names].map(([id, anonymousId]) => [anonymousId, id])),
    answers: [],
    newest: new Map(),
    decidedAt: null,
    result: null,
    presentation: null,
    endedAt: null,
    finishReason: null,
    finishDetails: null,
  }
}

function makeParticipant(named: Pick<Participant, 'id' | 'anonymousId' | 'workTree'>, at: number): Participant {
  return {
    ...named,
    status: 'live',
    error: null,
    turn: 'none',
    turns: 0,
    round: 1,
    attempts: 0,
    shown: new Map(),
    vote: null,
    dueSince: at,
    lastActivity: null,
    tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    reliability: addRound(NO_RELIABILITY, 1),
  }
}

function applyEvent(run: CoordinationRun, event: LaterEvent): CoordinationRun {
  switch (event.type) {
    case 'answer_accepted':
      return applyAnswerAccepted(run, event)
    case 'turn_began':
    case 'answers_injected':
    case 'vote_cast':
    case 'vote_asked_again':
    case 'response_rejected':
    case 'agent_stopped':
    case 'agent_failed':
    case 'agent_timed_out':
      return updateAgent(run, event.agent, (agent) => applyAgentEvent(run, agent, event))
    case 'usage_recorded':
      return updateAgent(run, event.agent, (agent) => ({ ...agent, tokens: sum(agent.tokens, event) }))
    case 'run_decided': {
      const { type: _type, at, ...result } = event
      return { ...run, decidedAt: at, result }
    }
    case 'final_presented':
      return updateAgent({ ...run, presentation: event.text }, event.agent, (agent) => ({
        ...agent,
        turn: 'none',
        lastActivity: event.at,
      }))
    case 'run_ended':
      return { ...run, endedAt: event.at, finishReason: event.finishReason, finishDetails: event.details }
    default:
      return assertUnreachable(event)
  }
}

function sum(one: TokensUsed, more: TokensUsed): TokensUsed {
  return {
    input: one.input + more.input,
    output: one.output + more.output,
    cacheRead: one.cacheRead + more.cacheRead,
    cacheWrite: one.cacheWrite + more.cacheWrite,
  }
}

function updateAgent(run: CoordinationRun, id: string, change: (agent: Participant) => Participant): CoordinationRun {
  const agent = run.agents.get(id)
  if (agent === undefined) throw new Error(`the run has no agent ${id}`)
  return { ...run, agents: new Map(run.agents).set(id, change(agent)) }
}

type SingleAgentEvent = Exclude<AgentEvent, { readonly type: 'answer_accepted' | 'final_presented' | 'usage_recorded' }>

function applyAgentEvent(run: CoordinationRun, before: Participant, event: SingleAgentEvent): Participant {
  const agent: Participant = { ...before, lastActivity: event.at }
  switch (event.type) {
    case 'turn_began':
      return { ...applyShown(run, agent, event), turn: 'running', turns: agent.turns + 1 }
    case 'answers_injected':
      return { ...agent, shown: computeSight(run, agent, event.shown) ?? agent.shown }
    case 'vote_cast': {
      const { votedFor, label, reason, at } = event
      return { ...agent, turn: 'none', vote: { votedFor, label, reason, at } }
    }
    case 'vote_asked_again':
      // In the same stream it is an injection; otherwise the next prompt shows new answers, which starts a round.
      return event.handled === 'inline'
        ? { ...agent, shown: computeSight(run, agent, event.shown) ?? agent.shown }
        : { ...applyShown(run, { ...agent, turns: Math.max(1, agent.turns) }, event), turn: 'restarting' }
    case 'response_rejected':
      return applyResponseRejected(agent, event)
    case 'agent_stopped':
      return markGone(agent, event, { status: 'stopped', type: 'non_compliant' })
    case 'agent_failed':
      return markGone(agent, event, { status: 'failed', type: 'crash' })
    case 'agent_timed_out':
      return markGone(before, event, { status: 'timed_out', type: 'timeout' })
    default:
      return assertUnreachable(event)
  }
}

/** A prompt with new answers begins a round; the first prompt is always round 1. */
function applyShown(
  run: CoordinationRun,
  agent: Participant,
  event: { readonly shown: readonly string[]; readonly at: number },
): Participant {
  const shown = computeSight(run, agent, event.shown)
  if (agent.turns === 0) return { ...agent, shown: shown ?? agent.shown, dueSince: event.at }
  if (shown === null) return agent
  const round = agent.round + 1
  const reliability = addRound(agent.reliability, round)
  return { ...agent, shown, round, attempts: 0, dueSince: event.at, reliability }
}

function applyResponseRejected(
  agent: Participant,
  event: Extract<RunEvent, { readonly type: 'response_rejected' }>,
): Participant {
  const attempt = {
    round: event.round,
    attempt: event.attempt,
    max_attempts: event.maxAttempts,
    reason: event.reason,
    tool_calls: event.toolCalls,
    error_message: event.errorMessage,
    buffer_preview: event.bufferPreview,
    buffer_chars: event.bufferChars,
    handled: event.handled,
    timestamp: event.at / 1000,
  }
  return {
    ...agent,
    turn: event.handled === 'restart' ? 'restarting' : agent.turn,
    attempts: event.attempt,
    reliability: addAttempt(agent.reliability, attempt, event.unknownTools),
  }
}

function markGone(
  agent: Participant,
  event: { readonly message: string; readonly at: number },
  how: Pick<Participant, 'status'> & Pick<AgentError, 'type'>,
): Participant {
  const error = { type: how.type, message: event.message, at: event.at }
  return { ...agent, status: how.status, error, turn: 'none' }
}

/** A new answer voids all votes, because they were cast without it; the voters have to vote again. */
function applyAnswerAccepted(
  run: CoordinationRun,
  event: Extract<RunEvent, { readonly type: 'answer_accepted' }>,
): CoordinationRun {
  const { agent: id, label, content, verdict, at } = event
  const answer: Answer = { agent: id, label, revision: (run.newest.get(id)?.revision ?? 0) + 1, content, verdict, at }
  const agents = new Map<string, Participant>()
  for (const [one, agent] of run.agents) {
    if (one === id) agents.set(one, { ...agent, turn: 'none', vote: null, dueSince: at, lastActivity: at })
    else if (agent.vote !== null) agents.set(one, { ...agent, vote: null, dueSince: at })
    else agents.set(one, agent)
  }
  return { ...run, agents, answers: [...run.answers, answer], newest: new Map(run.newest).set(id, answer) }
}
