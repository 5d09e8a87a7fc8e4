import type { JsonObject } from '../../core/json.js'
import { REVIEW_STATUSES } from '../../core/task/fact-parts.js'

const COMMENTS_MAX = 200
const ISSUES_MAX = 100

const WORDS: JsonObject = {
  type: 'string',
  minLength: 1,
  maxLength: 4000,
  pattern: '\\S',
  description: 'Text, not empty.',
}
const PLACE: Readonly<Record<string, JsonObject>> = {
  text: WORDS,
  path: { type: 'string', minLength: 1, maxLength: 1024 },
  line: { type: 'integer', minimum: 1, maximum: 10_000_000 },
}

const REPORT: JsonObject = {
  ...shape(
    {
      status: {
        type: 'string',
        enum: [...REVIEW_STATUSES],
        description: '`completed` and `approved` finish the review.',
      },
      summary: WORDS,
      comments: {
        type: 'array',
        maxItems: COMMENTS_MAX,
        items: shape({ ...PLACE, resolved: { type: 'boolean' } }, ['text']),
      },
      blocking_issues: {
        type: 'array',
        maxItems: ISSUES_MAX,
        items: { anyOf: [WORDS, shape(PLACE, ['text'])] },
      },
    },
    ['status'],
  ),
  description:
    '`{status, summary?, comments?: [{text, path?, line?, resolved?}], blocking_issues?: [text or {text, path?, line?}]}`',
}

/** What a reviewer sends, over any transport. */
export const REVIEW_SHAPE: JsonObject = shape(
  {
    report: REPORT,
    subject: {
      type: 'string',
      pattern: '^[0-9a-f]{64}$',
      description: '`subject` of the snapshot: the report is refused if the work has changed since.',
    },
  },
  ['report'],
)

function shape(properties: Readonly<Record<string, JsonObject>>, required: readonly string[]): JsonObject {
  return { type: 'object', additionalProperties: false, properties, required }
}
