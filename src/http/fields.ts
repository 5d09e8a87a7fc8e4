import type { JsonObject } from '../core/json.js'

const ID = '^[A-Za-z0-9_.-]{1,64}$'

/** Schemas of request fields. */
export const FIELD = {
  id: { type: 'string', pattern: ID, description: 'Letters, digits, `_`, `.`, `-`; at most 64.' },
  name: { type: 'string', pattern: ID, description: 'Letters, digits, `_`, `.`, `-`; at most 64.' },
  title: {
    type: 'string',
    minLength: 1,
    maxLength: 200,
    pattern: '^[^\\u0000-\\u001f\\u007f]*$',
    description: 'One line without control characters.',
  },
  text: { type: 'string', maxLength: 10_000, pattern: '^[^\\u0000]*$', description: 'Text without NUL.' },
  reason: { type: 'string', minLength: 1, maxLength: 2000, description: 'Why; kept in the ledger.' },
  ids: { type: 'array', items: { type: 'string', pattern: ID }, maxItems: 100, uniqueItems: true },
  object: { type: 'object' },
  artifacts: {
    type: 'object',
    maxProperties: 50,
    propertyNames: { type: 'string', pattern: ID },
    description: 'A map from the type of an artifact to its content.',
  },
  evidence: {
    type: 'object',
    maxProperties: 200,
    propertyNames: { maxLength: 128 },
    description: 'Checkpoint fields.',
  },
  claims: {
    type: 'object',
    maxProperties: 50,
    propertyNames: { maxLength: 128 },
    additionalProperties: { type: 'boolean' },
    description: 'A map from the name of a claim to true.',
  },
  tokens: { type: 'integer', minimum: 0, maximum: 1_000_000_000 },
  metadata: { type: 'object', maxProperties: 100, description: 'Anything; at most 16 KiB of JSON.' },
  mode: { enum: ['strict', 'permissive', 'advisory'] },
  priority: { type: 'integer', minimum: -1000, maximum: 1000, description: 'Higher is claimed first; default 0.' },
  token: {
    type: 'string',
    maxLength: 8192,
    description: 'The phase token, where it is not in the Authorization header.',
  },
  phase: { type: 'string', minLength: 1, maxLength: 64 },
  phaseOrNumber: {
    anyOf: [
      { type: 'string', minLength: 1, maxLength: 64 },
      { type: 'integer', minimum: 0 },
    ],
    description: 'Its id or, in a workflow of documents, its number.',
  },
  tool: { type: 'string', minLength: 1, maxLength: 200 },
  key: {
    type: 'string',
    minLength: 1,
    maxLength: 200,
    pattern: '^[\\x20-\\x7e]*$',
    description: 'Printable ASCII; the same as the header Idempotency-Key.',
  },
  limit: { type: 'integer', minimum: 1, maximum: 1000, description: 'How many at most.' },
  cursor: {
    type: 'string',
    minLength: 1,
    maxLength: 200,
    pattern: '^[A-Za-z0-9_.-]*$',
    description: '`next_cursor` of the page before.',
  },
  time: { type: 'string', format: 'date-time', description: 'RFC 3339.' },
} as const satisfies Record<string, JsonObject>

/** The header Idempotency-Key. Spaces at its ends do not arrive. */
export const IDEMPOTENCY_KEY: JsonObject = {
  type: 'string',
  minLength: 1,
  maxLength: 200,
  pattern: '^[\\x21-\\x7e]([\\x20-\\x7e]*[\\x21-\\x7e])?$',
  description: 'Printable ASCII, 1 to 200 characters.',
}

/** The largest number that a query can have. */
export const NUMBER_MAX = 999_999_999_999_999

const SIGNED_CHARS_MAX = 8192
const SIGNED_TEXT = { type: 'string', maxLength: SIGNED_CHARS_MAX } as const

/** How an operator confirms a sensitive act. */
export const CONFIRMATION: JsonObject = {
  type: 'object',
  description: '`{passphrase}`, or `{id, assertion}` with `id` of POST /confirmations and what the passkey signed.',
  additionalProperties: false,
  properties: {
    passphrase: { type: 'string', minLength: 1, maxLength: 1000 },
    id: { type: 'string', minLength: 1, maxLength: 64 },
    assertion: {
      type: 'object',
      required: ['id', 'rawId', 'response', 'type'],
      properties: {
        id: SIGNED_TEXT,
        rawId: SIGNED_TEXT,
        type: { const: 'public-key' },
        response: {
          type: 'object',
          required: ['authenticatorData', 'clientDataJSON', 'signature'],
          properties: { authenticatorData: SIGNED_TEXT, clientDataJSON: SIGNED_TEXT, signature: SIGNED_TEXT },
        },
      },
    },
  },
  oneOf: [
    { required: ['passphrase'], maxProperties: 1 },
    { required: ['id', 'assertion'], maxProperties: 2 },
  ],
}

/** An object schema that refuses unknown fields. */
export function shape(properties: Record<string, JsonObject>, required: readonly string[] = []): JsonObject {
  return { type: 'object', additionalProperties: false, properties, required }
}

/** The body of an agent's call: POST bodies may carry the phase token. */
export function makeAgentShape(properties: Record<string, JsonObject>, required: readonly string[] = []): JsonObject {
  return shape({ ...properties, phase_token: FIELD.token }, required)
}
