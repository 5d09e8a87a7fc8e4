import type { CheckName } from '../../core/contract/contract.js'
import { CHECK_NAMES } from '../../core/contract/contract.js'
import { REVIEWER_NAME } from '../../core/reviews/review.js'
import { formatDidYouMean } from '../nearest.js'
import { findGlobProblem } from '../patterns.js'
import { has, when } from '../schema/conditions.js'
import {
  checked,
  choice,
  filled,
  type Kind,
  name,
  names,
  path,
  pattern,
  type TypeOf,
  text,
  texts,
} from '../schema/kinds.js'
import { maybe, need, object, otherwise, type ReadOf } from '../schema/object.js'
import type { Fields } from './fields.js'
import { findRuleAlias, RULE_ALIAS_NAMES } from './validation-rules.js'

const SEVERITIES = ['blocking', 'warning', 'info'] as const

const threshold: Kind<number> = {
  read: (node, { reading }) => {
    const { value } = node.kind === 'scalar' ? node : { value: null }
    if (typeof value === 'number' && value > 0 && value <= 100) return value
    const message = 'The threshold must be a percentage above 0 and at most 100.'
    reading.report({ code: 'contract.not_positive', at: node.at, message, remedy: 'Write for example 80.' })
    return null
  },
  blank: 100,
  json: { type: 'number', exclusiveMinimum: 0, maximum: 100 },
  words: 'percentage',
}

const reviews = checked(
  names,
  (given, bad, { key }) => {
    if (given.length === 0) bad(`The list '${key}' is empty.`)
    const remedy =
      'Use 1 to 64 of A-Z, a-z, 0-9, _, . and -, a letter or digit first: a reviewer is added under this name.'
    for (const name of given.filter((one) => !new RegExp(REVIEWER_NAME).test(one)))
      bad(`The review name '${name.slice(0, 80)}' is not accepted.`, remedy, 'contract.invalid_id')
  },
  { items: { type: 'string', pattern: REVIEWER_NAME }, minItems: 1 },
)

function findPathProblem(given: string): string | null {
  const problem = findGlobProblem(given)
  return problem === null ? null : `The path '${given}' is refused: ${problem}.`
}

const pathInTree = checked(path, (given, bad) => {
  const problem = findPathProblem(given)
  if (problem !== null) bad(problem)
})
const paths = checked(
  { ...texts, words: 'list of globs' },
  (given, bad, { key }) => {
    if (given.length === 0) bad(`The list '${key}' is empty.`)
    for (const problem of given.map(findPathProblem)) if (problem !== null) bad(problem)
  },
  { minItems: 1 },
)

/** Parameters of checks. */
const PARAMS = {
  threshold: maybe(threshold, 'The least line coverage.', '80', neededBy('coverage_threshold_met')),
  required_reviews: maybe(
    reviews,
    'The reviews that must be there, each 1 to 64 of A-Z, a-z, 0-9, _, . and -, a letter or digit first.',
    '[security, quality]',
    neededBy('all_review_models_completed'),
  ),
  when: maybe(
    { ...filled, words: 'CEL expression' },
    'Must give true. Variables: `artifacts`, `evidence`, `task`, `observed`, `changes`.',
    '"size(artifacts.plan_document.open_questions) == 0"',
    neededBy('expression'),
  ),
  run: maybe(filled, 'The command that must exit with 0.', '"npm run lint"', {
    words: 'command line',
    unset: '`command_succeeds`: this or `command`',
  }),
  command: maybe(name, 'An entry of `commands`.', 'tests', { unset: '`command_succeeds`: this or `run`' }),
  path: maybe(pathInTree, 'A file of the work tree.', 'CHANGELOG.md', neededBy('file_exists', 'json_valid')),
  pattern: maybe(pattern, 'What must not occur.', '"TODO"', neededBy('no_pattern')),
  paths: maybe(paths, 'Where it must not occur.', '["src/**"]', neededBy('no_pattern')),
}

function neededBy(...checks: readonly CheckName[]): { readonly unset: string } {
  return { unset: `required for ${checks.map((check) => `\`${check}\``).join(', ')}` }
}
export type BlockerParams = ReadOf<typeof PARAMS>
type ParamKey = keyof typeof PARAMS
const PARAM_KEYS = Object.keys(PARAMS) as ParamKey[]

/** The parameters of each check: all of `needs` are required, and exactly one of `oneOf`. */
const TAKEN: ReadonlyMap<CheckName, { readonly needs?: readonly ParamKey[]; readonly oneOf?: readonly ParamKey[] }> =
  new Map([
    ['coverage_threshold_met', { needs: ['threshold'] }],
    ['all_review_models_completed', { needs: ['required_reviews'] }],
    ['command_succeeds', { oneOf: ['run', 'command'] }],
    ['file_exists', { needs: ['path'] }],
    ['json_valid', { needs: ['path'] }],
    ['no_pattern', { needs: ['pattern', 'paths'] }],
    ['expression', { needs: ['when'] }],
  ])

/** The parameters of each check as a JSON Schema; an alias has the parameters of its check. */
function describeParameters(key: 'check' | 'rule', aliases: Readonly<Record<string, CheckName>>) {
  const given = [...TAKEN].map(([check, { needs, oneOf }]) =>
    when(
      has(key, { const: check }),
      needs === undefined ? { oneOf: (oneOf ?? []).map((param) => has(param)) } : { required: needs },
    ),
  )
  const takers = (param: ParamKey): readonly string[] => {
    const checks: readonly string[] = [...TAKEN].flatMap(([check, { needs = [], oneOf = [] }]) =>
      [...needs, ...oneOf].includes(param) ? [check] : [],
    )
    return [...checks, ...Object.keys(aliases).filter((alias) => checks.includes(aliases[alias] ?? ''))]
  }
  const placed = PARAM_KEYS.map((param) => when(has(param), { properties: { [key]: { enum: takers(param) } } }))
  return { allOf: [...given, ...placed] }
}

const nameAmong = (names: readonly string[]): Kind<string> => ({ ...filled, json: { enum: names }, words: 'name' })

const COMMON = {
  severity: otherwise(
    choice(SEVERITIES, undefined, 'contract.unknown_severity'),
    'Whether it holds back the transition. Warnings are returned and recorded, never dropped.',
    'warning',
    { fallback: 'blocking' },
  ),
  message: otherwise(text, 'Shown to the agent when the check does not hold.', 'All tests must pass', {
    fallback: '',
  }),
  ...PARAMS,
}

/** A blocker of a gate. */
export const BLOCKER = object(
  'blocker',
  'Blockers',
  {
    check: need(nameAmong(CHECK_NAMES), 'The [check](#built-in-checks).', 'all_tests_pass'),
    ...COMMON,
  },
  {
    json: describeParameters('check', {}),
    finish: ({ check: name, ...rest }, fields) => {
      if (name === '') return null
      const check = checkNamed(name)
      if (check === undefined) {
        fields.reportBad(
          'check',
          'contract.unknown_check',
          `The check '${name}' is not known.`,
          formatKnownChecks(name),
        )
        return null
      }
      refuseOtherParams(fields, check, rest)
      needParams(fields, check)
      return { check, ...rest }
    },
  },
)
export type BlockerDocument = TypeOf<typeof BLOCKER>

/** A `validation` rule of a required artifact: the name of a check, or of a fact about the artifact, which is the owner. */
export const VALIDATION = object(
  'validation_rule',
  'Validation rules',
  {
    rule: need(
      nameAmong([...CHECK_NAMES, ...RULE_ALIAS_NAMES]),
      'A check, or one of the [facts about an artifact](#facts-about-an-artifact).',
      'has_summary',
    ),
    ...COMMON,
  },
  {
    json: describeParameters('rule', { all_reviews_completed: 'all_review_models_completed' }),
    finish: ({ rule: name, ...rest }, fields, { owner }) => {
      if (name === '') return null
      const alias = findRuleAlias(name, owner ?? '')
      const rule = alias?.check ?? checkNamed(name)
      if (rule === undefined) {
        fields.reportBad('rule', 'contract.unknown_check', `The rule '${name}' is not known.`, formatKnownChecks(name))
        return null
      }
      if (alias?.differs !== undefined) fields.reportBad('rule', 'contract.effect_differs', alias.differs)
      refuseOtherParams(fields, rule, rest)
      if (alias === undefined) needParams(fields, rule)
      return { rule, ...rest, ...alias?.params }
    },
  },
)
export type ValidationDocument = TypeOf<typeof VALIDATION>

function refuseOtherParams(fields: Fields, check: CheckName, params: BlockerParams): void {
  const { needs = [], oneOf = [] } = TAKEN.get(check) ?? {}
  const accepted: readonly ParamKey[] = [...needs, ...oneOf]
  for (const key of PARAM_KEYS) {
    if (!fields.has(key) || accepted.includes(key)) continue
    delete params[key]
    const takes = accepted.length === 0 ? 'nothing' : accepted.join(', ')
    const message = `The check ${check} takes no '${key}'.`
    fields.reportBad(key, 'contract.unknown_key', message, `It takes ${takes} beside its name.`)
  }
}

function needParams(fields: Fields, check: CheckName): void {
  const { needs = [], oneOf = [] } = TAKEN.get(check) ?? {}
  for (const key of needs) if (!fields.has(key)) fields.missing(key, PARAMS[key].example)
  if (oneOf.length > 0 && oneOf.filter((key) => fields.has(key)).length !== 1)
    fields.reportBad('check', 'contract.missing_field', `The check ${check} takes exactly one of ${oneOf.join(', ')}.`)
}

function checkNamed(name: string): CheckName | undefined {
  return CHECK_NAMES.find((check) => check === name)
}

function formatKnownChecks(name: string): string {
  return `${formatDidYouMean(name, CHECK_NAMES)}Known checks: ${CHECK_NAMES.join(', ')}.`
}
