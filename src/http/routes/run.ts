import { metricsOfTask } from '../../app/metrics-of-task.js'
import { partyOf, type Route } from '../route.js'

/** What a run took. */
export const RUN_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/tasks/:id/metrics',
    id: 'getTaskMetrics',
    summary: 'What a task took: time, tokens, commands, edits, refusals and commits by visit and by phase',
    access: 'any',
    answer: '`{task, visits, phases, totals, outside, events, truncated}`',
    handle: async (call) => metricsOfTask(call.app, partyOf(call), call.params.id ?? ''),
  },
]
