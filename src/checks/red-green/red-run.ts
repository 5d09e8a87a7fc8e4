import type { ObservedRun } from '../../core/evidence/observed-run.js'
import type { CheckOutcome } from '../../core/task/command.js'
import { formatCount } from '../../core/text.js'
import { type CheckInputs, failCheck, passCheck } from '../check-inputs.js'
import { describeFailure, formatCounts, formatNames } from '../observed-runs/run-text.js'
import { listNamedTests } from '../test-files/test-files.js'
import { BaselineTests } from './baseline-tests.js'
import { findFile, inspectRedFile, listTestLike } from './red-files.js'

const FILES_MAX = 200
const UNLOADED_SHOWN_MAX = 5

/** What a RED run is compared with. */
export type RedInputs = Pick<CheckInputs, 'contract' | 'tree' | 'start' | 'baseline' | 'noBaseline' | 'all'>

/** RED: a test of missing behaviour fails for that reason. */
export async function judgeRed(run: ObservedRun, inputs: RedInputs): Promise<CheckOutcome> {
  const { baseline = null } = inputs
  const before = baseline === null ? null : new BaselineTests(baseline)
  const failing = judgeFailing(run, before)
  if (failing.result !== 'holds') return failing
  const notes = await buildRedNotes(run, inputs, before)
  const unheld = before === null ? null : await explainNoProof(run, inputs, before)
  return unheld === null ? passCheck(failing.found, 'observed', notes) : failCheck(unheld, 'observed')
}

/** Whether the run failed because tests fail or code is missing, whichever tests these are. */
function judgeFailing(run: ObservedRun, before: BaselineTests | null): CheckOutcome {
  const loads = run.loadFailures.filter((failure) => before?.hadLoadFailure(failure) !== true)
  const broken = loads.find((load) => load.kind === 'syntax')
  if (broken !== undefined)
    return failCheck(
      `${broken.file ?? 'a test file'} has a syntax error, which does not count as a failing test: ${broken.message}`,
      'observed',
    )
  const missing = loads.filter((load) => load.kind === 'missing_module')
  if (run.exitCode === 0 && run.counts === null)
    return failCheck(`the run ended with exit code 0, and ${describeFailure(run)}`, 'observed', run.trouble)
  if (run.exitCode === 0)
    return failCheck(`the run ended with exit code 0${formatCounts(run)}${formatUnloaded(run, before)}`, 'observed')
  if (run.counts === null && missing.length === 0)
    return failCheck(`no failing test was seen: ${describeFailure(run)}`, 'observed', run.trouble)
  if (run.problem !== null && missing.length === 0) return failCheck(run.problem, 'observed', run.trouble)
  const failed = run.counts?.failed ?? 0
  if (failed === 0 && missing.length === 0)
    return failCheck(`no test failed${formatCounts(run)}${formatUnloaded(run, before)}`, 'observed')
  return passCheck(missing.length > 0 ? formatWaiting(failed, missing.length) : `${failed} failed`, 'observed')
}

/** The files that did not load, each with its error; '' when all did. */
function formatUnloaded({ loadFailures }: ObservedRun, before: BaselineTests | null): string {
  if (loadFailures.length === 0) return ''
  const shown = loadFailures.slice(0, UNLOADED_SHOWN_MAX).map((failure) => {
    const why = [failure.message, ...(before?.hadLoadFailure(failure) === true ? ['as before the task'] : [])]
    return `${failure.file ?? 'a file that the runner does not name'} (${why.filter((text) => text !== '').join('; ') || 'no error was reported'})`
  })
  const more = loadFailures.length > shown.length ? ' …' : ''
  return `; ${formatCount(loadFailures.length, 'file')} did not load, which counts only where code is missing: ${shown.join(', ')}${more}`
}

function formatWaiting(failed: number, missing: number): string {
  const wait = `${missing === 1 ? '1 file or package waits' : `${missing} files or packages wait`} for code that is not there yet`
  return failed === 0 ? wait : `${failed} failed, ${wait}`
}

/** Why the failures of the run show nothing about this task; null when one of them does. */
async function explainNoProof(run: ObservedRun, inputs: RedInputs, before: BaselineTests): Promise<string | null> {
  // Tests that were skipped or lost before RED cannot be corrected once the tests are pinned.
  const skipped = before.findNewlySkipped(run)
  if (skipped.length > 0) return `tests that ran before the task are skipped now${formatNames(skipped)}`
  const lost = run.loadFailures.length === 0 ? before.findLostTests(run) : []
  if (lost.length > 0) return `tests that ran before the task are gone${formatNames(lost)}`
  if (await hasUnnamedFailures(run, inputs, before)) return null
  const refused: string[] = []
  for (const path of await listFailingFiles(run, inputs)) {
    const red = await inspectRedFile(inputs, run, path)
    if (red.failing.length > 0 || red.waits) return null
    refused.push(...red.refused.map(({ id, reason }) => `${id ?? path} ${reason}`))
  }
  const why = refused.length === 0 ? '' : `: ${refused.slice(0, 3).join('; ')}`
  return `no new or changed test fails because code is missing${why}`
}

async function listFailingFiles(run: ObservedRun, inputs: RedInputs): Promise<ReadonlySet<string>> {
  const files = [
    ...listNamedTests(inputs).map(({ path }) => path),
    ...run.tests.filter((test) => test.status === 'failed').map((test) => test.file),
    ...run.loadFailures.map(findFile),
  ]
  const isInside = (file: string | null): file is string => file !== null && !/^(?:\/|\.\.\/)/.test(file)
  const known = new Set(files.filter(isInside).slice(0, FILES_MAX))
  if (known.size > 0 && !run.tests.some((test) => test.status === 'failed' && test.file === null)) return known
  // If the runner does not report the files, the tests of the project are searched for the names.
  return new Set([...known, ...(await listTestLike(inputs.contract, inputs.tree))])
}

// A runner that names no failing test leaves only the counts: more must fail than before.
async function hasUnnamedFailures(run: ObservedRun, inputs: RedInputs, before: BaselineTests): Promise<boolean> {
  const isNamed = run.tests.some((test) => test.status === 'failed') || run.loadFailures.length > 0
  return (
    !isNamed && (run.counts?.failed ?? 0) > before.baseline.counts.failed && (inputs.contract.tests.repeat ?? 1) === 1
  )
}

async function buildRedNotes(
  run: ObservedRun,
  inputs: RedInputs,
  before: BaselineTests | null,
): Promise<readonly string[]> {
  if (before === null)
    return [
      `There is no baseline: ${inputs.noBaseline ?? 'it was not run'}. Failures from before the task cannot be recognised`,
    ]
  const passing = before.isWhole ? run.tests.filter((test) => test.status === 'passed' && !before.has(test)) : []
  const old = run.tests.filter((test) => test.status === 'failed' && before.hadStatus(test, 'failed'))
  return [
    ...(passing.length === 0 ? [] : [`New tests that already pass${formatNames(passing.map((test) => test.id))}`]),
    ...(old.length === 0 ? [] : [`Failed before the task too${formatNames(old.map((test) => test.id))}`]),
    ...((run.flaky ?? []).length === 0
      ? []
      : [`Flaky, the result differs between runs${formatNames(run.flaky ?? [])}`]),
  ]
}
