import {
  allowNull,
  COUNT,
  chooseWord,
  type Fields,
  FLAG,
  makeList,
  makeObject,
  nameObject,
  TEXT,
  TIME,
} from './schema-parts.js'

const HUNK = nameObject('DiffHunk', {
  old_start: COUNT,
  old_lines: COUNT,
  new_start: COUNT,
  new_lines: COUNT,
  lines: makeList(TEXT),
})

const FILE = nameObject('FileDiff', {
  path: TEXT,
  status: chooseWord('added', 'modified', 'deleted'),
  binary: FLAG,
  additions: COUNT,
  deletions: COUNT,
  unexplained: FLAG,
  other_task: allowNull(TEXT),
  pinned: FLAG,
  hunks: makeList(HUNK),
  omitted: allowNull(chooseWord('binary', 'too_large', 'too_many_files', 'secret', 'not_kept')),
})

const DIFF_FIELDS: Fields = {
  files: makeList(FILE),
  totals: makeObject({ files: COUNT, additions: COUNT, deletions: COUNT }),
  truncated: FLAG,
  available: FLAG,
  unavailable_reason: allowNull(TEXT),
}

export const TASK_DIFF = nameObject('TaskDiff', {
  task_id: TEXT,
  from: makeObject({ kind: chooseWord('start', 'phase', 'visit'), visit: COUNT, phase: TEXT, at: allowNull(TIME) }),
  to: makeObject({ kind: chooseWord('now', 'end', 'visit'), visit: COUNT, phase: TEXT, at: allowNull(TIME) }),
  ...DIFF_FIELDS,
})

/** From the newest approval that was given, or the start of the task. */
export const APPROVAL_DIFF = nameObject('ApprovalDiff', {
  from: makeObject({
    kind: chooseWord('approval', 'start'),
    approval_id: allowNull(TEXT),
    visit: COUNT,
    phase: allowNull(TEXT),
    at: allowNull(TIME),
  }),
  ...DIFF_FIELDS,
})
