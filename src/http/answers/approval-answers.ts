import { DECISION_CHANNELS, type DecisionChannel } from '../../core/task/fact-parts.js'
import type { Approval, Question } from '../../core/task/state.js'
import { APPROVAL_DIFF } from './diff-answers.js'
import {
  ANY_OBJECT,
  allowNull,
  COUNT,
  chooseWord,
  type Fields,
  FLAG,
  makeList,
  makeObject,
  nameObject,
  SHA256,
  TEXT,
  TIME,
} from './schema-parts.js'
import { BLOCKER, GRADE } from './task-answers.js'

export const ARTIFACT_FIELDS: Fields = { type: TEXT, sha256: SHA256, bytes: COUNT, grade: GRADE, 'self_review?': FLAG }

export const APPROVAL_FIELDS: Fields = {
  id: TEXT,
  task_id: TEXT,
  task_title: TEXT,
  agent_id: allowNull(TEXT),
  workspace: TEXT,
  gate: TEXT,
  phase: TEXT,
  target_phase: TEXT,
  status: chooseWord<Approval['status']>('pending', 'approved', 'rejected', 'expired', 'used', 'void'),
  digest: SHA256,
  approvers: makeList(TEXT),
  min_approvals: COUNT,
  decisions: makeList(
    makeObject({
      by: TEXT,
      decision: chooseWord('approve', 'reject'),
      comment: allowNull(TEXT),
      at: TIME,
      channel: allowNull(chooseWord<DecisionChannel>(...DECISION_CHANNELS)),
    }),
  ),
  artifacts: makeList(nameObject('Artifact', ARTIFACT_FIELDS)),
  evidence: ANY_OBJECT,
  warnings: makeList(BLOCKER),
  requested_at: TIME,
  expires_at: TIME,
}
export const APPROVAL = nameObject('Approval', APPROVAL_FIELDS)

/** A check of a request with its outcome. */
export const CHECK_FIELDS: Fields = {
  check: TEXT,
  severity: TEXT,
  status: chooseWord('passed', 'failed', 'warning', 'not_run'),
  grade: allowNull(GRADE),
  message: TEXT,
}

const SINCE_LAST = nameObject('SinceLastApproval', {
  approval_id: TEXT,
  decision: chooseWord('approve', 'reject', 'pending', 'approved', 'rejected', 'expired', 'used', 'void'),
  comment: TEXT,
  by: allowNull(TEXT),
  at: TIME,
  changed_artifacts: makeList(TEXT),
  changed_paths: allowNull(makeList(TEXT)),
})

/** Agents see the contents only. */
export const APPROVAL_DETAILS = nameObject('ApprovalDetails', {
  ...APPROVAL_FIELDS,
  contents: ANY_OBJECT,
  'waiting_seconds?': COUNT,
  'covers?': makeObject({
    artifacts: makeList(makeObject({ type: TEXT, sha256: SHA256 })),
    tree_hash: allowNull(SHA256),
  }),
  'outdated?': FLAG,
  'diff?': APPROVAL_DIFF,
  'checks?': makeList(
    nameObject('ApprovalCheck', { gate: allowNull(TEXT), artifact: allowNull(TEXT), ...CHECK_FIELDS }),
  ),
  'refusals?': makeList(nameObject('PastRefusal', { seq: COUNT, at: TIME, phase: TEXT, code: TEXT, detail: TEXT })),
  'since_last?': allowNull(SINCE_LAST),
})

export const QUESTION = nameObject('Question', {
  id: TEXT,
  task_id: TEXT,
  task_title: TEXT,
  agent_id: TEXT,
  phase: TEXT,
  status: chooseWord<Question['status']>('open', 'answered', 'withdrawn'),
  question: TEXT,
  options: makeList(TEXT),
  asked_at: TIME,
  answer: allowNull(TEXT),
  answered_by: allowNull(TEXT),
  answered_at: allowNull(TIME),
})
