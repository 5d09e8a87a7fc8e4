import { buildInsights } from '../../app/insights/insights.js'
import { INSIGHTS } from '../answers/insight-answers.js'
import { FIELD } from '../fields.js'
import { parseTime } from '../query.js'
import type { Route } from '../route.js'

/** What past runs show. */
export const INSIGHT_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/insights',
    id: 'getInsights',
    summary: 'What past runs show: gates passed at first try, refusals, time and tokens by phase, waiting',
    query: {
      since: FIELD.time,
      until: FIELD.time,
      contract: { type: 'string', minLength: 1, maxLength: 200, description: 'Hash or name; default: all.' },
    },
    answer: '`{since, until, contract, tasks, first_try, refusals, phases, stuck, approvals, per_day, truncated}`',
    response: INSIGHTS,
    handle: async ({ app, query }) =>
      buildInsights(app, {
        since: parseTime(query.since),
        until: parseTime(query.until),
        contract: query.contract,
      }),
  },
]
