import { showTaskDiff } from '../../app/diffs/task-diff.js'
import { showStateAt } from '../../app/past/state-at.js'
import { TASK_DIFF } from '../answers/diff-answers.js'
import { TASK_STATE } from '../answers/past-answers.js'
import { NUMBER_MAX } from '../fields.js'
import type { Route } from '../route.js'

const VISIT = '[1-9][0-9]{0,5}'

/** What operators see of a task's work: its changes, and its state at an event. */
export const TASK_LOOK_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/tasks/:id/diff',
    id: 'getTaskDiff',
    summary: 'What changed in the work tree of a task, with the changed lines',
    query: {
      from: {
        type: 'string',
        pattern: `^(?:start|phase|${VISIT})$`,
        description: '`start` (of the task), `phase` (the current visit) or the number of a visit; default `start`.',
      },
      to: {
        type: 'string',
        pattern: `^(?:now|${VISIT})$`,
        description: '`now`, or the number of a visit whose end is meant; default `now`.',
      },
      path: { type: 'string', minLength: 1, maxLength: 4096, description: 'Only this file, up to 4 MiB of it.' },
    },
    answer:
      '`{task_id, from, to, files: [{path, status, binary, additions, deletions, unexplained, pinned, hunks, omitted}], totals, truncated, available, unavailable_reason}`',
    response: TASK_DIFF,
    handle: async ({ app, params, query }) =>
      showTaskDiff(app, params.id ?? '', {
        from: query.from ?? 'start',
        to: query.to ?? 'now',
        path: query.path ?? null,
      }),
  },
  {
    method: 'GET',
    path: '/tasks/:id/state',
    id: 'getTaskState',
    summary: 'A task as it was at an event of the ledger',
    query: {
      at: { type: 'integer', minimum: 1, maximum: NUMBER_MAX, description: '`seq` of an event; default: the newest.' },
    },
    answer: '`{task_id, at, last_seq, task, phases, artifacts, gates, approvals, changed_paths}`',
    response: TASK_STATE,
    handle: async ({ app, params, query }) =>
      showStateAt(app, params.id ?? '', query.at === undefined ? null : Number(query.at)),
  },
]
