import type { Baseline } from '../core/evidence/observed-run.js'
import { abortCheck, type Check, failCheck, passCheck, postponed } from './check-inputs.js'
import { explainFailedRun } from './observed-checks.js'
import { formatNames } from './observed-runs/run-text.js'
import { judgePassing, judgeSkipped, pickGreenAgainst } from './red-green/green-run.js'
import { listNamedTests } from './test-files/test-files.js'
import { findChangedTestSetup } from './test-setup/moved-setup.js'

/** Every test that passed when work began passes, none is gone or newly skipped, and new ones pass. */
export const checkTestsNotWorse: Check = async (inputs) => {
  const run = inputs.observed.get('tests')
  if (run === undefined) return postponed('the tests were not run yet', 'observed')
  const moved = await findChangedTestSetup(inputs)
  if (moved.length > 0) return failCheck(moved.join(', '), 'observed')
  const against = pickGreenAgainst(inputs)
  const passing = judgePassing(run, against)
  if (passing.result !== 'holds') return passing
  const skipped = judgeSkipped(run, against, [])
  if (skipped.result !== 'holds') return skipped
  return passCheck(passing.found, 'observed', [...(passing.notes ?? []), ...(skipped.notes ?? [])])
}

/** No file that `test_files` names failed to load: a test that did not run shows nothing. */
export const checkTestFilesLoad: Check = (inputs) => {
  const run = inputs.observed.get('tests')
  if (run === undefined) return postponed('the tests were not run yet', 'observed')
  const named = listNamedTests(inputs).flatMap(({ path }) => path ?? [])
  if (named.length === 0) return failCheck('test_files names no test file')
  const broken = run.loadFailures.filter(({ file }) => file === null || named.includes(file))
  if (broken.length === 0) return passCheck(`${named.length} test files ran`, 'observed')
  const told = broken.map(({ file, message }) => `${file ?? 'a file'} (${message.split('\n')[0]})`)
  return failCheck(`not loaded${formatNames(told)}`, 'observed')
}

/** The share of lines that tests run is not lower than when work began, or no more lines are without a test. */
export const checkCoverageNotLower: Check = async (inputs) => {
  const run = inputs.observed.get('coverage')
  if (run === undefined) return postponed('the coverage was not measured yet', 'observed')
  const before = readStart(inputs.baseline ?? null, inputs.noBaseline ?? null)
  if (typeof before === 'string') return abortCheck(`the coverage when work began is not known: ${before}`, 'observed')
  if (run.exitCode !== 0 && run.explainedBy === undefined) return explainFailedRun(run)
  if (run.coverage === null || run.lines === undefined)
    return failCheck(run.problem ?? 'no coverage was reported', 'observed', run.trouble)
  const moved = await findChangedTestSetup(inputs)
  if (moved.length > 0) return failCheck(moved.join(', '), 'observed')
  const missed = run.lines.found - run.lines.hit
  const missedBefore = before.found - before.hit
  const text = `${run.coverage} % of the lines (${missed} without a test), ${before.percent} % (${missedBefore}) when work began`
  return run.coverage >= before.percent || missed <= missedBefore
    ? passCheck(text, 'observed')
    : failCheck(text, 'observed')
}

type Covered = Exclude<NonNullable<Baseline['coverage']>, { readonly reason: string }>

function readStart(baseline: Baseline | null, why: string | null): Covered | string {
  if (baseline === null) return why ?? 'the tests were not run then'
  const { coverage } = baseline
  if (coverage === undefined) return 'it was not measured'
  return 'reason' in coverage ? coverage.reason : coverage
}
