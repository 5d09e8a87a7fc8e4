import { reportOfRun } from '../../app/reports/report.js'
import { showTaskContent } from '../../app/tasks/task-content.js'
import { REPORT } from '../answers/report-answers.js'
import { TASK_CONTENT } from '../answers/review-answers.js'
import { type Route, requireParty } from '../route.js'

/** Reports of runs, and what the ledger kept of a task. */
export const REPORT_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/runs/:id/report',
    id: 'getRunReport',
    summary:
      'Report on a task or a council: refusals by agent, reason, phase and round, time, tokens, gates, answers and votes',
    answer:
      '`{run, at, agents, refusals, buffer_chars_lost, events, truncated}`; a task has `phases`, `visits`, `totals`, `gates`, `evidence`, `approvals`, `commits` and `interventions`, a coordination `result`, `answers`, `presentation`, `votes` and `timeline`',
    response: REPORT,
    handle: async (call) => reportOfRun(call.app, requireParty(call), call.params.id ?? ''),
  },
  {
    method: 'GET',
    path: '/tasks/:id/contents/:hash',
    id: 'getTaskContent',
    summary: 'The content that an event of the task names by its hash: an artifact, a run, evidence or a review',
    answer: '`{task_id, sha256, kind, name, seq, at, phase, content}`',
    response: TASK_CONTENT,
    handle: async ({ app, params }) => showTaskContent(app, params.id ?? '', params.hash ?? ''),
  },
]
