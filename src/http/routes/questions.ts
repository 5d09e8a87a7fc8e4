import { listQuestions } from '../../app/list-questions.js'
import { answerQuestion, showQuestion } from '../../app/questions.js'
import { ANSWER_CHARS_MAX } from '../../core/question.js'
import type { Question } from '../../core/state.js'
import { FIELD, shape } from '../fields.js'
import { limitOf } from '../query.js'
import type { Route } from '../route.js'

/** What agents asked the operators, and the answers. */
export const QUESTION_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/questions',
    id: 'listQuestions',
    summary: 'Questions of agents to the operators; an agent sees those of its own task',
    access: 'any',
    query: {
      status: { enum: ['open', 'answered', 'withdrawn'], description: 'Only these; default: all.' },
      task_id: FIELD.id,
      limit: FIELD.limit,
      cursor: FIELD.cursor,
    },
    answer: '`{questions, next_cursor}`',
    handle: async ({ app, principal, query }) =>
      listQuestions(app, principal, {
        status: query.status as Question['status'] | undefined,
        taskId: query.task_id,
        limit: limitOf(query, 100),
        cursor: query.cursor,
      }),
  },
  {
    method: 'GET',
    path: '/questions/:id',
    id: 'getQuestion',
    summary: 'One question; agents see those of their own task',
    access: 'any',
    answer: 'The question',
    handle: async ({ app, principal, params }) => showQuestion(app, principal, params.id ?? ''),
  },
  {
    method: 'POST',
    path: '/questions/:id/answer',
    id: 'answerQuestion',
    summary: 'Answer a question, once and for all',
    access: 'any',
    body: shape(
      {
        answer: {
          type: 'string',
          minLength: 1,
          maxLength: ANSWER_CHARS_MAX,
          description: 'One of the options, if any.',
        },
        other: { type: 'boolean', description: 'The answer is none of the options.' },
        phase_token: FIELD.token,
      },
      ['answer'],
    ),
    answer: 'The question',
    handle: async ({ app, principal, params, body, once }) =>
      answerQuestion(app, principal, {
        id: params.id ?? '',
        answer: body.answer as string,
        other: body.other === true,
        once,
      }),
  },
]
