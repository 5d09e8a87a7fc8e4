import { assertUnreachable } from '../unreachable.js'
import { takeFirstChars } from './code-points.js'
import type { RefusedBecause, ResponseCommand, RunCommand, RunDecision, RunStep, StartRun } from './command.js'
import { type CoordinationRun, isAwaited, isPresenting, type Participant } from './council.js'
import { decideEnding, makeEndFact } from './ending.js'
import type { RunEvent, RunFact } from './event.js'
import { evolveRun } from './evolve-council.js'
import { ANSWER_CHARS_MAX } from './judge-response.js'
import { formatTimedOut } from './messages.js'
import { respond } from './respond.js'
import { startFact } from './start.js'
import { decideDue } from './time-limits.js'
import { computeSight } from './visible-answers.js'

const FAILURE_CHARS_MAX = 500

/**
 * Decides one command: the events in order, and the answer. Limits that have passed by `now` come before the command.
 */
export function decideRun(run: CoordinationRun | null, command: RunCommand, now: number): RunDecision {
  if (run === null) {
    if (command.type !== 'start') throw new Error(`the run is not started: ${command.type}`)
    return begin(command, now)
  }
  const events: RunEvent[] = []
  let state = run
  const add = (facts: readonly RunFact[]): void => {
    for (const fact of facts) {
      const event: RunEvent = { ...fact, at: Math.max(now, state.updatedAt) }
      events.push(event)
      state = evolveRun(state, event)
    }
  }
  add(decideDue(state, now))
  add(decideEnding(state))
  const step = take(state, command)
  add(step.facts)
  add(decideEnding(state))
  return { events, outcome: step.outcome }
}

function begin(command: StartRun, now: number): RunDecision {
  const fact = startFact(command)
  return typeof fact === 'string'
    ? { events: [], outcome: { kind: 'refused', because: 'invalid_start', detail: fact } }
    : { events: [{ ...fact, at: now }], outcome: { kind: 'done' } }
}

function take(run: CoordinationRun, command: RunCommand): RunStep {
  switch (command.type) {
    case 'start':
      return refuseCommand('already_started', 'The council has been started.')
    case 'tick':
      return makeStep([])
    case 'cancel':
      return cancel(run, command.reason)
    case 'turn_began':
    case 'injected':
    case 'responded':
    case 'agent_failed':
    case 'agent_timed_out':
    case 'usage':
    case 'final_presented': {
      const agent = run.agents.get(command.agent)
      if (agent === undefined) return refuseCommand('unknown_agent', 'The council has no such agent.')
      return run.endedAt === null
        ? decideAgentCommand(run, agent, command)
        : refuseCommand('run_over', 'The council is over.')
    }
    default:
      return assertUnreachable(command)
  }
}

type AgentCommand = Extract<RunCommand, { readonly agent: string }>

function decideAgentCommand(run: CoordinationRun, agent: Participant, command: AgentCommand): RunStep {
  switch (command.type) {
    case 'turn_began':
    case 'injected':
      return recordShown(run, agent, command)
    case 'responded':
      return decideResponse(run, agent, command)
    case 'agent_failed':
      return agent.status === 'live'
        ? makeStep([
            { type: 'agent_failed', agent: agent.id, message: takeFirstChars(command.message, FAILURE_CHARS_MAX) },
          ])
        : makeStep([])
    case 'agent_timed_out': {
      const message = formatTimedOut(run.options.roundTimeoutSeconds)
      return agent.status === 'live' ? makeStep([{ type: 'agent_timed_out', agent: agent.id, message }]) : makeStep([])
    }
    case 'usage': {
      const { input, output, cacheRead, cacheWrite } = command.tokens
      return makeStep([
        { type: 'usage_recorded', agent: agent.id, round: agent.round, ...{ input, output, cacheRead, cacheWrite } },
      ])
    }
    case 'final_presented':
      return acceptPresentation(run, agent, command.text)
    default:
      return assertUnreachable(command)
  }
}

/** The winner may be shown answers too, for its presentation. */
function recordShown(
  run: CoordinationRun,
  agent: Participant,
  command: Extract<RunCommand, { readonly type: 'turn_began' | 'injected' }>,
): RunStep {
  const isPresenter = isPresenting(run) && run.result?.winner === agent.id
  if (!isAwaited(run, agent) && !isPresenter) return refuseNotAwaited(run, agent)
  const known = new Set(run.answers.map((answer) => answer.label))
  if (!command.shown.every((label) => known.has(label)))
    return refuseCommand('unknown_answer', 'An answer was shown that the council does not have.')
  const labels = [...new Set(command.shown)]
  const isNews = computeSight(run, agent, labels) !== null
  if (command.type === 'injected')
    return makeStep(isNews ? [{ type: 'answers_injected', agent: agent.id, shown: labels }] : [])
  // Viewing the same answers again records nothing; otherwise views would fill the ledger.
  const isAgain = agent.turn === 'running' && !isNews
  return makeStep(isAgain ? [] : [{ type: 'turn_began', agent: agent.id, shown: labels }])
}

function decideResponse(run: CoordinationRun, agent: Participant, command: ResponseCommand): RunStep {
  return isAwaited(run, agent) ? respond(run, agent, command) : refuseNotAwaited(run, agent)
}

function refuseNotAwaited(run: CoordinationRun, agent: Participant): RunStep {
  if (agent.status !== 'live')
    return refuseCommand('not_awaited', agent.error?.message ?? 'The agent no longer takes part.')
  if (run.result !== null) return refuseCommand('not_awaited', 'The council is decided.')
  const why = agent.vote === null ? 'The answer stands' : 'The vote stands'
  return refuseCommand('not_awaited', `${why}; there is nothing to do unless another answer arrives.`)
}

function acceptPresentation(run: CoordinationRun, agent: Participant, text: string): RunStep {
  const { result } = run
  if (result === null || result.winner !== agent.id)
    return refuseCommand('not_presenting', 'This agent was not asked for a final presentation.')
  if (text.trim() === '') return makeStep([makeEndFact(result)])
  return makeStep([
    {
      type: 'final_presented',
      agent: agent.id,
      label: `${agent.anonymousId}.final`,
      text: takeFirstChars(text, ANSWER_CHARS_MAX),
    },
    { type: 'run_ended', finishReason: result.finishReason, details: result.details },
  ])
}

function cancel(run: CoordinationRun, reason: string): RunStep {
  if (run.endedAt !== null) return refuseCommand('run_over', 'The council is over.')
  const details = takeFirstChars(reason, FAILURE_CHARS_MAX) || 'Cancelled'
  return makeStep([{ type: 'run_ended', finishReason: 'cancelled', details }])
}

function makeStep(facts: readonly RunFact[]): RunStep {
  return { facts, outcome: { kind: 'done' } }
}

function refuseCommand(because: RefusedBecause, detail: string): RunStep {
  return { facts: [], outcome: { kind: 'refused', because, detail } }
}
