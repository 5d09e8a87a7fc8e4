import type { EvidenceType } from '../../core/contract/contract.js'
import type { Json } from '../../core/json.js'
import type { CheckpointDocument, EvidenceDocument } from '../document.js'
import type { SourceNode } from '../load/yaml.js'
import { compilePattern } from '../patterns.js'
import { Fields, reportWrongType } from './fields.js'
import type { Reading } from './reading.js'

const TYPES = ['string', 'integer', 'number', 'boolean', 'array', 'object'] as const
const GRADES = ['reported', 'artifact', 'observed'] as const
const FIELD_KEYS = [
  'type',
  'min',
  'max',
  'min_length',
  'pattern',
  'enum',
  'must_be',
  'optional',
  'grade',
  'description',
  'above',
  'may_be_false',
  'rules',
  'source',
]

/** Which bounds make sense for which types; a bound elsewhere would never be looked at. */
const BOUND_TYPES: Readonly<
  Record<'min' | 'max' | 'above' | 'min_length' | 'pattern' | 'may_be_false', readonly EvidenceType[]>
> = {
  above: ['integer', 'number'],
  may_be_false: ['boolean'],
  min: ['integer', 'number'],
  max: ['integer', 'number'],
  min_length: ['string', 'array'],
  pattern: ['string'],
}

/** A phase's checkpoint; `none` says explicitly that there is none. */
export function readCheckpoint(reading: Reading, node: SourceNode): CheckpointDocument | null {
  if (node.kind === 'scalar' && node.value === 'none') return null
  const fields = Fields.openFields(reading, node, ['evidence', 'source'])
  if (fields === null) return null
  if (!fields.has('evidence') && !fields.has('source'))
    fields.reportMissing('evidence', '{function_count: {type: integer, min: 1}}')
  const evidence: Record<string, EvidenceDocument> = Object.create(null)
  const map = fields.map('evidence')
  for (const [name, entry] of map?.entries ?? []) {
    const field = readEvidence(reading, entry.value)
    if (field !== null) evidence[name] = field
  }
  const checkpoint: CheckpointDocument = { evidence: map === null ? evidence : reading.made(evidence, map) }
  if (fields.has('source')) checkpoint.source = fields.needText('source', 'docs/phases/1.md')
  return reading.made(checkpoint, node)
}

function readEvidence(reading: Reading, node: SourceNode): EvidenceDocument | null {
  const fields = Fields.openFields(reading, node, FIELD_KEYS)
  if (fields === null) return null
  if (!fields.has('type')) fields.reportMissing('type', 'integer')
  const type = fields.choice('type', TYPES, 'string')
  checkBoundTypes(fields, type)
  const field: EvidenceDocument = {
    type,
    optional: fields.getFlag('optional', false),
    grade: fields.choice('grade', GRADES, 'reported'),
    description: fields.getText('description'),
  }
  for (const key of ['min', 'max', 'above'] as const) {
    const bound = readNumber(fields, key)
    if (bound !== null) field[key] = bound
  }
  if (fields.has('min_length')) field.min_length = fields.getPositive('min_length', 1)
  if (fields.has('pattern')) field.pattern = readPattern(fields)
  if (fields.has('may_be_false')) field.may_be_false = fields.getFlag('may_be_false', false)
  const rules = fields.getTexts('rules')
  if (rules !== null) field.rules = rules
  const source = fields.openInner('source', ['file', 'line'])
  if (source !== null)
    field.source = { file: source.needText('file', 'phases/1/phase.md'), line: source.getPositive('line', 1) }
  const values = fields.list('enum')
  if (values !== null) {
    field.enum = values.items.map((item) => readValue(reading, item, type))
    if (values.items.length === 0)
      fields.reportBad('enum', 'contract.invalid_value', 'The list of accepted values is empty.')
  }
  const mustBe = fields.get('must_be')
  if (mustBe !== undefined) field.must_be = readValue(reading, mustBe, type)
  if (field.min !== undefined && field.max !== undefined && field.min > field.max) {
    fields.reportBad(
      'min',
      'contract.invalid_value',
      `min ${field.min} is greater than max ${field.max}.`,
      'Swap the two.',
    )
  }
  return reading.made(field, node)
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

function readNumber(fields: Fields, key: string): number | null {
  const node = fields.get(key)
  if (node === undefined) return null
  if (node.kind === 'scalar' && typeof node.value === 'number') return node.value
  reportWrongType(fields.reading, node, 'a number')
  return null
}

function readPattern(fields: Fields): string {
  const pattern = fields.needText('pattern', '"^v[0-9]+$"')
  const compiled = compilePattern(pattern)
  if (!compiled.ok)
    fields.reportBad('pattern', 'contract.invalid_regex', `The pattern '${pattern}' is refused: ${compiled.reason}.`)
  return pattern
}

function readValue(reading: Reading, node: SourceNode, type: EvidenceType): Json {
  const value = reading.toJson(node)
  if (!isOfType(value, type)) reportWrongType(reading, node, `a value of type ${type}`)
  return value
}

function isOfType(value: Json, type: EvidenceType): boolean {
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
  return typeof value === type
}
