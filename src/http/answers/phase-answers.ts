import type { JsonObject } from '../../core/json.js'
import { CHECKING_FIELDS, GRANT_FIELDS, GRANT_OR_END_FIELDS, HELP_FIELDS, INTERRUPT, RETRY } from './call-answers.js'
import {
  ANY_OBJECT,
  ANYTHING,
  allowNull,
  COUNT,
  chooseOne,
  chooseWord,
  FALSE,
  type Fields,
  FLAG,
  INTEGER,
  makeList,
  makeMap,
  makeObject,
  NUMBER,
  nameObject,
  TEXT,
  TRUE,
} from './schema-parts.js'
import { BLOCKER, PENDING_APPROVAL, TASK_STATUS } from './task-answers.js'

/** A phase by its id or, in a workflow of documents, by its number. */
const PHASE_NAME: JsonObject = { type: ['string', 'integer'] }
const PHASE_CONTENT = nameObject('PhaseContent', { content: TEXT, sources: makeList(TEXT), total_tokens: COUNT })
const PHASE_TASKS: Fields = {
  'tasks?': makeObject({
    current: allowNull(makeObject({ id: TEXT, title: TEXT, content: TEXT })),
    done: makeList(TEXT),
    total: COUNT,
  }),
}
const EVIDENCE_FIELD = nameObject('EvidenceField', {
  type: TEXT,
  description: TEXT,
  required: FLAG,
  grade: TEXT,
  'min?': NUMBER,
  'max?': NUMBER,
  'above?': NUMBER,
  'min_length?': COUNT,
  'pattern?': TEXT,
  'enum?': makeList(ANYTHING),
  'must_be?': ANYTHING,
  'may_be_false?': FLAG,
  'rules?': makeList(TEXT),
  'source?': TEXT,
})
export const PHASE = nameObject('Phase', {
  phase_number: PHASE_NAME,
  phase_content: PHASE_CONTENT,
  ...PHASE_TASKS,
  artifacts_from_previous: makeMap(ANY_OBJECT),
  checkpoint_criteria: makeObject({ required_evidence: makeMap(EVIDENCE_FIELD), 'min_verified?': COUNT }),
})

const COMPLETED_FIELDS: Fields = {
  checkpoint_passed: FLAG,
  'missing_evidence?': makeList(TEXT),
  phase_completed: PHASE_NAME,
  status: TASK_STATUS,
  warnings: makeList(BLOCKER),
}
export const COMPLETION = chooseOne(
  nameObject('PhaseCompleted', {
    ...COMPLETED_FIELDS,
    next_phase: PHASE_NAME,
    next_phase_content: allowNull(PHASE_CONTENT),
    ...PHASE_TASKS,
    artifacts_available: makeMap(ANY_OBJECT),
    ...GRANT_FIELDS,
  }),
  nameObject('WorkflowCompleted', {
    ...COMPLETED_FIELDS,
    workflow_complete: TRUE,
    message: TEXT,
    ...GRANT_OR_END_FIELDS,
  }),
  nameObject('PhaseHeld', {
    checkpoint_passed: FLAG,
    current_phase: PHASE_NAME,
    current_phase_content: allowNull(PHASE_CONTENT),
    ...PHASE_TASKS,
    retry: RETRY,
    ...HELP_FIELDS,
    'error?': chooseWord('incomplete_checkpoint', 'rule_interrupt'),
    'missing_evidence?': makeList(TEXT),
    'required_format?': makeMap(EVIDENCE_FIELD),
    'examples?': ANY_OBJECT,
    'message?': TEXT,
    'blockers?': makeList(BLOCKER),
    'warnings?': makeList(BLOCKER),
    'interrupt?': INTERRUPT,
    'pending_approval?': PENDING_APPROVAL,
  }),
  nameObject('PhaseChecking', { checkpoint_passed: FALSE, ...CHECKING_FIELDS, message: TEXT }),
)

export const SEARCH = nameObject('KnowledgeFound', {
  results: makeList(
    makeObject({
      content: TEXT,
      file: TEXT,
      section: allowNull(TEXT),
      start_line: COUNT,
      score: NUMBER,
      tokens: COUNT,
      tags: makeList(TEXT),
      phase: allowNull(TEXT),
    }),
  ),
  total_tokens: COUNT,
  retrieval_method: chooseWord('hybrid', 'lexical'),
  'degraded?': TRUE,
  'hint?': TEXT,
  query_time_ms: NUMBER,
  index_version: INTEGER,
})
