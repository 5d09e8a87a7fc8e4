import { readRunStatus } from '../../app/status/status-answer.js'
import { RUN_STATUS } from '../answers/run-answers.js'
import { FIELD } from '../fields.js'
import { type Route, requireParty } from '../route.js'

/** How runs stand. */
export const STATUS_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/status',
    id: 'getStatus',
    summary: 'The `status.json` of a run: a task that was claimed, or a council',
    query: { run: { ...FIELD.id, description: 'Id of the run; default: the newest. Agents: their own task only.' } },
    answer:
      '`{finish_reason, finish_reason_details, is_complete, meta, coordination, agents, results}`; each agent with its `reliability`',
    response: RUN_STATUS,
    handle: async (call) => readRunStatus(call.app, requireParty(call), call.query.run),
  },
]
