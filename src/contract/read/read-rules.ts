import type { JsonObject } from '../../core/json.js'
import type { SourceNode } from '../load/yaml.js'
import { formatDidYouMean } from '../nearest.js'
import { compilePattern } from '../patterns.js'
import { choice, emptyAsMap, filled, flag, type Kind, positive, type Scope, text, value } from '../schema/kinds.js'
import { maybe, need, object, otherwise, type Part, type Shape, unkept } from '../schema/object.js'
import { reportWrongType } from './fields.js'

/** A positive integer of a rule. */
const count: Kind<number> = {
  ...positive,
  json: { type: 'integer', minimum: 1 },
  reportMissing: ({ reading, node }, { key, owner }) =>
    reading.report({
      code: 'contract.missing_field',
      at: node.keyAt ?? node.at,
      message: `The rule is missing '${key}'.`,
      remedy: `Add ${key} as a positive integer.`,
      extra: { rule_id: owner ?? '', field: key },
    }),
  read: (node, { reading, key, owner }) => {
    const given = node.kind === 'scalar' ? node.value : null
    if (typeof given === 'number' && Number.isSafeInteger(given) && given >= 1) return given
    const shown = node.kind === 'scalar' ? (typeof given === 'number' ? given : String(given)) : node.kind
    reading.report({
      code: 'contract.invalid_rule_threshold',
      at: node.at,
      message: `The field '${key}' is ${shown}, not a positive integer.`,
      extra: { rule_id: owner ?? '', value: shown, field: key },
    })
    return null
  },
}

const rulePattern: Kind<string> = {
  ...filled,
  words: 'RE2 pattern',
  read: (node, scope) => {
    const given = filled.read(node, scope)
    const compiled = compilePattern(given ?? '')
    if (!compiled.ok)
      scope.reading.report({
        code: 'contract.invalid_rule_pattern',
        at: node.at,
        message: `The pattern '${given}' is refused: ${compiled.reason}.`,
        extra: { rule_id: scope.owner ?? '', pattern: given ?? '', error: compiled.reason },
      })
    return given
  },
}

const REPEATS = {
  threshold: need(count, 'How many repeats trigger the rule.', '5'),
  window: need(count, 'Repeats count within this many seconds.', '120'),
}
const OPTIONS = {
  message: maybe(text, 'Text of the interrupt.', 'Stop and think'),
  suggestion: maybe(text, 'What the agent is advised to do.', 'Read the error.', { unset: 'the built-in one' }),
  on_violation: otherwise(
    choice(['interrupt', 'deny', 'park'] as const),
    'Interrupt once, refuse matching calls until it is acknowledged, or park the task.',
    'deny',
    { fallback: 'interrupt' },
  ),
  unless_progress: otherwise(
    flag,
    'Count repeats only while the work tree and the failing tests stay the same.',
    'true',
    { fallback: false },
  ),
  shadow: otherwise(flag, 'Record, do not act.', 'true', { fallback: false }),
}

const RULES: Readonly<Record<string, Shape>> = {
  repeated_command: {
    ...REPEATS,
    pattern: maybe(rulePattern, 'What is counted together.', '"npm (test|run build)"', {
      unset: 'none: equal commands',
    }),
  },
  repeated_file_edit: {
    ...REPEATS,
    path_pattern: maybe(rulePattern, 'What is counted together.', '"src/.*"', { unset: 'none: equal paths' }),
  },
  phase_timeout: { max_duration: need(count, 'The longest a visit may last, in seconds.', '600') },
  token_budget: { max_tokens: need(count, 'The most tokens a visit may use.', '50000') },
  require_commits: { lookback_phases: need(count, 'A commit must exist in the last phases, this many at most.', '1') },
}

const RULE_TYPES: readonly string[] = Object.keys(RULES)

type RuleKind = Kind<JsonObject> & Part

/** The rule named by its key, and the rule named by its type. */
const SHAPES: ReadonlyMap<string, { readonly keyed: RuleKind; readonly typed: RuleKind }> = new Map(
  Object.entries(RULES).map(([type, fields]) => {
    const finish = (rule: object): JsonObject => ({ type, ...rule })
    const shape = { ...fields, ...OPTIONS }
    const named = { type: unkept(value, 'The type of the rule.', type, { json: { const: type } }), ...shape }
    const json = { required: ['type', ...Object.keys(fields).filter((key) => fields[key]?.isRequired)] }
    return [
      type,
      {
        keyed: object(type, type, shape, { finish }) as RuleKind,
        typed: object(type, `The rule ${type}, named by its type`, named, { finish, json }) as RuleKind,
      },
    ]
  }),
)

const RULE: Part = {
  name: 'rule',
  definition: {
    description: 'A rule, in either shape.',
    oneOf: [
      {
        type: 'object',
        description: 'The rule named by its key.',
        minProperties: 1,
        maxProperties: 1,
        properties: Object.fromEntries(
          [...SHAPES].map(([type, { keyed }]) => [type, { description: `The rule ${type}.`, ...keyed.json }]),
        ),
        additionalProperties: false,
      },
      ...[...SHAPES.values()].map(({ typed }) => typed.definition),
    ],
  },
  fields: {},
}

/** A rule of a phase, in either shape. The owner is its id: `PHASE[index]`. */
export const rule: Kind<JsonObject> = {
  read: (item, scope) => {
    const named = nameRule(item, scope)
    if (named === null) return null
    const { name, at, body } = named
    const shape = SHAPES.get(name)
    if (shape !== undefined) return (body === item ? shape.typed : shape.keyed).read(body, scope)
    scope.reading.report({
      code: 'contract.unknown_rule_type',
      at,
      message: `The rule type '${name}' is not known.`,
      remedy: `${formatDidYouMean(name, RULE_TYPES)}Known rules: ${RULE_TYPES.join(', ')}.`,
      extra: { rule_id: scope.owner ?? '', type_name: name },
    })
    return null
  },
  json: { $ref: '#/$defs/rule' },
  words: '[rules](#rules)',
  parts: [RULE, ...[...SHAPES.values()].map(({ keyed }) => keyed)],
}

interface NamedRule {
  readonly name: string
  readonly at: SourceNode['at']
  readonly body: SourceNode
}

function nameRule(item: SourceNode, { reading, owner }: Scope): NamedRule | null {
  if (item.kind !== 'map') return reportWrongType(reading, item, 'a rule such as token_budget: {max_tokens: 5000}')
  const type = item.entries.get('type')?.value
  if (type !== undefined) return { name: type.kind === 'scalar' ? String(type.value) : '', at: type.at, body: item }
  const [first, ...others] = item.entries
  // `- token_budget:` without a body is a rule whose fields are missing: each of them is reported.
  if (first !== undefined && others.length === 0)
    return { name: first[0], at: first[1].keyAt, body: emptyAsMap(first[1].value) }
  reading.report({
    code: 'contract.missing_field',
    at: item.at,
    message: "A rule needs a 'type', or one key that names it.",
    remedy: `Known rules: ${RULE_TYPES.join(', ')}.`,
    extra: { rule_id: owner ?? '' },
  })
  return null
}
