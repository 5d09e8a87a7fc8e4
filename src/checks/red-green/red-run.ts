import type { ObservedRun } from '../../core/evidence/observed-run.js'
import type { CheckOutcome } from '../../core/task/command.js'
import { type CheckInputs, fails, holds } from '../check-inputs.js'
import { countsText, namesText, whatWentWrong } from '../observed-runs/run-text.js'
import { isTestLike, namedTests } from '../test-files/test-files.js'
import { BaselineTests } from './baseline-tests.js'
import { fileOf, redFile } from './red-files.js'

const FILES_MAX = 200

/** What a RED run is held against. */
export type RedInputs = Pick<CheckInputs, 'contract' | 'tree' | 'start' | 'baseline' | 'noBaseline' | 'all'>

/** RED: something that the project does not do yet is tested, and fails for that reason. */
export async function observedFailing(run: ObservedRun, inputs: RedInputs): Promise<CheckOutcome> {
  const { baseline = null } = inputs
  const before = baseline === null ? null : new BaselineTests(baseline)
  const failing = failingTests(run, before)
  if (failing.result !== 'holds') return failing
  const notes = await notesAtRed(run, inputs, before)
  const unheld = before === null ? null : await provesNothing(run, inputs, before)
  return unheld === null ? holds(failing.found, 'observed', notes) : fails(unheld, 'observed')
}

/** Whether the run failed because of tests that fail or code that is not there yet, whichever tests these are. */
function failingTests(run: ObservedRun, before: BaselineTests | null): CheckOutcome {
  const loads = run.loadFailures.filter((one) => before?.didNotLoad(one) !== true)
  const broken = loads.find((one) => one.kind === 'syntax')
  if (broken !== undefined)
    return fails(
      `${broken.file ?? 'a test file'} has a syntax error, which does not count as a failing test: ${broken.message}`,
      'observed',
    )
  const missing = loads.filter((one) => one.kind === 'missing_module')
  if (run.exitCode === 0 && run.counts === null)
    return fails(`the run ended with exit code 0, and ${whatWentWrong(run)}`, 'observed', run.trouble)
  if (run.exitCode === 0) return fails(`the run ended with exit code 0${countsText(run)}`, 'observed')
  if (run.counts === null && missing.length === 0)
    return fails(`no failing test was seen: ${whatWentWrong(run)}`, 'observed', run.trouble)
  if (run.problem !== null && missing.length === 0) return fails(run.problem, 'observed', run.trouble)
  const failed = run.counts?.failed ?? 0
  if (failed === 0 && missing.length === 0) return fails(`no test failed${countsText(run)}`, 'observed')
  return holds(
    missing.length > 0 ? `${failed} failed, ${missing.length} wait for code that is not there yet` : `${failed} failed`,
    'observed',
  )
}

/** Why the failures of the run show nothing of this task; null when one of them does. */
async function provesNothing(run: ObservedRun, inputs: RedInputs, before: BaselineTests): Promise<string | null> {
  // What was skipped or lost on the way here cannot be mended once the tests are held.
  const skipped = before.newlySkippedIn(run)
  if (skipped.length > 0) return `ran before the task and are skipped now${namesText(skipped)}`
  const lost = run.loadFailures.length === 0 ? before.lostIn(run) : []
  if (lost.length > 0) return `ran before the task and are gone${namesText(lost)}`
  if (await failsUnnamed(run, inputs, before)) return null
  const refused: string[] = []
  for (const path of await filesWithFailures(run, inputs)) {
    const red = await redFile(inputs, run, path)
    if (red.failing.length > 0 || red.waits) return null
    refused.push(...red.refused.map(({ id, reason }) => `${id ?? path} ${reason}`))
  }
  const why = refused.length === 0 ? '' : `: ${refused.slice(0, 3).join('; ')}`
  return `no test that is new or changed fails for want of code${why}`
}

async function filesWithFailures(run: ObservedRun, inputs: RedInputs): Promise<ReadonlySet<string>> {
  const files = [
    ...namedTests(inputs).map(({ path }) => path),
    ...run.tests.filter((test) => test.status === 'failed').map((test) => test.file),
    ...run.loadFailures.map(fileOf),
  ]
  const isInside = (file: string | null): file is string => file !== null && !/^(?:\/|\.\.\/)/.test(file)
  const known = new Set(files.filter(isInside).slice(0, FILES_MAX))
  if (known.size > 0 && !run.tests.some((test) => test.status === 'failed' && test.file === null)) return known
  // Where the runner does not say the files, the tests of the project are looked through for the names.
  const tests = (await inputs.tree.list({ anywhere: new Set(['.git', 'node_modules']), atRoot: new Set() }))
    .map(({ path }) => path)
    .filter((path) => isTestLike(inputs.contract, path))
  return new Set([...known, ...tests.slice(0, FILES_MAX)])
}

// A runner that names no failing test leaves only the counts: more must fail than before.
async function failsUnnamed(run: ObservedRun, inputs: RedInputs, before: BaselineTests): Promise<boolean> {
  const isNamed = run.tests.some((test) => test.status === 'failed') || run.loadFailures.length > 0
  return (
    !isNamed && (run.counts?.failed ?? 0) > before.baseline.counts.failed && (inputs.contract.tests.repeat ?? 1) === 1
  )
}

async function notesAtRed(
  run: ObservedRun,
  inputs: RedInputs,
  before: BaselineTests | null,
): Promise<readonly string[]> {
  if (before === null)
    return [
      `There is no baseline: ${inputs.noBaseline ?? 'it was not run'}. Failures from before the task are not told apart`,
    ]
  const passing = before.isWhole ? run.tests.filter((test) => test.status === 'passed' && !before.has(test)) : []
  const old = run.tests.filter((test) => test.status === 'failed' && before.was(test, 'failed'))
  return [
    ...(passing.length === 0 ? [] : [`New tests that already pass${namesText(passing.map((test) => test.id))}`]),
    ...(old.length === 0 ? [] : [`Failed before the task too${namesText(old.map((test) => test.id))}`]),
    ...((run.flaky ?? []).length === 0 ? [] : [`Flaky, the result differs between runs${namesText(run.flaky ?? [])}`]),
  ]
}
