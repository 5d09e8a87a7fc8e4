import type { EvidenceType } from '../../core/contract/contract.js'
import { isObject, type Json } from '../../core/json.js'
import type { SourceNode } from '../load/yaml.js'
import { has, hasNone, when } from '../schema/conditions.js'
import {
  choice,
  flag,
  type Kind,
  mapOf,
  number,
  path,
  pattern,
  positive,
  type TypeOf,
  text,
  texts,
  value,
} from '../schema/kinds.js'
import { maybe, need, object, otherwise } from '../schema/object.js'
import { type Fields, reportWrongType } from './fields.js'
import { DOCUMENT_PLACE } from './read-phase-text.js'

const TYPES = ['string', 'integer', 'number', 'boolean', 'array', 'object'] as const
const GRADES = ['reported', 'artifact', 'observed'] as const

/** Which bounds apply to which types; a bound elsewhere would never be checked. */
const BOUND_TYPES: Readonly<Record<string, readonly EvidenceType[]>> = {
  above: ['integer', 'number'],
  may_be_false: ['boolean'],
  min: ['integer', 'number'],
  max: ['integer', 'number'],
  min_length: ['string', 'array'],
  pattern: ['string'],
}

const values: Kind<Json[]> = {
  read: (node, { reading }) => {
    if (node.kind !== 'list') return reportWrongType(reading, node, 'a list')
    const message = 'The list of accepted values is empty.'
    if (node.items.length === 0) reading.report({ code: 'contract.invalid_value', at: node.at, message })
    return node.items.map((item) => reading.toJson(item))
  },
  json: { type: 'array', minItems: 1 },
  words: 'list of values',
}

const EVIDENCE = object(
  'evidence_field',
  'Evidence fields',
  {
    type: need(choice(TYPES, 'string'), 'The type of the value. `true` is not an integer; `42.0` is one.', 'integer'),
    min: maybe(number, '`integer` and `number`: the least value.', '1'),
    max: maybe(number, '`integer` and `number`: the greatest value.', '100'),
    min_length: maybe(positive, '`string` and `array`: the least length.', '1'),
    pattern: maybe(pattern, '`string`: what it must match.', '"^v[0-9]+$"'),
    enum: maybe(values, 'The values that are accepted.', '[low, high]'),
    must_be: maybe(value, 'The one value that is accepted.', 'true', { unset: '`true` for a required boolean' }),
    optional: otherwise(flag, 'Whether it may be absent.', 'true', { fallback: false }),
    grade: otherwise(
      choice(GRADES),
      "What counts: the agent's word, a file that Phaselock read, or what Phaselock ran.",
      'reported',
      { fallback: 'reported' },
    ),
    description: otherwise(text, 'Shown to the agent.', 'Functions found.', { fallback: '' }),
    above: maybe(number, '`integer` and `number`: what it must be greater than.', '0'),
    may_be_false: maybe(flag, '`boolean`: whether `false` is accepted.', 'true'),
    rules: maybe(texts, 'The rules in the words of the document they were read from.', '[at least 3]'),
    source: maybe(
      DOCUMENT_PLACE,
      'Where the field is in a document of the workflow.',
      '{file: phases/1/phase.md, line: 9}',
    ),
  },
  {
    json: {
      allOf: [
        ...Object.entries(BOUND_TYPES).map(([key, types]) =>
          when(has('type', { not: { enum: types } }), hasNone([key])),
        ),
        ...TYPES.map((type) =>
          when(has('type', { const: type }), { properties: { must_be: { type }, enum: { items: { type } } } }),
        ),
      ],
    },
    finish: (field, fields) => {
      checkBoundTypes(fields, field.type)
      const accepted = fields.get('enum')
      for (const item of accepted?.kind === 'list' ? accepted.items : []) checkType(fields, item, field.type)
      const mustBe = fields.get('must_be')
      if (mustBe !== undefined) checkType(fields, mustBe, field.type)
      const { min, max } = field
      if (min !== undefined && max !== undefined && min > max)
        fields.reportBad('min', 'contract.invalid_value', `min ${min} is greater than max ${max}.`, 'Swap the two.')
      return field
    },
  },
)
export type EvidenceDocument = TypeOf<typeof EVIDENCE>

/** A phase's checkpoint. */
const CHECKPOINT = object(
  'checkpoint',
  'Checkpoint',
  {
    evidence: otherwise(mapOf(EVIDENCE), 'The fields, by name.', '{function_count: {type: integer, min: 1}}', {
      fallback: {},
    }),
    source: maybe(
      path,
      'A Markdown file below the contract, or one heading of it, that the fields are read from: see [documents](documents.md).',
      'docs/phases/1.md',
    ),
  },
  {
    json: { anyOf: [has('evidence'), has('source')] },
    finish: (checkpoint, fields) => {
      if (!fields.has('evidence') && !fields.has('source'))
        fields.missing('evidence', CHECKPOINT.fields.evidence.example)
      return checkpoint
    },
  },
)
export type CheckpointDocument = TypeOf<typeof CHECKPOINT>

/** A checkpoint; `none` says explicitly that there is none. */
export const checkpoint: Kind<CheckpointDocument> = {
  ...CHECKPOINT,
  json: { oneOf: [{ const: 'none' }, CHECKPOINT.json] },
  words: `${CHECKPOINT.words}, or \`none\``,
  read: (node, scope) => (node.kind === 'scalar' && node.value === 'none' ? null : CHECKPOINT.read(node, scope)),
}

function checkBoundTypes(fields: Fields, type: EvidenceType): void {
  for (const [key, types] of Object.entries(BOUND_TYPES)) {
    if (!fields.has(key) || types.includes(type)) continue
    const remedy = types.includes('integer')
      ? 'Use min_length for texts and lists.'
      : `It is for ${types.join(' and ')}.`
    fields.reportBad(key, 'contract.invalid_value', `A field of type ${type} takes no '${key}'.`, remedy)
  }
}

function checkType({ reading }: Fields, node: SourceNode, type: EvidenceType): void {
  if (!isOfType(reading.toJson(node), type)) reportWrongType(reading, node, `a value of type ${type}`)
}

export function isOfType(value: Json, type: EvidenceType): boolean {
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isObject(value)
  return typeof value === type
}
