import { buildTaskMetrics } from '../../app/reports/task-metrics.js'
import { ok } from '../../app/result.js'
import { listStashes } from '../../app/stash/list-stashes.js'
import { dropStash, popStash } from '../../app/stash/pop-stash.js'
import { saveStash } from '../../app/stash/save-stash.js'
import { buildActivity } from '../../app/tasks/activity.js'
import { buildInbox } from '../../app/tasks/inbox.js'
import { INBOX } from '../answers/insight-answers.js'
import { TASK_METRICS } from '../answers/report-answers.js'
import { makeList, makeObject } from '../answers/schema-parts.js'
import { ACTIVITY, RESTORED_TASK, SAVED_STASH, STASH } from '../answers/task-answers.js'

import { FIELD, shape } from '../fields.js'
import { type Route, requireOperator, requireParty } from '../route.js'

/** The cost of a run, and stashes. */
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
  {
    method: 'POST',
    path: '/tasks/:id/stash',
    id: 'stashTask',
    summary: 'Stash a task: save its changes and restore the work tree as it was when work began',
    success: 201,
    body: shape({ name: { ...FIELD.title, maxLength: 100 }, reason: FIELD.reason }, ['reason']),
    answer: 'The stash',
    response: SAVED_STASH,
    handle: async (call) =>
      saveStash(call.app, {
        taskId: call.params.id ?? '',
        name: call.body.name === undefined ? null : (call.app.redact(call.body.name) as string),
        reason: call.app.redact(call.body.reason ?? '') as string,
        actor: requireOperator(call),
        once: call.once,
      }),
  },
  {
    method: 'GET',
    path: '/stashes',
    id: 'listStashes',
    summary: 'List stashes, newest first',
    answer: '`{stashes}`',
    response: makeObject({ stashes: makeList(STASH) }),
    handle: async ({ app }) => ok(await listStashes(app)),
  },
  stashRoute('pop', 'Restore a stash and resume its task', popStash),
  stashRoute('drop', 'Delete a stash permanently', dropStash),
]

function stashRoute(name: 'pop' | 'drop', summary: string, work: typeof popStash): Route {
  return {
    method: 'POST',
    path: `/stashes/:id/${name}`,
    id: `${name}Stash`,
    summary,
    body: shape({ reason: FIELD.reason }),
    answer:
      name === 'pop' ? 'The task, `restored` (the first of the paths) and `restored_count`' : 'The stash as it was',
    response: name === 'pop' ? RESTORED_TASK : STASH,
    handle: async (call) =>
      work(call.app, {
        id: call.params.id ?? '',
        reason: call.app.redact(call.body.reason ?? `the operator asked to ${name} it`) as string,
        actor: requireOperator(call),
        once: call.once,
      }),
  }
}
