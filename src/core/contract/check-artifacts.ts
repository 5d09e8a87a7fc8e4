import type { CheckName } from './contract.js'

/** The artifact types a check reads; a contract does not load if no phase up to there requires one of them. */
export const CHECK_ARTIFACTS: ReadonlyMap<CheckName, readonly string[]> = new Map<CheckName, readonly string[]>([
  ['plan_has_acceptance_criteria', ['plan_document']],
  ['scope_is_bounded', ['scope_definition', 'plan_document']],
  ['tests_exist_for_acceptance_criteria', ['test_files']],
  ['tests_are_meaningful', ['test_files']],
  ['test_files_load', ['test_files']],
  ['examples_hold', ['plan_document']],
  ['test_files_follow_convention', ['test_files']],
  ['tests_are_failing', ['test_run_result']],
  ['all_tests_pass', ['test_run_result']],
  ['no_skipped_tests', ['test_run_result']],
  ['no_blocking_issues', ['review_report', 'review_results']],
  ['review_comments_addressed', ['review_report', 'review_results']],
  ['all_review_models_completed', ['review_report', 'review_results']],
])

const TEST_RUN = [
  'tests_are_failing',
  'all_tests_pass',
  'no_skipped_tests',
  'tests_can_fail',
  'tests_not_worse',
] as const

/** Checks whose artifact Phaselock produces when `commands.tests` is configured. */
export const CHECKS_OF_TEST_RUN: ReadonlySet<CheckName> = new Set<CheckName>(TEST_RUN)
