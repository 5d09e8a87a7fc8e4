import type { CheckName } from '../core/contract/contract.js'
import type { CheckOutcome } from '../core/task/command.js'
import { type Check, type CheckInputs, errs } from './check-inputs.js'
import { noCommentedOutCode } from './commented-out-code.js'
import { committed, testFilesFollowConvention, testsAreMeaningful, workTreeClean } from './diff-checks.js'
import { examplesHold } from './examples/examples-hold.js'
import { expression } from './expression-check.js'
import { fileExists, jsonValid, noPattern } from './file-checks.js'
import { testsCanFail } from './inverted/tests-can-fail.js'
import { commandSucceeds, coverageThresholdMet } from './observed-checks.js'
import {
  noOpenQuestions,
  planHasAcceptanceCriteria,
  scopeIsBounded,
  testsExistForAcceptanceCriteria,
} from './plan-checks.js'
import { allReviewModelsCompleted, noBlockingIssues, reviewCommentsAddressed } from './review-checks.js'
import { allTestsPass, noSkippedTests, testsAreFailing, testsUnchanged } from './test-checks.js'

const CHECKS: ReadonlyMap<CheckName, Check> = new Map<CheckName, Check>([
  ['plan_has_acceptance_criteria', planHasAcceptanceCriteria],
  ['scope_is_bounded', scopeIsBounded],
  ['no_open_questions', noOpenQuestions],
  ['tests_exist_for_acceptance_criteria', testsExistForAcceptanceCriteria],
  ['tests_are_failing', testsAreFailing],
  ['all_tests_pass', allTestsPass],
  ['no_skipped_tests', noSkippedTests],
  ['tests_unchanged', testsUnchanged],
  ['examples_hold', examplesHold],
  ['tests_can_fail', testsCanFail],
  ['no_blocking_issues', noBlockingIssues],
  ['all_review_models_completed', allReviewModelsCompleted],
  ['review_comments_addressed', reviewCommentsAddressed],
  ['file_exists', fileExists],
  ['json_valid', jsonValid],
  ['no_pattern', noPattern],
  ['expression', expression],
  ['work_tree_clean', workTreeClean],
  ['committed', committed],
  ['test_files_follow_convention', testFilesFollowConvention],
  ['tests_are_meaningful', testsAreMeaningful],
  ['no_commented_out_code', noCommentedOutCode],
  ['command_succeeds', commandSucceeds],
  ['coverage_threshold_met', coverageThresholdMet],
])

const CHECK_SECONDS_DEFAULT = 30
// A timer takes no more than 24 days; nobody waits a day for these checks.
const CHECK_SECONDS_MAX = 86_400

/** Runs one check. A check that crashes, hangs or is not there is an error, and an error blocks. */
export async function runCheck(
  name: CheckName,
  inputs: CheckInputs,
  timeoutSeconds: number | null = null,
): Promise<CheckOutcome> {
  const seconds = Math.min(timeoutSeconds ?? CHECK_SECONDS_DEFAULT, CHECK_SECONDS_MAX)
  const check = CHECKS.get(name)
  if (check === undefined) return errs('this version cannot run the check')
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<CheckOutcome>((resolve) => {
    timer = setTimeout(() => resolve(errs(`not decided within ${seconds} s`)), seconds * 1000)
  })
  try {
    return await Promise.race([Promise.resolve().then(() => check(inputs)), deadline])
  } catch (error) {
    return errs(`the check broke (${error instanceof Error ? error.message : 'unknown error'})`)
  } finally {
    clearTimeout(timer)
  }
}
