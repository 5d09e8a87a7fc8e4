import type { TaskEvent } from '../task/event.js'
import type { Question, TaskState } from '../task/state.js'
import { assertUnreachable } from '../unreachable.js'

// The ledger keeps older questions; the state keeps the open ones and the newest of the rest.
const QUESTIONS_KEPT_MAX = 50

export function applyQuestionEvent(
  state: TaskState,
  event: TaskEvent & { type: 'question_asked' | 'question_answered' | 'question_withdrawn' },
): TaskState {
  switch (event.type) {
    case 'question_asked':
      return applyQuestionAsked(state, event)
    case 'question_answered':
      return updateQuestion(state, event.questionId, {
        status: 'answered',
        answer: { text: event.answer, by: event.by, at: event.at },
      })
    case 'question_withdrawn':
      return updateQuestion(state, event.questionId, { status: 'withdrawn' })
    default:
      return assertUnreachable(event)
  }
}

function applyQuestionAsked(state: TaskState, event: TaskEvent & { type: 'question_asked' }): TaskState {
  const questions = new Map(state.questions)
  if (questions.size >= QUESTIONS_KEPT_MAX) {
    const oldest = [...questions.values()].find((one) => one.status !== 'open')
    if (oldest !== undefined) questions.delete(oldest.id)
  }
  const question: Question = {
    id: event.questionId,
    agentId: event.agentId,
    phase: event.phase,
    visit: state.visit,
    question: event.question,
    options: event.options,
    askedAt: event.at,
    status: 'open',
    answer: null,
  }
  return { ...state, questions: questions.set(question.id, question) }
}

function updateQuestion(state: TaskState, id: string, change: Partial<Question>): TaskState {
  const question = state.questions.get(id)
  if (question === undefined) return state
  return { ...state, questions: new Map(state.questions).set(id, { ...question, ...change }) }
}
