import type { Json } from '../../core/json.js'
import type { Place } from '../diagnostic.js'
import type { MapNode, SourceEntry, SourceNode } from '../load/yaml.js'
import { formatDidYouMean } from '../nearest.js'
import { compilePattern } from '../patterns.js'
import { Draft, findTypeByName, isFieldName, type Requirement } from './field.js'
import { readRules } from './rules.js'
import type { Sink } from './source.js'
import { readCheckpointSection, Validators } from './validators.js'

/** A rule over several fields, as a CEL expression. */
export interface CrossRule {
  readonly when: string
  readonly message: string
  readonly node: SourceNode
}

/** The content of a `yaml evidence` block or a `gate-definition.yaml`. */
export interface YamlGate {
  readonly requirements: readonly Requirement[]
  readonly rules: readonly CrossRule[]
  /** It says `checkpoint: none`. */
  readonly isNone: boolean
  readonly at: Place
}

const KEYS = [
  'type',
  'min',
  'max',
  'min_length',
  'pattern',
  'enum',
  'must_be',
  'optional',
  'required',
  'grade',
  'description',
  'rule',
  'validator',
  'validator_params',
]
const WRAPPERS = ['evidence', 'evidence_schema']

export function readYamlGate(node: SourceNode, file: string, report: Sink): YamlGate | null {
  if (node.kind !== 'map') {
    report({ code: 'bad_yaml', at: node.at, message: 'Expected a map of fields, such as `count: {type: integer}`.' })
    return null
  }
  const fields = new Map(node.entries)
  const none = fields.get('checkpoint')?.value
  const isNone = none?.kind === 'scalar' && none.value === 'none'
  if (isNone) fields.delete('checkpoint')
  const rules = fields.get('rules')?.value
  if (rules?.kind === 'list') fields.delete('rules')
  const wrapper = WRAPPERS.find((key) => isMapOfMaps(fields.get(key)?.value))
  const wrapped = wrapper === undefined ? undefined : fields.get(wrapper)?.value
  const sections = wrapper === undefined ? new Map<string, SourceEntry>() : takeSections(fields, report)
  const validators = Validators.read(sections.get('validators')?.value, report)
  if (wrapper !== undefined && wrapped?.kind === 'map') {
    fields.delete(wrapper)
    for (const [key, entry] of wrapped.entries) fields.set(key, entry)
  }
  const requirements = [...fields].flatMap(([name, entry]) => {
    if (!isFieldName(name)) {
      report({ code: 'unknown_field', at: entry.keyAt, message: `'${name.slice(0, 80)}' is not the name of a field.` })
      return []
    }
    return readField({ name, at: entry.keyAt, node: entry.value, file, validators }, report)
  })
  validators.reportUnused()
  return {
    requirements,
    rules: rules?.kind === 'list' ? rules.items.flatMap((item) => readCross(item, report)) : [],
    isNone,
    at: node.at,
  }
}

// Next to a map of fields these are sections; without one they could be the names of fields.
function takeSections(fields: Map<string, SourceEntry>, report: Sink): ReadonlyMap<string, SourceEntry> {
  const sections = new Map<string, SourceEntry>()
  for (const key of ['checkpoint', 'validators', 'cross_field_validation']) {
    const entry = fields.get(key)
    if (entry === undefined || !fields.delete(key)) continue
    sections.set(key, entry)
    const { value, keyAt } = entry
    if (key === 'checkpoint' && value.kind === 'map') readCheckpointSection(value, report)
    else if (key === 'checkpoint')
      report({
        code: 'bad_yaml',
        at: value.at,
        message: 'checkpoint is `none`, or a map with strict and allow_override.',
      })
    else if (key === 'cross_field_validation' && !(value.kind === 'list' && value.items.length === 0)) {
      const remedy = 'Write CEL expressions under `rules`, such as `evidence.tests >= evidence.functions`.'
      report({
        code: 'unknown_validator',
        at: keyAt,
        message: 'cross_field_validation is code, which is never run.',
        remedy,
      })
    }
  }
  return sections
}

function isMapOfMaps(node: SourceNode | undefined): boolean {
  return (
    node?.kind === 'map' &&
    node.entries.size > 0 &&
    [...node.entries.values()].every(({ value }) => value.kind === 'map')
  )
}

interface NamedNode {
  readonly name: string
  readonly at: Place
  readonly node: SourceNode
  readonly file: string
  readonly validators: Validators
}

function readField({ name, at, node, file, validators }: NamedNode, report: Sink): Requirement[] {
  if (node.kind !== 'map') {
    report({ code: 'bad_yaml', at, message: `The field '${name}' needs a map, such as {type: integer, min: 1}.` })
    return []
  }
  for (const [key, entry] of node.entries) {
    if (KEYS.includes(key) || key.startsWith('x-')) continue
    const remedy = `${formatDidYouMean(key, KEYS)}Known: ${KEYS.join(', ')}.`
    report({ code: 'unknown_validator', at: entry.keyAt, message: `'${key}' is not a known rule of a field.`, remedy })
  }
  const type = readType(name, at, node, report)
  if (type === null) return []
  const draft = new Draft(type, readText(node, 'description', report) ?? '')
  draft.said.add('type')
  readBounds(draft, node, report)
  readFlags(draft, node, report)
  const rule = readText(node, 'rule', report)
  if (rule !== null) readRules(draft, rule)
  readValidator(draft, node, { validators, report })
  const requirement = draft.makeRequirement(name, at, file)
  for (const problem of draft.problems) report({ ...problem, at, message: `${name}: ${problem.message}` })
  return draft.problems.length > 0 ? [] : [requirement]
}

function readValidator(draft: Draft, node: MapNode, to: { validators: Validators; report: Sink }): void {
  const given = node.entries.get('validator_params')?.value
  const params = new Map<string, Json>()
  if (given?.kind === 'map') for (const [key, { value }] of given.entries) params.set(key, toJson(value))
  else if (given !== undefined)
    to.report({ code: 'bad_yaml', at: given.at, message: 'validator_params must be a map of values.' })
  const validator = readText(node, 'validator', to.report)
  if (validator !== null) to.validators.apply(draft, validator, params)
  else if (params.size > 0) draft.reportUnknown('validator_params', 'Name the validator that takes them.')
}

function readType(name: string, at: Place, node: MapNode, report: Sink): Draft['type'] | null {
  const given = node.entries.get('type')?.value
  const type = given?.kind === 'scalar' ? findTypeByName(String(given.value)) : null
  if (type !== null) return type
  const what =
    given === undefined
      ? 'gives no type'
      : `gives the type '${given.kind === 'scalar' ? String(given.value).slice(0, 80) : given.kind}'`
  report({ code: 'unknown_type', at: given?.at ?? at, message: `The field '${name}' ${what}.` })
  return null
}

function readBounds(draft: Draft, node: MapNode, report: Sink): void {
  const isNumeric = draft.type === 'integer' || draft.type === 'number'
  const min = readNumber(node, 'min', report)
  if (min !== null && isNumeric) draft.setLower(min, true, `at least ${min}`)
  else if (min !== null) draft.reportMismatch(`min ${min}`)
  const max = readNumber(node, 'max', report)
  if (max !== null) draft.setUpper(max, `at most ${max}`)
  const length = readNumber(node, 'min_length', report)
  if (length !== null && !isNumeric) draft.setLower(length, true, `at least ${length}`)
  else if (length !== null) draft.reportMismatch(`min_length ${length}`)
  const pattern = readText(node, 'pattern', report)
  if (pattern !== null) readPattern(draft, pattern)
}

function readPattern(draft: Draft, pattern: string): void {
  const compiled = compilePattern(pattern)
  if (compiled.ok) draft.setPattern(pattern, `matches ${pattern}`)
  else draft.reportUnknown(`pattern ${pattern}`, `The pattern is refused: ${compiled.reason}.`)
}

function readFlags(draft: Draft, node: MapNode, report: Sink): void {
  const values = node.entries.get('enum')?.value
  if (values?.kind === 'list' && values.items.length > 0) {
    const list = values.items.map(toJson)
    draft.setValues(list, `one of ${list.map((one) => JSON.stringify(one)).join(', ')}`)
  } else if (values !== undefined) report({ code: 'bad_yaml', at: values.at, message: 'enum needs a list of values.' })
  const must = node.entries.get('must_be')?.value
  if (must !== undefined) draft.mustBe(toJson(must), `must be ${JSON.stringify(toJson(must))}`)
  for (const key of ['optional', 'required']) {
    const flag = node.entries.get(key)?.value
    if (flag === undefined) continue
    if (flag.kind === 'scalar' && typeof flag.value === 'boolean') draft.optional((key === 'optional') === flag.value)
    else report({ code: 'bad_yaml', at: flag.at, message: `${key} must be true or false.` })
  }
  const grade = readText(node, 'grade', report)
  if (grade === 'reported' || grade === 'artifact' || grade === 'observed') draft.grade(grade)
  else if (grade !== null) draft.reportUnknown(`grade ${grade}`, 'Grades: reported, artifact, observed.')
}

function readCross(node: SourceNode, report: Sink): CrossRule[] {
  if (node.kind === 'scalar' && typeof node.value === 'string') return [{ when: node.value, message: '', node }]
  const when = node.kind === 'map' ? readText(node, 'when', report) : null
  if (node.kind !== 'map' || when === null) {
    report({ code: 'bad_yaml', at: node.at, message: 'A rule is a CEL expression, or {when, message}.' })
    return []
  }
  return [{ when, message: readText(node, 'message', report) ?? '', node }]
}

function readText(node: MapNode, key: string, report: Sink): string | null {
  const value = node.entries.get(key)?.value
  if (value === undefined) return null
  if (value.kind === 'scalar' && typeof value.value === 'string') return value.value
  report({ code: 'bad_yaml', at: value.at, message: `${key} must be a text.` })
  return null
}

function readNumber(node: MapNode, key: string, report: Sink): number | null {
  const value = node.entries.get(key)?.value
  if (value === undefined) return null
  if (value.kind === 'scalar' && typeof value.value === 'number') return value.value
  report({ code: 'bad_yaml', at: value.at, message: `${key} must be a number.` })
  return null
}

/** A value of YAML as plain JSON. Keys cannot reach a prototype. */
export function toJson(node: SourceNode): Json {
  if (node.kind === 'scalar') return node.value
  if (node.kind === 'list') return node.items.map(toJson)
  const object: Record<string, Json> = Object.create(null)
  for (const [key, entry] of node.entries) object[key] = toJson(entry.value)
  return object
}
