import type { Json, JsonObject } from '../../core/json.js'
import type { ListNode, MapNode, SourceNode } from '../load/yaml.js'
import { formatDidYouMean } from '../nearest.js'
import { compilePattern } from '../patterns.js'
import { Fields, reportWrongType } from './fields.js'
import type { Reading } from './reading.js'

const OPTION_KEYS = ['message', 'suggestion', 'on_violation', 'unless_progress', 'shadow']
const VIOLATION_ACTIONS = ['interrupt', 'deny', 'park'] as const

interface RuleShape {
  readonly numbers: readonly string[]
  readonly pattern: string | null
}

const RULES: ReadonlyMap<string, RuleShape> = new Map<string, RuleShape>([
  ['repeated_command', { numbers: ['threshold', 'window'], pattern: 'pattern' }],
  ['repeated_file_edit', { numbers: ['threshold', 'window'], pattern: 'path_pattern' }],
  ['phase_timeout', { numbers: ['max_duration'], pattern: null }],
  ['token_budget', { numbers: ['max_tokens'], pattern: null }],
  ['require_commits', { numbers: ['lookback_phases'], pattern: null }],
])

export const RULE_TYPES: readonly string[] = [...RULES.keys()]

/** The rules of a phase, in either shape; `rule_id` in errors is `phase[index]`. */
export function readRules(reading: Reading, list: ListNode, phaseId: string): JsonObject[] {
  return list.items.flatMap((item, index) => readRule(reading, item, `${phaseId}[${index}]`))
}

function readRule(reading: Reading, item: SourceNode, ruleId: string): JsonObject[] {
  const named = nameOfRule(reading, item, ruleId)
  if (named === null) return []
  const { typeName, typeNode, body } = named
  const shape = RULES.get(typeName)
  if (shape === undefined) {
    reading.report({
      code: 'contract.unknown_rule_type',
      at: typeNode.at,
      message: `The rule type '${typeName}' is not known.`,
      remedy: `${formatDidYouMean(typeName, RULE_TYPES)}Known rules: ${RULE_TYPES.join(', ')}.`,
      extra: { rule_id: ruleId, type_name: typeName },
    })
    return []
  }
  const keys = [...shape.numbers, ...(shape.pattern === null ? [] : [shape.pattern]), ...OPTION_KEYS]
  const fields = Fields.openFields(reading, body, body === item ? ['type', ...keys] : keys)
  if (fields === null) return []
  const rule: Record<string, Json> = { type: typeName }
  for (const key of shape.numbers) rule[key] = readCount(fields, key, ruleId)
  if (shape.pattern !== null && fields.has(shape.pattern))
    rule[shape.pattern] = readRulePattern(fields, shape.pattern, ruleId)
  for (const key of ['message', 'suggestion']) if (fields.has(key)) rule[key] = fields.getText(key)
  rule.on_violation = fields.choice('on_violation', VIOLATION_ACTIONS, 'interrupt')
  for (const key of ['unless_progress', 'shadow']) rule[key] = fields.getFlag(key, false)
  return [reading.made(rule, body)]
}

interface NamedRule {
  readonly typeName: string
  readonly typeNode: SourceNode | { readonly at: SourceNode['at'] }
  readonly body: SourceNode
}

function nameOfRule(reading: Reading, item: SourceNode, ruleId: string): NamedRule | null {
  if (item.kind !== 'map') {
    reportWrongType(reading, item, 'a rule such as token_budget: {max_tokens: 5000}')
    return null
  }
  const type = item.entries.get('type')?.value
  if (type !== undefined) {
    const typeName = type.kind === 'scalar' ? String(type.value) : ''
    return { typeName, typeNode: type, body: item }
  }
  const [first, ...others] = item.entries
  if (first === undefined || others.length > 0) {
    reading.report({
      code: 'contract.missing_field',
      at: item.at,
      message: "A rule needs a 'type', or one key that names it.",
      remedy: `Known rules: ${RULE_TYPES.join(', ')}.`,
      extra: { rule_id: ruleId },
    })
    return null
  }
  return { typeName: first[0], typeNode: { at: first[1].keyAt }, body: emptyAsMap(first[1].value) }
}

// `- token_budget:` without a body is a rule whose fields are missing, and should be told so field by field.
function emptyAsMap(node: SourceNode): SourceNode {
  if (node.kind !== 'scalar' || node.value !== null) return node
  const empty: MapNode = { kind: 'map', at: node.at, keyAt: null, entries: new Map() }
  return empty
}

function readCount(fields: Fields, key: string, ruleId: string): number {
  const node = fields.get(key)
  if (node === undefined) {
    fields.reading.report({
      code: 'contract.missing_field',
      at: fields.node.keyAt ?? fields.node.at,
      message: `The rule is missing '${key}'.`,
      remedy: `Add ${key} as a positive integer.`,
      extra: { rule_id: ruleId, field: key },
    })
    return 1
  }
  const value = node.kind === 'scalar' ? node.value : null
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) return value
  const shown = node.kind === 'scalar' ? (typeof value === 'number' ? value : String(value)) : node.kind
  fields.reading.report({
    code: 'contract.invalid_rule_threshold',
    at: node.at,
    message: `The field '${key}' is ${shown}, not a positive integer.`,
    extra: { rule_id: ruleId, value: shown, field: key },
  })
  return 1
}

function readRulePattern(fields: Fields, key: string, ruleId: string): string {
  const pattern = fields.needText(key, '"npm (test|run build)"')
  const compiled = compilePattern(pattern)
  if (!compiled.ok) {
    fields.reading.report({
      code: 'contract.invalid_rule_pattern',
      at: fields.at(key),
      message: `The pattern '${pattern}' is refused: ${compiled.reason}.`,
      extra: { rule_id: ruleId, pattern, error: compiled.reason },
    })
  }
  return pattern
}
