import { formatCount, formatThousands, toOneLine } from '../text.js'
import { assertUnreachable } from '../unreachable.js'
import { WORKFLOW_ERRORS } from './reason.js'

/** The problem of a response, with everything its message names. */
export type Problem =
  | { readonly reason: 'no_workflow_tool'; readonly called: readonly string[]; readonly because: string }
  | { readonly reason: 'unknown_tool'; readonly called: readonly string[] }
  | { readonly reason: 'no_tool_calls' }
  | { readonly reason: 'invalid_vote_id'; readonly agentId: string; readonly valid: readonly string[] }
  | { readonly reason: 'vote_no_answers' }
  | { readonly reason: 'vote_and_answer' }
  | { readonly reason: 'answer_limit'; readonly limit: number }
  | { readonly reason: 'answer_duplicate'; readonly label: string }
  | {
      readonly reason: 'answer_novelty'
      readonly label: string
      readonly similarity: number
      readonly limitPercent: number
    }

export const NOT_WORKFLOW = 'not workflow'
export const NO_ANSWERS_IN_TIME = 'No answers available from any agents due to timeout'
export const TIE_BROKEN = 'tie-broken by registration order'

// Maximum length of names chosen by agents in messages.
const NAME_CHARS_MAX = 128
const NAMES_SHOWN_MAX = 5

/** What was wrong and what is required instead, without the attempt count. */
export function formatProblem(problem: Problem): string {
  switch (problem.reason) {
    case 'no_workflow_tool':
      return `Called ${formatNames(problem.called)} (${problem.because}). Required: vote or new_answer`
    case 'unknown_tool':
      return `Called ${formatNames(problem.called)} (${NOT_WORKFLOW}). Required: vote or new_answer`
    case 'no_tool_calls':
      return 'No tool called. Required: vote or new_answer'
    case 'invalid_vote_id': {
      const valid = problem.valid.length === 0 ? 'none' : problem.valid.join(', ')
      return `Invalid agent_id '${toOneLine(problem.agentId, NAME_CHARS_MAX)}'. Valid agents: ${valid}`
    }
    case 'vote_no_answers':
      return 'Cannot vote when no answers exist. Required: new_answer'
    case 'vote_and_answer':
      return 'Called vote and new_answer in one response. Required: exactly one of them'
    case 'answer_limit':
      return `Answer limit reached (${problem.limit}). Required: vote`
    case 'answer_novelty':
      return `Answer too similar to ${problem.label} (${computePercent(problem)}% > ${problem.limitPercent}%). Required: a different answer, or vote`
    case 'answer_duplicate':
      return `Answer identical to ${problem.label}. Required: a different answer, or vote`
    default:
      return assertUnreachable(problem)
  }
}

/** The recorded text of the attempt: the problem of a vote or an answer, otherwise empty. */
export function formatErrorMessage(problem: Problem): string | null {
  return WORKFLOW_ERRORS.has(problem.reason) ? formatProblem(problem) : null
}

/** Shown to users and agents: `Retry (1/3): …` */
export function formatRetry(attempt: number, max: number, text: string): string {
  return `Retry (${attempt}/${max}): ${text}`
}

export function formatStopped(attempts: number): string {
  return `Agent failed to use workflow tools after ${formatCount(attempts, 'attempt')}`
}

export function formatTimedOut(seconds: number): string {
  return `Agent did not finish its round within ${formatCount(seconds, 'second')}`
}

/** The answer to a vote cast without seeing the newest answers. */
export function formatAskedAgain(labels: readonly string[]): string {
  return `The vote was not counted: ${labels.join(', ')} came in the meantime. Read the newest answers, then vote again or give a new answer.`
}

/** Written by the agent: kept on one line, bounded, without control sequences. */
export function formatToolName(name: string): string {
  return toOneLine(name, NAME_CHARS_MAX)
}

function formatNames(called: readonly string[]): string {
  const distinct = [...new Set(called.map(formatToolName))]
  const more = distinct.length - NAMES_SHOWN_MAX
  const shown = distinct.slice(0, NAMES_SHOWN_MAX).join(', ')
  return more > 0 ? `${shown} and ${formatThousands(more)} more` : shown
}

/** Rounded, unless that would hide that the limit was exceeded. */
function computePercent(problem: { readonly similarity: number; readonly limitPercent: number }): number {
  const rounded = Math.round(problem.similarity * 100)
  return rounded > problem.limitPercent ? rounded : Math.ceil(problem.similarity * 1000) / 10
}
