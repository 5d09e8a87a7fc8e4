import type { CheckName } from '../core/contract/contract.js'
import type { CheckOutcome } from '../core/task/command.js'
import { abortCheck, type Check, type CheckInputs } from './check-inputs.js'
import { checkNoCommentedOutCode } from './commented-out-code.js'
import {
  checkCommitted,
  checkTestFilesFollowConvention,
  checkTestsAreMeaningful,
  checkWorkTreeClean,
} from './diff-checks.js'
import { checkExamplesHold } from './examples/examples-hold.js'
import { checkExpression } from './expression-check.js'
import { checkFileExists, checkJsonValid, checkNoPattern } from './file-checks.js'
import { checkTestsCanFail } from './inverted/tests-can-fail.js'
import { checkCommandSucceeds, checkCoverageThreshold } from './observed-checks.js'
import {
  checkNoOpenQuestions,
  checkPlanHasCriteria,
  checkScopeIsBounded,
  checkTestsExistForCriteria,
} from './plan-checks.js'
import { checkQuotesHold } from './quotes-hold.js'
import { checkCommentsAddressed, checkNoBlockingIssues, checkReviewsCompleted } from './review-checks.js'
import { checkCoverageNotLower, checkTestFilesLoad, checkTestsNotWorse } from './start-checks.js'
import { checkAllTestsPass, checkNoSkippedTests, checkTestsAreFailing, checkTestsUnchanged } from './test-checks.js'
import { checkTestsAsAtStart } from './test-files/tests-as-at-start.js'

const CHECKS: ReadonlyMap<CheckName, Check> = new Map<CheckName, Check>([
  ['plan_has_acceptance_criteria', checkPlanHasCriteria],
  ['scope_is_bounded', checkScopeIsBounded],
  ['no_open_questions', checkNoOpenQuestions],
  ['tests_exist_for_acceptance_criteria', checkTestsExistForCriteria],
  ['tests_are_failing', checkTestsAreFailing],
  ['all_tests_pass', checkAllTestsPass],
  ['no_skipped_tests', checkNoSkippedTests],
  ['tests_unchanged', checkTestsUnchanged],
  ['tests_as_at_start', checkTestsAsAtStart],
  ['tests_not_worse', checkTestsNotWorse],
  ['test_files_load', checkTestFilesLoad],
  ['examples_hold', checkExamplesHold],
  ['tests_can_fail', checkTestsCanFail],
  ['no_blocking_issues', checkNoBlockingIssues],
  ['all_review_models_completed', checkReviewsCompleted],
  ['review_comments_addressed', checkCommentsAddressed],
  ['file_exists', checkFileExists],
  ['json_valid', checkJsonValid],
  ['no_pattern', checkNoPattern],
  ['expression', checkExpression],
  ['work_tree_clean', checkWorkTreeClean],
  ['committed', checkCommitted],
  ['test_files_follow_convention', checkTestFilesFollowConvention],
  ['tests_are_meaningful', checkTestsAreMeaningful],
  ['no_commented_out_code', checkNoCommentedOutCode],
  ['command_succeeds', checkCommandSucceeds],
  ['coverage_threshold_met', checkCoverageThreshold],
  ['coverage_not_lower', checkCoverageNotLower],
  ['quotes_hold', checkQuotesHold],
])

const CHECK_SECONDS_DEFAULT = 30
// A timer accepts at most 24 days; nobody waits a day for these checks.
const CHECK_SECONDS_MAX = 86_400

/** Runs one check. A check that crashes, hangs or does not exist is an error, and an error blocks. */
export async function runCheck(
  name: CheckName,
  inputs: CheckInputs,
  timeoutSeconds: number | null = null,
): Promise<CheckOutcome> {
  const seconds = Math.min(timeoutSeconds ?? CHECK_SECONDS_DEFAULT, CHECK_SECONDS_MAX)
  const check = CHECKS.get(name)
  if (check === undefined) return abortCheck('this version cannot run the check')
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<CheckOutcome>((resolve) => {
    timer = setTimeout(() => resolve(abortCheck(`not decided within ${seconds} s`)), seconds * 1000)
  })
  try {
    return await Promise.race([Promise.resolve().then(() => check(inputs)), deadline])
  } catch (error) {
    return abortCheck(`the check broke (${error instanceof Error ? error.message : 'unknown error'})`)
  } finally {
    clearTimeout(timer)
  }
}
