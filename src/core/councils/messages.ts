import { counted, oneLine, thousands } from '../text.js'
import { unreachable } from '../unreachable.js'
import { WORKFLOW_ERRORS } from './reason.js'

/** What is wrong with a response, with everything that its message names. */
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

// What agents choose and messages repeat: names longer than this say nothing more.
const NAME_CHARS_MAX = 128
const NAMES_SHOWN_MAX = 5

/** What was wrong and what is required instead, without the count of attempts. */
export function problemText(problem: Problem): string {
  switch (problem.reason) {
    case 'no_workflow_tool':
      return `Called ${names(problem.called)} (${problem.because}). Required: vote or new_answer`
    case 'unknown_tool':
      return `Called ${names(problem.called)} (${NOT_WORKFLOW}). Required: vote or new_answer`
    case 'no_tool_calls':
      return 'No tool called. Required: vote or new_answer'
    case 'invalid_vote_id': {
      const valid = problem.valid.length === 0 ? 'none' : problem.valid.join(', ')
      return `Invalid agent_id '${oneLine(problem.agentId, NAME_CHARS_MAX)}'. Valid agents: ${valid}`
    }
    case 'vote_no_answers':
      return 'Cannot vote when no answers exist. Required: new_answer'
    case 'vote_and_answer':
      return 'Called vote and new_answer in one response. Required: exactly one of them'
    case 'answer_limit':
      return `Answer limit reached (${problem.limit}). Required: vote`
    case 'answer_novelty':
      return `Answer too similar to ${problem.label} (${percent(problem)}% > ${problem.limitPercent}%). Required: a different answer, or vote`
    case 'answer_duplicate':
      return `Answer identical to ${problem.label}. Required: a different answer, or vote`
    default:
      return unreachable(problem)
  }
}

/** What the record of the attempt says: the text for what was wrong with a vote or an answer, nothing otherwise. */
export function errorMessage(problem: Problem): string | null {
  return WORKFLOW_ERRORS.has(problem.reason) ? problemText(problem) : null
}

/** What users and agents see: `Retry (1/3): …` */
export function retryText(attempt: number, max: number, text: string): string {
  return `Retry (${attempt}/${max}): ${text}`
}

export function stoppedText(attempts: number): string {
  return `Agent failed to use workflow tools after ${counted(attempts, 'attempt')}`
}

export function timedOutText(seconds: number): string {
  return `Agent did not finish its round within ${counted(seconds, 'second')}`
}

/** The answer to a vote that was cast without sight of the newest answers. */
export function askedAgainText(labels: readonly string[]): string {
  return `The vote was not counted: ${labels.join(', ')} came in the meantime. Read the newest answers, then vote again or give a new answer.`
}

/** The agent wrote it: one line, bounded, nothing that a terminal obeys. */
export function toolName(name: string): string {
  return oneLine(name, NAME_CHARS_MAX)
}

function names(called: readonly string[]): string {
  const distinct = [...new Set(called.map(toolName))]
  const more = distinct.length - NAMES_SHOWN_MAX
  const shown = distinct.slice(0, NAMES_SHOWN_MAX).join(', ')
  return more > 0 ? `${shown} and ${thousands(more)} more` : shown
}

/** Rounded, unless that would hide that the limit was passed. */
function percent(problem: { readonly similarity: number; readonly limitPercent: number }): number {
  const rounded = Math.round(problem.similarity * 100)
  return rounded > problem.limitPercent ? rounded : Math.ceil(problem.similarity * 1000) / 10
}
