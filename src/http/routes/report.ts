import { reportOfRun } from '../../app/reports/report.js'
import { REPORT } from '../answers/report-answers.js'
import { type Route, requireParty } from '../route.js'

/** Reports of runs. */
export const REPORT_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/runs/:id/report',
    id: 'getRunReport',
    summary:
      'Report on a task or a council: refusals by agent, reason, phase and round, time, tokens, gates, answers and votes',
    answer:
      '`{run, at, agents, refusals, buffer_chars_lost, events, truncated}`; a task has `phases`, `visits`, `totals`, `gates` and `evidence`, a coordination `result`, `answers`, `presentation`, `votes` and `timeline`',
    response: REPORT,
    handle: async (call) => reportOfRun(call.app, requireParty(call), call.params.id ?? ''),
  },
]
