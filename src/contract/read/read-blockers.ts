import type { CheckName } from '../../core/contract/contract.js'
import { CHECK_NAMES } from '../../core/contract/contract.js'
import { REVIEWER_NAME } from '../../core/reviews/review.js'
import type { BlockerDocument, BlockerParams, ValidationDocument } from '../document.js'
import type { ListNode, SourceNode } from '../load/yaml.js'
import { formatDidYouMean } from '../nearest.js'
import { compilePattern, findGlobProblem } from '../patterns.js'
import { Fields } from './fields.js'
import type { Reading } from './reading.js'
import { findRuleAlias } from './validation-rules.js'

export const SEVERITIES = ['blocking', 'warning', 'info'] as const
const PARAM_KEYS = ['threshold', 'required_reviews', 'when', 'run', 'command', 'path', 'pattern', 'paths'] as const
type ParamKey = (typeof PARAM_KEYS)[number]
const REVIEW_NAME = new RegExp(REVIEWER_NAME)
const COMMON_KEYS = ['severity', 'message', ...PARAM_KEYS]

/** What each check takes beside its name: `needs` must be there, of `oneOf` exactly one. */
const PARAMS: ReadonlyMap<CheckName, { readonly needs?: readonly ParamKey[]; readonly oneOf?: readonly ParamKey[] }> =
  new Map([
    ['coverage_threshold_met', { needs: ['threshold'] }],
    ['all_review_models_completed', { needs: ['required_reviews'] }],
    ['command_succeeds', { oneOf: ['run', 'command'] }],
    ['file_exists', { needs: ['path'] }],
    ['json_valid', { needs: ['path'] }],
    ['no_pattern', { needs: ['pattern', 'paths'] }],
    ['expression', { needs: ['when'] }],
  ])

/** The blockers of a gate. */
export function readBlockers(reading: Reading, list: ListNode): BlockerDocument[] {
  return list.items.flatMap((item) => {
    const fields = Fields.openFields(reading, item, ['check', ...COMMON_KEYS])
    if (fields === null) return []
    const name = fields.needText('check', 'all_tests_pass')
    if (name === '') return []
    const check = checkNamed(name)
    if (check === undefined) {
      fields.reportBad('check', 'contract.unknown_check', `The check '${name}' is not known.`, formatKnownChecks(name))
      return []
    }
    return [reading.made({ check, ...readCommon(fields), ...readParams(fields, check, true) }, item)]
  })
}

/** The `validation` rules of a required artifact: names of checks, or of facts about the artifact. */
export function readValidation(reading: Reading, list: ListNode, artifactType: string): ValidationDocument[] {
  return list.items.flatMap((item) => readValidationRule(reading, item, artifactType))
}

function readValidationRule(reading: Reading, item: SourceNode, artifactType: string): ValidationDocument[] {
  const fields = Fields.openFields(reading, item, ['rule', ...COMMON_KEYS])
  if (fields === null) return []
  const name = fields.needText('rule', 'has_summary')
  if (name === '') return []
  const alias = findRuleAlias(name, artifactType)
  const rule = alias?.check ?? checkNamed(name)
  if (rule === undefined) {
    fields.reportBad('rule', 'contract.unknown_check', `The rule '${name}' is not known.`, formatKnownChecks(name))
    return []
  }
  if (alias?.differs !== undefined) fields.reportBad('rule', 'contract.effect_differs', alias.differs)
  const params =
    alias === undefined ? readParams(fields, rule, true) : { ...readParams(fields, rule, false), ...alias.params }
  return [reading.made({ rule, ...readCommon(fields), ...params }, item)]
}

function readCommon(fields: Fields): Pick<BlockerDocument, 'severity' | 'message'> {
  const severity = fields.choice('severity', SEVERITIES, 'blocking', 'contract.unknown_severity')
  return { severity, message: fields.getText('message') }
}

function readParams(fields: Fields, check: CheckName, isComplete: boolean): BlockerParams {
  const { needs = [], oneOf = [] } = PARAMS.get(check) ?? {}
  const accepted: readonly ParamKey[] = [...needs, ...oneOf]
  for (const key of PARAM_KEYS) {
    if (!fields.has(key) || accepted.includes(key)) continue
    const takes = accepted.length === 0 ? 'nothing' : accepted.join(', ')
    fields.reportBad(
      key,
      'contract.unknown_key',
      `The check ${check} takes no '${key}'.`,
      `It takes ${takes} beside its name.`,
    )
  }
  if (isComplete) {
    for (const key of needs) if (!fields.has(key)) fields.reportMissing(key, EXAMPLES[key])
    const given = oneOf.filter((key) => fields.has(key))
    if (oneOf.length > 0 && given.length !== 1) {
      fields.reportBad(
        'check',
        'contract.missing_field',
        `The check ${check} takes exactly one of ${oneOf.join(', ')}.`,
      )
    }
  }
  return readGivenParams(fields, accepted)
}

const EXAMPLES: Readonly<Record<ParamKey, string>> = {
  threshold: '80',
  required_reviews: '[security, quality]',
  when: '"size(artifacts.plan_document.open_questions) == 0"',
  run: '"npm run lint"',
  command: 'tests',
  path: 'CHANGELOG.md',
  pattern: '"TODO"',
  paths: '["src/**"]',
}

function readGivenParams(fields: Fields, accepted: readonly ParamKey[]): BlockerParams {
  const params: BlockerParams = {}
  for (const key of ['when', 'run', 'command', 'path', 'pattern'] as const) {
    if (fields.has(key) && accepted.includes(key)) params[key] = fields.needText(key, EXAMPLES[key])
  }
  if (params.pattern !== undefined && params.pattern !== '') {
    const compiled = compilePattern(params.pattern)
    if (!compiled.ok)
      fields.reportBad(
        'pattern',
        'contract.invalid_regex',
        `The pattern '${params.pattern}' is refused: ${compiled.reason}.`,
      )
  }
  if (fields.has('threshold') && accepted.includes('threshold')) params.threshold = readThreshold(fields)
  for (const key of ['required_reviews', 'paths'] as const) {
    const texts = accepted.includes(key) ? fields.getTexts(key) : null
    if (texts === null) continue
    params[key] = texts
    if (texts.length === 0) fields.reportBad(key, 'contract.invalid_value', `The list '${key}' is empty.`)
  }
  for (const name of params.required_reviews ?? []) {
    if (REVIEW_NAME.test(name)) continue
    const message = `The review name '${name.slice(0, 80)}' is not accepted.`
    const remedy =
      'Use 1 to 64 of A-Z, a-z, 0-9, _, . and -, a letter or digit first: a reviewer is let in under this name.'
    fields.reportBad('required_reviews', 'contract.invalid_id', message, remedy)
  }
  checkGlobs(fields, params)
  return params
}

function checkGlobs(fields: Fields, params: BlockerParams): void {
  const globs: readonly (readonly [key: 'path' | 'paths', glob: string])[] = [
    ...(params.path === undefined ? [] : [['path', params.path] as const]),
    ...(params.paths ?? []).map((glob) => ['paths', glob] as const),
  ]
  for (const [key, glob] of globs) {
    const problem = findGlobProblem(glob)
    if (problem !== null) fields.reportBad(key, 'contract.invalid_value', `The path '${glob}' is refused: ${problem}.`)
  }
}

function readThreshold(fields: Fields): number {
  const node = fields.get('threshold')
  const value = node?.kind === 'scalar' ? node.value : null
  if (typeof value === 'number' && value > 0 && value <= 100) return value
  fields.reportBad(
    'threshold',
    'contract.not_positive',
    'The threshold must be a percentage above 0 and at most 100.',
    'Write for example 80.',
  )
  return 100
}

function checkNamed(name: string): CheckName | undefined {
  return CHECK_NAMES.find((check) => check === name)
}

function formatKnownChecks(name: string): string {
  return `${formatDidYouMean(name, CHECK_NAMES)}Known checks: ${CHECK_NAMES.join(', ')}.`
}
