import type { Json } from '../json.js'
import { formatThousands } from '../text.js'
import type { ResponseCall, ResponseCommand } from './command.js'
import {
  answerCountOf,
  type CoordinationRun,
  listUnseen,
  listVotable,
  type Participant,
  type Verdict,
} from './council.js'
import { NOT_WORKFLOW, type Problem } from './messages.js'
import { findDuplicate, findTooSimilar } from './similarity.js'

/** The judgement of one response. It has at most one problem: that of the first bad call. */
export type Judgement =
  | { readonly kind: 'vote' | 'stale_vote'; readonly votedFor: string; readonly reason: string }
  | { readonly kind: 'answer'; readonly content: string; readonly verdict: Verdict | null }
  | { readonly kind: 'bad'; readonly problem: Problem }

export const ANSWER_CHARS_MAX = 100_000
const RESPONSE_CALLS_MAX = 1000

type Good = Exclude<Judgement, { kind: 'bad' }>
type Workflow = 'vote' | 'new_answer'

/**
 * Judges a response of an agent whose turn it is. A good call beside a bad one has no effect; of several good ones the
 * last counts.
 */
export function judge(run: CoordinationRun, agent: Participant, response: ResponseCommand): Judgement {
  const calls = response.toolCalls
  if (calls.length === 0) return makeBadJudgement({ reason: 'no_tool_calls' })
  const called = calls.slice(0, RESPONSE_CALLS_MAX).map((call) => call.name)
  if (calls.length > RESPONSE_CALLS_MAX) {
    const because = `more than ${formatThousands(RESPONSE_CALLS_MAX)} calls in one response`
    return makeBadJudgement({ reason: 'no_workflow_tool', called, because })
  }
  const known = new Set(response.knownTools)
  const isMixed = called.includes('vote') && called.includes('new_answer')
  let last: Good | null = null
  for (const call of calls) {
    const { name } = call
    if (name !== 'vote' && name !== 'new_answer') {
      if (!known.has(name)) return makeBadJudgement({ reason: 'unknown_tool', called: listUnknownTools(response) })
      continue
    }
    const judged: Judgement = isMixed
      ? makeBadJudgement({ reason: 'vote_and_answer' })
      : judgeCall(run, agent, { ...call, name })
    if (judged.kind === 'bad') return judged
    last = judged
  }
  return last ?? makeBadJudgement({ reason: 'no_workflow_tool', called, because: NOT_WORKFLOW })
}

/** Only calls of known tools that do not end the turn: they are run, and the agent continues without a decision. */
export function isOnlyToolCalls(calls: readonly ResponseCall[], knownTools: readonly string[]): boolean {
  const known = new Set(knownTools)
  return calls.length > 0 && calls.every(({ name }) => name !== 'vote' && name !== 'new_answer' && known.has(name))
}

/** Unknown tool names of a response, each once. */
export function listUnknownTools(response: ResponseCommand): readonly string[] {
  const known = new Set([...response.knownTools, 'vote', 'new_answer'])
  const names = response.toolCalls.slice(0, RESPONSE_CALLS_MAX).map((call) => call.name)
  return [...new Set(names)].filter((name) => !known.has(name))
}

/** A winner's presentation: its answer, or else its text. */
export function extractPresentation(text: string, calls: readonly ResponseCall[]): string {
  const last = calls.findLast(({ name }) => name === 'new_answer')
  const content = last === undefined ? undefined : getField(last.arguments, 'content')
  return typeof content === 'string' && content.trim() !== '' ? content : text
}

function makeBadJudgement(problem: Problem): Judgement {
  return { kind: 'bad', problem }
}

function judgeCall(
  run: CoordinationRun,
  agent: Participant,
  call: ResponseCall & { readonly name: Workflow },
): Judgement {
  return call.name === 'vote'
    ? judgeVote(run, agent, call.arguments)
    : (answerLimit(run, agent) ?? judgeAnswer(run, call.arguments))
}

function judgeVote(run: CoordinationRun, agent: Participant, args: Json): Judgement {
  if (run.answers.length === 0) return makeBadJudgement({ reason: 'vote_no_answers' })
  const agentId = formatScalar(getField(args, 'agent_id'))
  const valid = listVotable(run, agent)
  const votedFor = valid.includes(agentId) ? run.ids.get(agentId) : undefined
  if (votedFor === undefined) return makeBadJudgement({ reason: 'invalid_vote_id', agentId, valid })
  const kind = listUnseen(run, agent).length > 0 ? 'stale_vote' : 'vote'
  return { kind, votedFor, reason: formatScalar(getField(args, 'reason')) }
}

function answerLimit(run: CoordinationRun, agent: Participant): Judgement | null {
  const { maxNewAnswersPerAgent: own, maxNewAnswersGlobal: global } = run.options
  if (answerCountOf(run, agent.id) >= own) return makeBadJudgement({ reason: 'answer_limit', limit: own })
  if (global !== null && run.answers.length >= global)
    return makeBadJudgement({ reason: 'answer_limit', limit: global })
  return null
}

function judgeAnswer(run: CoordinationRun, args: Json): Judgement {
  const given = getField(args, 'content')
  // Lone surrogates cannot be stored unchanged, and would make a copy look like another answer.
  const content = typeof given === 'string' ? given.toWellFormed() : ''
  const verdict = getField(args, 'verdict')
  if (content.trim() === '') return judgeUnusable('without content')
  if (content.length > ANSWER_CHARS_MAX)
    return judgeUnusable(`content longer than ${formatThousands(ANSWER_CHARS_MAX)} characters`)
  if (run.isConsensus && !isVerdict(verdict)) return judgeUnusable('verdict must be approve or request_changes')
  const same = findDuplicate(run, content)
  if (same !== null) return makeBadJudgement({ reason: 'answer_duplicate', label: same.label })
  const likeness = findTooSimilar(run, content)
  if (likeness !== null) return makeBadJudgement({ reason: 'answer_novelty', ...likeness })
  return { kind: 'answer', content, verdict: run.isConsensus && isVerdict(verdict) ? verdict : null }
}

/** A call without the tool's required arguments is not a workflow call. */
function judgeUnusable(because: string): Judgement {
  return makeBadJudgement({ reason: 'no_workflow_tool', called: ['new_answer'], because })
}

function isVerdict(value: Json | undefined): value is Verdict {
  return value === 'approve' || value === 'request_changes'
}

function getField(args: Json, name: string): Json | undefined {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return undefined
  return Object.hasOwn(args, name) ? (args as { readonly [key: string]: Json })[name] : undefined
}

function formatScalar(value: Json | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}
