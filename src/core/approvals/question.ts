import type { Contract } from '../contract/contract.js'
import type { Command } from '../task/command.js'
import type { TaskFact } from '../task/event.js'
import { type Decision, makeDecision, numberRefusal, refuseUnrecorded, refuseWithinBudget } from '../task/refusal.js'
import type { Question, TaskState } from '../task/state.js'

export const QUESTION_CHARS_MAX = 4000
export const ANSWER_CHARS_MAX = 4000
export const OPTIONS_MAX = 10
const OPTION_CHARS_MAX = 200
const OPEN_QUESTIONS_MAX = 5

type Ask = Command & { type: 'ask_question' }
type Answer = Command & { type: 'answer_question' }

/** The question of this visit with exactly this text, open or answered; undefined if there is none. */
export function findAskedQuestion(
  state: TaskState,
  asked: { readonly question: string; readonly options: readonly string[] },
): Question | undefined {
  return [...state.questions.values()].find(
    (question) =>
      question.visit === state.visit &&
      question.status !== 'withdrawn' &&
      question.question === asked.question &&
      question.options.length === asked.options.length &&
      question.options.every((option, index) => option === asked.options[index]),
  )
}

export function openQuestions(state: TaskState): readonly Question[] {
  return [...state.questions.values()].filter((question) => question.status === 'open')
}

/** Opens a question. Asking it again in the same visit records nothing. */
export function askQuestion(contract: Contract, state: TaskState, command: Ask): Decision {
  const agentId = state.held?.agentId ?? ''
  const refuse = (code: 'invalid_request' | 'conflict', detail: string): Decision =>
    refuseWithinBudget(contract, state, {
      type: 'question_refused',
      questionId: null,
      by: agentId,
      ...numberRefusal(contract, state, { code, detail }),
    })
  const problem = findProblem(command)
  if (problem !== null) return refuse('invalid_request', `ask_user_question: ${problem}`)
  if (findAskedQuestion(state, command) !== undefined) return makeDecision([])
  const open = openQuestions(state)
  if (open.length >= OPEN_QUESTIONS_MAX)
    return refuse(
      'conflict',
      `${open.length} questions of this task are open, the most that are allowed (${open.map((one) => one.id).join(', ')}); wait for an answer`,
    )
  const { question, options } = command
  return makeDecision([
    { type: 'question_asked', questionId: `qst-${state.version}-${state.id}`, agentId, question, options },
  ])
}

function findProblem({ question, options }: Ask): string | null {
  if (question.trim() === '') return 'argument "question" is empty'
  if (isLonger(question, QUESTION_CHARS_MAX))
    return `argument "question" is longer than ${QUESTION_CHARS_MAX} characters`
  if (options.length > OPTIONS_MAX) return `argument "options" has more than ${OPTIONS_MAX} entries`
  if (options.some((option) => option.trim() === '')) return 'argument "options" has an empty entry'
  if (options.some((option) => isLonger(option, OPTION_CHARS_MAX)))
    return `argument "options" has an entry longer than ${OPTION_CHARS_MAX} characters`
  if (new Set(options).size < options.length) return 'argument "options" has the same entry twice'
  return null
}

// Counted in characters, not bytes; a text that is far too long is refused unread.
function isLonger(text: string, charsMax: number): boolean {
  return text.length > charsMax && (text.length > 2 * charsMax || [...text].length > charsMax)
}

/** Takes an operator's answer, which is final. Agents never answer questions. */
export function answerQuestion(contract: Contract, state: TaskState, command: Answer): Decision {
  const question = state.questions.get(command.questionId)
  if (question === undefined)
    return refuseUnrecorded('not_found', `There is no question ${JSON.stringify(command.questionId)}.`)
  if (command.by.kind === 'agent')
    return refuseWithinBudget(contract, state, {
      type: 'question_refused',
      questionId: question.id,
      by: command.by.name,
      ...numberRefusal(contract, state, {
        code: 'not_permitted',
        detail: `Agent ${command.by.name} may not answer a question; operators do`,
      }),
    })
  if (question.status !== 'open')
    return refuseUnrecorded('conflict', `Question ${question.id} was ${question.status} already; an answer is final.`)
  const { answer } = command
  if (answer.trim() === '') return refuseUnrecorded('invalid_request', 'answer: is empty.')
  if (isLonger(answer, ANSWER_CHARS_MAX))
    return refuseUnrecorded('invalid_request', `answer: is longer than ${ANSWER_CHARS_MAX} characters.`)
  if (question.options.length > 0 && !command.other && !question.options.includes(answer))
    return refuseUnrecorded(
      'invalid_request',
      `answer: is not one of the options (${question.options.map((option) => JSON.stringify(option)).join(', ')}); send "other": true with an answer of your own.`,
    )
  return makeDecision([{ type: 'question_answered', questionId: question.id, answer, by: command.by.name }])
}

/** A question lasts as long as its visit: the end of the visit withdraws open ones. */
export function withdrawQuestions(state: TaskState, decision: Decision): Decision {
  if (state.questions.size === 0 || decision.kind === 'unrecorded') return decision
  const at = decision.facts.findIndex((fact) => endOf(fact) !== null)
  const end = decision.facts[at]
  const reason = end === undefined ? null : endOf(end)
  if (reason === null) return decision
  const withdrawn: TaskFact[] = openQuestions(state).map((question) => ({
    type: 'question_withdrawn',
    questionId: question.id,
    reason,
  }))
  return { ...decision, facts: [...decision.facts.slice(0, at), ...withdrawn, ...decision.facts.slice(at)] }
}

function endOf(fact: TaskFact): string | null {
  switch (fact.type) {
    case 'phase_entered':
      return `the task left ${fact.from ?? 'the phase'}`
    case 'task_completed':
      return 'the task is completed'
    case 'task_cancelled':
      return 'the task was cancelled'
    case 'task_rewound':
      return `the task was taken back to ${fact.to}`
    default:
      return null
  }
}
