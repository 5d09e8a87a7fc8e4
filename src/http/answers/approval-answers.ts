import type { Approval, Question } from '../../core/task/state.js'
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
    makeObject({ by: TEXT, decision: chooseWord('approve', 'reject'), comment: allowNull(TEXT), at: TIME }),
  ),
  artifacts: makeList(nameObject('Artifact', ARTIFACT_FIELDS)),
  evidence: ANY_OBJECT,
  warnings: makeList(BLOCKER),
  requested_at: TIME,
  expires_at: TIME,
}
export const APPROVAL = nameObject('Approval', APPROVAL_FIELDS)
export const APPROVAL_DETAILS = nameObject('ApprovalDetails', { ...APPROVAL_FIELDS, contents: ANY_OBJECT })

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
