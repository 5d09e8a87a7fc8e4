import { listQuestions } from '../../app/approvals/list-questions.js'
import { answerQuestion, showQuestion } from '../../app/approvals/questions.js'
import { ANSWER_CHARS_MAX } from '../../core/approvals/question.js'
import type { Question } from '../../core/task/state.js'
import { QUESTION } from '../answers/approval-answers.js'
import { makePage } from '../answers/schema-parts.js'
import { FIELD, shape } from '../fields.js'
import { parseLimit } from '../query.js'
import { type Route, requireParty } from '../route.js'

/** Questions of agents to the operators, and the answers. */
export const QUESTION_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/questions',
    id: 'listQuestions',
    summary: 'Questions of agents to the operators; an agent sees those of its own task',
    query: {
      status: { enum: ['open', 'answered', 'withdrawn'], description: 'Only these; default: all.' },
      task_id: FIELD.id,
      limit: FIELD.limit,
      cursor: FIELD.cursor,
    },
    answer: '`{questions, next_cursor}`',
    response: makePage('questions', QUESTION),
    handle: async (call) =>
      listQuestions(call.app, requireParty(call), {
        status: call.query.status as Question['status'] | undefined,
        taskId: call.query.task_id,
        limit: parseLimit(call.query, 100),
        cursor: call.query.cursor,
      }),
  },
  {
    method: 'GET',
    path: '/questions/:id',
    id: 'getQuestion',
    summary: 'One question; agents see those of their own task',
    answer: 'The question',
    response: QUESTION,
    handle: async (call) => showQuestion(call.app, requireParty(call), call.params.id ?? ''),
  },
  {
    method: 'POST',
    path: '/questions/:id/answer',
    id: 'answerQuestion',
    summary: 'Answer a question; answers are final',
    body: shape(
      {
        answer: {
          type: 'string',
          minLength: 1,
          maxLength: ANSWER_CHARS_MAX,
          description: 'One of the options, if any.',
        },
        other: { type: 'boolean', description: 'Whether the answer is a text instead of one of the options.' },
        phase_token: FIELD.token,
      },
      ['answer'],
    ),
    answer: 'The question',
    response: QUESTION,
    handle: async (call) =>
      answerQuestion(call.app, requireParty(call), {
        id: call.params.id ?? '',
        answer: call.body.answer as string,
        other: call.body.other === true,
        once: call.once,
      }),
  },
]
