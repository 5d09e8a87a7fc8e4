import { unreachable } from '../unreachable.js'
import { firstChars } from './code-points.js'
import type { Attempted, Responded, RunStep } from './command.js'
import { answerCountOf, type CoordinationRun, type Participant, unseen } from './council.js'
import type { RunFact } from './event.js'
import { type Judgement, judge, unknownTools } from './judge-response.js'
import { askedAgainText, errorMessage, problemText, retryText, stoppedText, toolName } from './messages.js'
import { bufferKept, TOOL_CALLS_KEPT_MAX, UNKNOWN_TOOLS_KEPT_MAX } from './reliability.js'

const VOTE_REASON_CHARS_MAX = 2000

/** What becomes of a response of an agent that is awaited. */
export function respond(run: CoordinationRun, agent: Participant, response: Responded): RunStep {
  const judged = judge(run, agent, response)
  switch (judged.kind) {
    case 'answer':
      return accepted(run, agent, judged)
    case 'vote':
      return voted(run, agent, judged)
    case 'stale_vote':
      return askedAgain(run, agent, { ...judged, handled: response.handled })
    case 'bad':
      return rejected(run, agent, { response, problem: judged.problem })
    default:
      return unreachable(judged)
  }
}

type Of<K extends Judgement['kind']> = Extract<Judgement, { readonly kind: K }>

function accepted(run: CoordinationRun, agent: Participant, answer: Of<'answer'>): RunStep {
  const label = `${agent.anonymousId}.${answerCountOf(run, agent.id) + 1}`
  const voided = [...run.agents.values()].filter((one) => one.vote !== null).map((one) => one.id)
  const { content, verdict } = answer
  return {
    facts: [{ type: 'answer_accepted', agent: agent.id, label, content, verdict, voided }],
    outcome: { kind: 'accepted', action: 'new_answer', label, ...attempted(run, agent) },
  }
}

function voted(run: CoordinationRun, agent: Participant, vote: Of<'vote' | 'stale_vote'>): RunStep {
  const label = run.newest.get(vote.votedFor)?.label ?? ''
  const reason = firstChars(vote.reason, VOTE_REASON_CHARS_MAX)
  return {
    facts: [{ type: 'vote_cast', agent: agent.id, votedFor: vote.votedFor, label, reason }],
    outcome: { kind: 'accepted', action: 'vote', label, ...attempted(run, agent) },
  }
}

/** Recorded as delivered at once, so that a vote can be asked for again at most once for each answer. */
function askedAgain(
  run: CoordinationRun,
  agent: Participant,
  vote: Of<'vote' | 'stale_vote'> & Pick<Responded, 'handled'>,
): RunStep {
  const { votedFor, handled } = vote
  const shown = unseen(run, agent).map((answer) => answer.label)
  const reason = firstChars(vote.reason, VOTE_REASON_CHARS_MAX)
  return {
    facts: [{ type: 'vote_asked_again', agent: agent.id, votedFor, reason, shown, handled }],
    outcome: { kind: 'asked_again', message: askedAgainText(shown), shown, ...attempted(run, agent) },
  }
}

function rejected(
  run: CoordinationRun,
  agent: Participant,
  bad: Pick<Of<'bad'>, 'problem'> & { readonly response: Responded },
): RunStep {
  const { problem, response } = bad
  const { round, attempt, maxAttempts } = attempted(run, agent)
  const { reason } = problem
  // Nothing was called, so there is nothing that a tool error could answer.
  const handled = reason === 'no_tool_calls' ? 'restart' : response.handled
  const message = retryText(attempt, maxAttempts, problemText(problem))
  const stopped = attempt >= maxAttempts ? stoppedText(maxAttempts) : null
  const fact: RunFact = {
    type: 'response_rejected',
    agent: agent.id,
    round,
    attempt,
    maxAttempts,
    reason,
    toolCalls: response.toolCalls.slice(0, TOOL_CALLS_KEPT_MAX).map((call) => toolName(call.name)),
    unknownTools: unknownTools(response).slice(0, UNKNOWN_TOOLS_KEPT_MAX).map(toolName),
    message,
    errorMessage: errorMessage(problem),
    ...bufferKept(response.buffer === '' ? response.text : response.buffer, response.bufferChars),
    handled,
  }
  return {
    facts: stopped === null ? [fact] : [fact, { type: 'agent_stopped', agent: agent.id, message: stopped }],
    outcome: { kind: 'rejected', reason, message, handled, stopped, round, attempt, maxAttempts },
  }
}

function attempted(run: CoordinationRun, agent: Participant): Attempted {
  return { round: agent.round, attempt: agent.attempts + 1, maxAttempts: run.options.maxAttempts }
}
