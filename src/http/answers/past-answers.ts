import { APPROVAL, ARTIFACT_FIELDS, CHECK_FIELDS } from './approval-answers.js'
import { allowNull, COUNT, chooseWord, makeList, makeObject, nameObject, TEXT, TIME } from './schema-parts.js'
import { TASK } from './task-answers.js'

const PHASE = nameObject('PastPhase', {
  id: TEXT,
  name: TEXT,
  status: chooseWord('done', 'current', 'ahead'),
  visits: makeList(makeObject({ visit: COUNT, entered_at: TIME, left_at: allowNull(TIME) })),
})

const GATE = nameObject('PastGate', {
  id: TEXT,
  phase: TEXT,
  type: TEXT,
  status: chooseWord('passed', 'blocked', 'waiting', 'not_tried'),
  checks: makeList(nameObject('PastCheck', { ...CHECK_FIELDS, remedy: allowNull(TEXT) })),
})

/** A task as it was at an event. */
export const TASK_STATE = nameObject('TaskStateAt', {
  task_id: TEXT,
  at: makeObject({ seq: COUNT, time: TIME, type: TEXT }),
  last_seq: COUNT,
  task: TASK,
  phases: makeList(PHASE),
  artifacts: makeList(
    nameObject('PastArtifact', {
      ...ARTIFACT_FIELDS,
      phase: TEXT,
      visit: COUNT,
      version: COUNT,
      seq: allowNull(COUNT),
    }),
  ),
  gates: makeList(GATE),
  approvals: makeList(APPROVAL),
  changed_paths: makeList(TEXT),
})
