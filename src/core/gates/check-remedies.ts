import type { CheckName } from '../contract/contract.js'

const AGAIN = 'then request the transition again.'
const OPEN = 'This does not close the gate.'

/** The remedy for a check that runs only once nothing else blocks. */
export const POSTPONED_REMEDY = `Fix the other findings first, ${AGAIN}`

/** The remedy for a failed check, unless the check gives its own. */
export const CHECK_REMEDIES: Readonly<Record<CheckName, string>> = {
  plan_has_acceptance_criteria: `Give each entry of plan_document.acceptance_criteria a "criterion" and a "how_to_verify", ${AGAIN}`,
  scope_is_bounded: `List what is in scope and what is out of scope in plan_document.scope (or scope_definition), ${AGAIN}`,
  no_open_questions: `Answer every open question, remove it from the artifact, ${AGAIN}`,
  tests_exist_for_acceptance_criteria: `Write a failing test for each criterion that is named, list it in test_files under "covers", ${AGAIN}`,
  tests_are_failing: `Write a new test that fails because the code is missing, ${AGAIN}`,
  tests_are_meaningful: `Add an assertion to each test file that is named, ${AGAIN}`,
  test_files_follow_convention: `Rename the test files so that they match tests.patterns of the contract, ${AGAIN}`,
  all_tests_pass: `Change the code until the tests that are named pass, ${AGAIN}`,
  no_skipped_tests: `Enable the skipped tests, ${AGAIN}`,
  tests_unchanged: `Restore the test files that are named, or go back to the phase that writes tests, ${AGAIN}`,
  tests_as_at_start: `Put the tests that are named back as they were, ${AGAIN}`,
  tests_not_worse: `Change the code until every test that passed when the task began passes again, ${AGAIN}`,
  test_files_load: `Correct the test files that are named until they load and run, ${AGAIN}`,
  coverage_not_lower: `Remove new code that no test runs, or put back covered code that was removed, ${AGAIN}`,
  quotes_hold: `Copy each quote that is named exactly from its file, ${AGAIN}`,
  coverage_threshold_met: `Cover the untested lines with tests, ${AGAIN}`,
  examples_hold: `Change the code until every example gives what it expects, ${AGAIN}`,
  tests_can_fail: `Go back to the phase that writes tests, make each test that is named fail when its expected value is wrong, ${AGAIN}`,
  no_commented_out_code: `Delete the commented-out code in the files that are named, ${AGAIN}`,
  no_blocking_issues: `Fix the blocking issues, get a new review, ${AGAIN}`,
  all_review_models_completed: `Wait until every reviewer has reported, ${AGAIN}`,
  review_comments_addressed: `Settle each open review comment, mark it as {"comment": "…", "status": "resolved"}, ${AGAIN}`,
  command_succeeds: `Read the last lines of the command, fix what they show, ${AGAIN}`,
  file_exists: `Write the file that is named, ${AGAIN}`,
  no_pattern: `Remove the text that is named from the file, ${AGAIN}`,
  json_valid: `Write valid JSON to the file that is named, ${AGAIN}`,
  expression: `Send artifacts and evidence for which the condition is true, ${AGAIN}`,
  work_tree_clean: `Commit the changes with git_commit, or remove them, ${AGAIN}`,
  committed: `Commit the work with git_commit, ${AGAIN}`,
}

/** The remedy of a finding that does not close the gate: nothing has to be requested again for it. */
export function toWarningRemedy(remedy: string): string {
  return remedy.endsWith(`, ${AGAIN}`) ? `${remedy.slice(0, -AGAIN.length - 2)}. ${OPEN}` : remedy
}
