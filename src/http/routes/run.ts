import { buildTaskMetrics } from '../../app/reports/task-metrics.js'
import { ok } from '../../app/result.js'
import { buildActivity } from '../../app/tasks/activity.js'
import { buildInbox } from '../../app/tasks/inbox.js'
import { INBOX } from '../answers/insight-answers.js'
import { TASK_METRICS } from '../answers/report-answers.js'
import { ACTIVITY } from '../answers/task-answers.js'
import { type Route, requireParty } from '../route.js'

/** The cost of a run, and what waits for an operator. */
export const RUN_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/tasks/:id/metrics',
    id: 'getTaskMetrics',
    summary: 'What a task cost: time, tokens, commands, edits, refusals and commits by visit and by phase',
    answer: '`{task, agent_id, contract, at, visits, phases, totals, outside, events, truncated}`',
    response: TASK_METRICS,
    handle: async (call) => buildTaskMetrics(call.app, requireParty(call), call.params.id ?? ''),
  },
  {
    method: 'GET',
    path: '/activity',
    id: 'getActivity',
    summary: 'Open tasks and their progress',
    answer: '`{at, tasks, counts, paused, truncated}`',
    response: ACTIVITY,
    handle: async ({ app }) => ok(await buildActivity(app)),
  },
  {
    method: 'GET',
    path: '/inbox',
    id: 'getInbox',
    summary: 'What waits for an operator, oldest first',
    answer: '`{items, total, truncated}`',
    response: INBOX,
    handle: async ({ app }) => ok(await buildInbox(app)),
  },
]
