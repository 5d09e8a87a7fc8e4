import type { CheckName } from '../../core/contract/contract.js'
import type { JsonObject } from '../../core/json.js'

const WHOLE: JsonObject = { type: 'integer' }
const FILLED: JsonObject = { type: 'array', minItems: 1 }
const TEXT: JsonObject = { type: 'string', minLength: 1 }
const SCOPE = makeObjectSchema({ in_scope: FILLED, out_of_scope: FILLED })

/** What each check needs in the artifacts it reads, by artifact type, as JSON Schemas. Any one of the types is enough. */
export const ARTIFACT_NEEDS: ReadonlyMap<CheckName, Readonly<Record<string, JsonObject>>> = new Map<
  CheckName,
  Readonly<Record<string, JsonObject>>
>([
  [
    'plan_has_acceptance_criteria',
    {
      plan_document: makeObjectSchema({
        acceptance_criteria: { ...FILLED, items: makeObjectSchema({ criterion: TEXT, how_to_verify: TEXT }) },
      }),
    },
  ],
  ['scope_is_bounded', { scope_definition: SCOPE, plan_document: makeObjectSchema({ scope: SCOPE }) }],
  [
    'tests_exist_for_acceptance_criteria',
    // Paths alone count if the contract's own schema accepts nothing else.
    {
      test_files: makeObjectSchema({
        test_files: { ...FILLED, items: { anyOf: [makeObjectSchema({ path: TEXT }), TEXT] } },
      }),
    },
  ],
  ['no_blocking_issues', makeReviewMembers({ blocking_issues: { type: 'array', maxItems: 0 } })],
  ['review_comments_addressed', makeReviewMembers({ reviews: { type: 'object' } })],
])

/** What `no_open_questions` accepts in every artifact of the phase. */
export const NO_OPEN_QUESTIONS: JsonObject = {
  properties: {
    open_questions: {
      anyOf: [
        { type: ['null', 'string'] },
        { type: 'array', items: { type: ['null', 'string'] } },
        { type: 'object', maxProperties: 0 },
      ],
    },
  },
}

/** The results of a run with which a check holds: `exit_code`, `passed`, `failed` and `skipped`. */
export const RUN_NEEDS: ReadonlyMap<CheckName, JsonObject> = new Map<CheckName, JsonObject>([
  ['tests_are_failing', makeObjectSchema({ exit_code: { ...WHOLE, not: { const: 0 } } })],
  [
    'all_tests_pass',
    makeObjectSchema({ exit_code: { const: 0 }, failed: { const: 0 }, passed: { ...WHOLE, minimum: 1 } }),
  ],
  ['no_skipped_tests', makeObjectSchema({ skipped: { const: 0 } })],
  ['command_succeeds', makeObjectSchema({ exit_code: { const: 0 } })],
  ['coverage_threshold_met', makeObjectSchema({ exit_code: { const: 0 } })],
])

/** The required result if the agent reports it. In an observed run a missing module counts as a failure too. */
export const REPORTED_RUN_NEEDS: ReadonlyMap<CheckName, readonly JsonObject[]> = new Map(
  (['tests_are_failing', 'all_tests_pass', 'no_skipped_tests'] as const).map((check) => [
    check,
    [
      makeObjectSchema({ exit_code: WHOLE, passed: WHOLE, failed: WHOLE, skipped: WHOLE }),
      RUN_NEEDS.get(check) ?? {},
      ...(check === 'tests_are_failing' ? [makeObjectSchema({ failed: { minimum: 1 } })] : []),
    ],
  ]),
)

/** The report that Phaselock assembles from the reviews. */
export const ASSEMBLED_REVIEW: JsonObject = {
  type: 'object',
  required: ['reviews', 'blocking_issues'],
  properties: {
    reviews: { type: 'object', minProperties: 1 },
    blocking_issues: { type: 'array' },
    consolidated_issues: { type: 'array' },
  },
  additionalProperties: false,
}

/** An object with these members. */
export function makeObjectSchema(members: Readonly<Record<string, JsonObject>>): JsonObject {
  return { type: 'object', required: Object.keys(members), properties: members }
}

function makeReviewMembers(members: Readonly<Record<string, JsonObject>>): Readonly<Record<string, JsonObject>> {
  return { review_report: makeObjectSchema(members), review_results: makeObjectSchema(members) }
}
