import { ARTIFACT_FIELDS } from './approval-answers.js'
import {
  ANY_OBJECT,
  ANYTHING,
  allowNull,
  COUNT,
  chooseOne,
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
import { REVIEW_STATUS } from './task-answers.js'

const REMARK_FIELDS: Fields = { text: TEXT, 'path?': TEXT, 'line?': COUNT }
const COMMENTS = makeList(nameObject('ReviewComment', { ...REMARK_FIELDS, resolved: FLAG }))
const ISSUES = makeList(nameObject('BlockingIssue', REMARK_FIELDS))
export const REVIEW_REPORT = nameObject('ReviewReport', {
  status: REVIEW_STATUS,
  'summary?': TEXT,
  comments: COMMENTS,
  blocking_issues: ISSUES,
})

export const ADDED_REVIEWER = nameObject('AddedReviewer', { reviewer: TEXT, review_token: TEXT, expires_at: TIME })

export const REVIEW_LIST = nameObject('ReviewList', {
  task_id: TEXT,
  phase: TEXT,
  visit: COUNT,
  required_reviews: allowNull(makeList(TEXT)),
  reviews: makeList(
    nameObject('Review', {
      reviewer: TEXT,
      phase: TEXT,
      visit: COUNT,
      token_status: chooseWord('open', 'finished', 'revoked', 'expired', 'ended'),
      status: allowNull(REVIEW_STATUS),
      counts_as: allowNull(chooseOne(REVIEW_STATUS, chooseWord('outdated', 'by_implementer'))),
      added_at: TIME,
      expires_at: TIME,
      submitted_at: allowNull(TIME),
      'summary?': TEXT,
      'comments?': COMMENTS,
      'blocking_issues?': ISSUES,
    }),
  ),
})

export const SENT_REVIEW = nameObject('SentReview', {
  task_id: TEXT,
  reviewer: TEXT,
  status: allowNull(REVIEW_STATUS),
  finished: FLAG,
  subject: allowNull(SHA256),
})

export const ARTIFACT_CONTENT = nameObject('ArtifactContent', {
  task_id: TEXT,
  ...ARTIFACT_FIELDS,
  phase: TEXT,
  visit: COUNT,
  content: { ...ANYTHING, description: 'What the agent handed in.' },
})

export const TASK_CONTENT = nameObject('TaskContent', {
  task_id: TEXT,
  sha256: SHA256,
  kind: chooseWord('artifact', 'run', 'baseline', 'evidence', 'review'),
  name: TEXT,
  seq: COUNT,
  at: TIME,
  phase: allowNull(TEXT),
  content: { ...ANYTHING, description: 'What was handed in or observed, as it is kept.' },
})

export const HELD_OUT_FIELDS: Fields = {
  sha256: allowNull(SHA256),
  count: COUNT,
  failures: COUNT,
  examples: makeList({ ...ANY_OBJECT, description: 'As the operator gave it.' }),
  last_failure: allowNull(
    makeList(makeObject({ criterion: allowNull(TEXT), number: COUNT, difference: allowNull(TEXT) })),
  ),
}
export const HELD_OUT = nameObject('HeldOut', { task_id: TEXT, ...HELD_OUT_FIELDS })
