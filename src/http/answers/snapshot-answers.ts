import { ARTIFACT_FIELDS } from './approval-answers.js'
import { HELD_OUT_FIELDS, REVIEW_REPORT } from './review-answers.js'
import {
  ANYTHING,
  allowNull,
  COUNT,
  chooseOne,
  type Fields,
  FLAG,
  makeList,
  makeMap,
  makeObject,
  NULL,
  nameObject,
  SHA256,
  TEXT,
  TIME,
} from './schema-parts.js'
import {
  BLOCKER,
  CONTRACT_REF,
  PENDING_APPROVAL,
  REVIEW_STATUS,
  TASK_ALERT,
  TASK_FIELDS,
  TASK_ROW,
  TASK_STATUS,
} from './task-answers.js'

const SNAPSHOT_FIELDS: Fields = {
  task: allowNull(nameObject('SnapshotTask', { ...TASK_FIELDS, checking: FLAG })),
  current_phase: allowNull(TEXT),
  task_dependencies: makeList(makeObject({ id: TEXT, status: TEXT })),
  completed_tasks: makeList(makeObject({ id: TEXT, title: TEXT, completed_at: TIME })),
  blockers: makeList(BLOCKER),
  phases: makeList(makeObject({ id: TEXT, name: TEXT })),
  agents: makeList(
    makeObject({
      agent_id: allowNull(TEXT),
      task_id: TEXT,
      phase: TEXT,
      checking: FLAG,
      binding: allowNull(TEXT),
      since: TIME,
      'waiting_for_reviewers?': makeList(TEXT),
      'refused_in_a_row?': COUNT,
    }),
  ),
  events: makeList(makeObject({ seq: COUNT, type: TEXT, at: TIME, phase: allowNull(TEXT), code: allowNull(TEXT) })),
  next_step: TEXT,
  counts: makeObject({ by_status: makeMap(COUNT), active_by_phase: makeMap(COUNT) }),
  truncated: FLAG,
}
const REVIEWER_SNAPSHOT = nameObject('ReviewerSnapshot', {
  task: makeObject({
    id: TEXT,
    title: TEXT,
    description: TEXT,
    status: TASK_STATUS,
    phase: TEXT,
    visit: COUNT,
    agent_id: allowNull(TEXT),
    contract: CONTRACT_REF,
    completed_phases: makeList(TEXT),
  }),
  current_phase: makeObject({ id: TEXT, name: TEXT, description: TEXT }),
  reviewer: TEXT,
  expires_at: allowNull(TIME),
  required_reviews: allowNull(makeList(TEXT)),
  reviews: makeList(makeObject({ reviewer: TEXT, status: allowNull(REVIEW_STATUS) })),
  pending_approval: allowNull(PENDING_APPROVAL),
  artifacts: makeList(makeObject({ ...ARTIFACT_FIELDS, phase: TEXT, visit: COUNT, content: ANYTHING })),
  'held_out?': chooseOne(makeObject(HELD_OUT_FIELDS), makeObject({ count: COUNT, examples: NULL })),
  report: allowNull(REVIEW_REPORT),
  subject: allowNull(SHA256),
  allowed_tools: makeList(TEXT),
  next_step: TEXT,
  truncated: FLAG,
})
export const SNAPSHOT = chooseOne(
  nameObject('Snapshot', SNAPSHOT_FIELDS),
  nameObject('Overview', {
    ...SNAPSHOT_FIELDS,
    tasks: makeList(TASK_ROW),
    paused: allowNull(TEXT),
    alerts: makeList(TASK_ALERT),
  }),
  REVIEWER_SNAPSHOT,
)
