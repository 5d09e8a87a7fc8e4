import { assertUnreachable } from '../unreachable.js'
import { takeFirstChars } from './code-points.js'
import type { AttemptPlace, ResponseCommand, RunStep } from './command.js'
import { answerCountOf, type CoordinationRun, listUnseen, type Participant } from './council.js'
import type { RunFact } from './event.js'
import { type Judgement, judge, listUnknownTools } from './judge-response.js'
import {
  formatAskedAgain,
  formatErrorMessage,
  formatProblem,
  formatRetry,
  formatStopped,
  formatToolName,
} from './messages.js'
import { cutBuffer, TOOL_CALLS_KEPT_MAX, UNKNOWN_TOOLS_KEPT_MAX } from './reliability.js'

const VOTE_REASON_CHARS_MAX = 2000

/** Handles a response of an agent whose turn it is. */
export function respond(run: CoordinationRun, agent: Participant, response: ResponseCommand): RunStep {
  const judged = judge(run, agent, response)
  switch (judged.kind) {
    case 'answer':
      return acceptAnswer(run, agent, judged)
    case 'vote':
      return acceptVote(run, agent, judged)
    case 'stale_vote':
      return askAgain(run, agent, { ...judged, handled: response.handled })
    case 'bad':
      return rejectResponse(run, agent, { response, problem: judged.problem })
    default:
      return assertUnreachable(judged)
  }
}

type JudgementOf<K extends Judgement['kind']> = Extract<Judgement, { readonly kind: K }>

function acceptAnswer(run: CoordinationRun, agent: Participant, answer: JudgementOf<'answer'>): RunStep {
  const label = `${agent.anonymousId}.${answerCountOf(run, agent.id) + 1}`
  const voided = [...run.agents.values()].filter((one) => one.vote !== null).map((one) => one.id)
  const { content, verdict } = answer
  return {
    facts: [{ type: 'answer_accepted', agent: agent.id, label, content, verdict, voided }],
    outcome: { kind: 'accepted', action: 'new_answer', label, ...countAttempt(run, agent) },
  }
}

function acceptVote(run: CoordinationRun, agent: Participant, vote: JudgementOf<'vote' | 'stale_vote'>): RunStep {
  const label = run.newest.get(vote.votedFor)?.label ?? ''
  const reason = takeFirstChars(vote.reason, VOTE_REASON_CHARS_MAX)
  return {
    facts: [{ type: 'vote_cast', agent: agent.id, votedFor: vote.votedFor, label, reason }],
    outcome: { kind: 'accepted', action: 'vote', label, ...countAttempt(run, agent) },
  }
}

/** Recorded as delivered at once, so that a vote is repeated at most once per answer. */
function askAgain(
  run: CoordinationRun,
  agent: Participant,
  vote: JudgementOf<'vote' | 'stale_vote'> & Pick<ResponseCommand, 'handled'>,
): RunStep {
  const { votedFor, handled } = vote
  const shown = listUnseen(run, agent).map((answer) => answer.label)
  const reason = takeFirstChars(vote.reason, VOTE_REASON_CHARS_MAX)
  return {
    facts: [{ type: 'vote_asked_again', agent: agent.id, votedFor, reason, shown, handled }],
    outcome: { kind: 'asked_again', message: formatAskedAgain(shown), shown, ...countAttempt(run, agent) },
  }
}

function rejectResponse(
  run: CoordinationRun,
  agent: Participant,
  bad: Pick<JudgementOf<'bad'>, 'problem'> & { readonly response: ResponseCommand },
): RunStep {
  const { problem, response } = bad
  const { round, attempt, maxAttempts } = countAttempt(run, agent)
  const { reason } = problem
  // Nothing was called, so no tool error can answer it.
  const handled = reason === 'no_tool_calls' ? 'restart' : response.handled
  const message = formatRetry(attempt, maxAttempts, formatProblem(problem))
  const stopped = attempt >= maxAttempts ? formatStopped(maxAttempts) : null
  const fact: RunFact = {
    type: 'response_rejected',
    agent: agent.id,
    round,
    attempt,
    maxAttempts,
    reason,
    toolCalls: response.toolCalls.slice(0, TOOL_CALLS_KEPT_MAX).map((call) => formatToolName(call.name)),
    unknownTools: listUnknownTools(response).slice(0, UNKNOWN_TOOLS_KEPT_MAX).map(formatToolName),
    message,
    errorMessage: formatErrorMessage(problem),
    ...cutBuffer(response.buffer === '' ? response.text : response.buffer, response.bufferChars),
    handled,
  }
  return {
    facts: stopped === null ? [fact] : [fact, { type: 'agent_stopped', agent: agent.id, message: stopped }],
    outcome: { kind: 'rejected', reason, message, handled, stopped, round, attempt, maxAttempts },
  }
}

function countAttempt(run: CoordinationRun, agent: Participant): AttemptPlace {
  return { round: agent.round, attempt: agent.attempts + 1, maxAttempts: run.options.maxAttempts }
}
