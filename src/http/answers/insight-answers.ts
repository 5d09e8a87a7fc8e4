import {
  allowNull,
  COUNT,
  chooseWord,
  FLAG,
  makeList,
  makeObject,
  NUMBER,
  nameObject,
  TEXT,
  TIME,
} from './schema-parts.js'

const COUNTED = makeList(nameObject('CountedTasks', { key: TEXT, count: COUNT, task_ids: makeList(TEXT) }))

export const INSIGHTS = nameObject('Insights', {
  since: TIME,
  until: TIME,
  contract: allowNull(TEXT),
  tasks: makeObject({ total: COUNT, completed: COUNT, cancelled: COUNT, parked: COUNT, open: COUNT }),
  first_try: makeList(
    nameObject('FirstTry', {
      phase: TEXT,
      gate: allowNull(TEXT),
      attempts: COUNT,
      passed_first: COUNT,
      task_ids: makeList(TEXT),
    }),
  ),
  refusals: makeObject({
    total: COUNT,
    by_code: COUNTED,
    by_phase: COUNTED,
    by_agent: COUNTED,
    matrix: makeList(makeObject({ phase: TEXT, code: TEXT, count: COUNT })),
  }),
  phases: makeList(
    nameObject('PhaseInsight', {
      phase: TEXT,
      visits: COUNT,
      seconds: makeObject({ p10: NUMBER, p25: NUMBER, median: NUMBER, p75: NUMBER, p90: NUMBER, max: NUMBER }),
      tokens: makeObject({ median: NUMBER, p90: NUMBER, total: NUMBER }),
      task_ids: makeList(TEXT),
    }),
  ),
  stuck: makeList(nameObject('StuckTasks', { phase: TEXT, reason: TEXT, count: COUNT, task_ids: makeList(TEXT) })),
  approvals: makeObject({
    count: COUNT,
    waiting: makeObject({ median: NUMBER, p90: NUMBER, max: NUMBER }),
    histogram: makeList(makeObject({ up_to_seconds: allowNull(COUNT), count: COUNT, approval_ids: makeList(TEXT) })),
  }),
  per_day: makeList(makeObject({ day: TEXT, completed: COUNT, refusals: COUNT })),
  truncated: FLAG,
})

export const INBOX = nameObject('Inbox', {
  items: makeList(
    nameObject('InboxItem', {
      kind: chooseWord('approval', 'question', 'parked', 'unexplained', 'tree_missing', 'alert', 'contract'),
      id: TEXT,
      task_id: allowNull(TEXT),
      task_title: allowNull(TEXT),
      agent_id: allowNull(TEXT),
      phase: allowNull(TEXT),
      since: TIME,
      title: TEXT,
      detail: TEXT,
      actions: makeList(TEXT),
    }),
  ),
  total: COUNT,
  truncated: FLAG,
})
