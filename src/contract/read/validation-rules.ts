import type { CheckName } from '../../core/contract/contract.js'
import type { BlockerParams } from '../document.js'

interface RuleAlias {
  readonly check: CheckName
  readonly params: BlockerParams
  /** The warning if the rule checks something other than its name says. */
  readonly differs?: string
}

type AliasOf = (artifact: string) => RuleAlias

const is =
  (check: CheckName): AliasOf =>
  () => ({ check, params: {} })
const fact =
  (when: (artifact: string) => string): AliasOf =>
  (artifact) => ({ check: 'expression', params: { when: when(artifact) } })
const requireFilled = (field: string): AliasOf => fact((artifact) => hasEntries(artifact, field))

/** The names that `validation` may use besides the names of checks. */
const ALIASES: ReadonlyMap<string, AliasOf> = new Map<string, AliasOf>([
  ['has_acceptance_criteria', is('plan_has_acceptance_criteria')],
  ['has_implementation_steps', requireFilled('implementation_steps')],
  ['has_in_scope', requireFilled('in_scope')],
  ['has_out_of_scope', requireFilled('out_of_scope')],
  ['tests_exist', requireFilled('test_files')],
  ['tests_cover_acceptance_criteria', is('tests_exist_for_acceptance_criteria')],
  ['tests_were_run', fact((artifact) => `${hasEntries(artifact, 'command')} && "exit_code" in ${artifact}`)],
  ['tests_failed', is('tests_are_failing')],
  ['tests_passed', is('all_tests_pass')],
  [
    'implementation_exists',
    fact((artifact) =>
      ['files_changed', 'files_created', 'files_modified']
        .map((field) => `(${hasEntries(artifact, field)})`)
        .join(' || '),
    ),
  ],
  [
    'matches_plan',
    () => ({
      check: 'expression',
      params: { when: '"plan_document" in artifacts' },
      differs:
        "The rule 'matches_plan' checks that an approved plan exists; a reviewer judges whether it was followed.",
    }),
  ],
  ['all_reviews_completed', is('all_review_models_completed')],
  ['has_summary', requireFilled('summary')],
  ['has_files_changed', requireFilled('files_changed')],
])

export const RULE_ALIAS_NAMES: readonly string[] = [...ALIASES.keys()]

/** What a `validation` rule name means for an artifact of this type; undefined when it is not an alias. */
export function findRuleAlias(name: string, artifactType: string): RuleAlias | undefined {
  const reference = /^[A-Za-z_][A-Za-z0-9_]*$/.test(artifactType)
    ? `artifacts.${artifactType}`
    : `artifacts[${JSON.stringify(artifactType)}]`
  return ALIASES.get(name)?.(reference)
}

function hasEntries(artifact: string, field: string): string {
  return `"${field}" in ${artifact} && size(${artifact}.${field}) > 0`
}
