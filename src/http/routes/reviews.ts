import { REVIEW_SHAPE } from '../../app/reviews/review-shape.js'
import { showArtifact } from '../../app/reviews/review-snapshot.js'
import { addReviewer, listReviews, submitReview } from '../../app/reviews/reviews.js'
import { applyOperatorCommand } from '../../app/tasks/operate.js'
import { showHeldOut } from '../../app/test-runs/held-out.js'
import type { JsonObject } from '../../core/json.js'
import { REVIEWER_NAME } from '../../core/reviews/review.js'
import { ADDED_REVIEWER, ARTIFACT_CONTENT, HELD_OUT, REVIEW_LIST, SENT_REVIEW } from '../answers/review-answers.js'
import { TASK } from '../answers/task-answers.js'
import { FIELD, shape } from '../fields.js'
import { type Route, requireOperator, requireParty, requireTaskPrincipal, reviewBearerOf } from '../route.js'

const EXPIRES_SECONDS_MAX = 30 * 24 * 3600

const NAME: JsonObject = {
  type: 'string',
  pattern: REVIEWER_NAME,
  description: 'Letters, digits, `_`, `.`, `-`, a letter or digit first; at most 64.',
}

/** Reviewers of a task and their reports. */
export const REVIEW_ROUTES: readonly Route[] = [
  {
    method: 'POST',
    path: '/tasks/:id/reviewers',
    id: 'addReviewer',
    summary: 'Add a reviewer for this visit to the phase; an older token of the same name no longer works',
    success: 201,
    body: shape(
      {
        name: NAME,
        expires_seconds: {
          type: 'integer',
          minimum: 1,
          maximum: EXPIRES_SECONDS_MAX,
          description: 'Lifetime of the token; default: that of a phase token.',
        },
      },
      ['name'],
    ),
    answer: '`{reviewer, review_token, expires_at}`',
    response: ADDED_REVIEWER,
    handle: async (call) =>
      addReviewer(
        call.app,
        {
          taskId: call.params.id ?? '',
          name: call.body.name as string,
          expiresSeconds: call.body.expires_seconds as number | undefined,
        },
        { actor: requireOperator(call), once: call.once },
      ),
  },
  {
    method: 'POST',
    path: '/tasks/:id/reviewers/:name/revoke',
    id: 'revokeReviewer',
    summary: "Revoke a reviewer's token immediately; its report of this visit no longer counts",
    body: shape({ reason: FIELD.reason }, ['reason']),
    answer: 'The task',
    response: TASK,
    handle: async (call) =>
      applyOperatorCommand(
        call.app,
        call.params.id ?? '',
        {
          type: 'revoke_reviewer',
          reviewer: call.params.name ?? '',
          reason: call.app.redact(call.body.reason ?? '') as string,
        },
        { actor: requireOperator(call), once: call.once },
      ),
  },
  {
    method: 'GET',
    path: '/tasks/:id/reviews',
    id: 'listReviews',
    summary: 'Reviewers of a task and what they said; an agent sees those of its own task',
    answer: '`{task_id, phase, visit, required_reviews, reviews}`',
    response: REVIEW_LIST,
    handle: async (call) => listReviews(call.app, requireParty(call), call.params.id ?? ''),
  },
  {
    method: 'POST',
    path: '/tasks/:id/reviews',
    id: 'submitReview',
    summary: 'Send a report, which replaces the one before',
    success: 201,
    body: REVIEW_SHAPE,
    answer: '`{task_id, reviewer, status, finished, subject}`',
    response: SENT_REVIEW,
    handle: async (call) =>
      submitReview(call.app, reviewBearerOf(call), {
        taskId: call.params.id ?? '',
        report: call.body.report as JsonObject,
        seen: (call.body.subject as string | undefined) ?? null,
        once: call.once,
      }),
  },
  {
    method: 'GET',
    path: '/tasks/:id/artifacts/:type',
    id: 'getArtifact',
    summary: 'One artifact of a task, whole',
    answer:
      '`{task_id, type, phase, visit, grade, bytes, sha256, content}`; `grade` is `reported`, `artifact`, `observed` or `proved`',
    response: ARTIFACT_CONTENT,
    handle: async (call) => {
      const { app, params } = call
      const principal = requireTaskPrincipal(call)
      if (principal.kind === 'agent') throw new Error('an agent reached a route that is not for agents')
      return showArtifact(app, principal, { taskId: params.id ?? '', type: params.type ?? '' })
    },
  },
  {
    method: 'GET',
    path: '/tasks/:id/held-out',
    id: 'getHeldOut',
    summary: 'The held-out examples of a task, and how they last failed',
    answer: '`{task_id, sha256, count, failures, examples, last_failure}`',
    response: HELD_OUT,
    handle: async (call) => {
      const principal = requireTaskPrincipal(call)
      if (principal.kind === 'agent') throw new Error('an agent reached a route that is not for agents')
      return showHeldOut(call.app, principal, call.params.id ?? '')
    },
  },
]
