import type { CheckOutcome } from '../core/command.js'
import type { ObservedRun, PinnedRun } from '../core/observed.js'
import { counted } from '../core/rules/words.js'
import { commandOf } from './gate-commands.js'
import { type Check, errs, fails, field, holds } from './inputs.js'
import { movedSetup, movedTestSetup } from './moved-setup.js'

const NAMED_MAX = 5

/** RED: something that the project does not do yet is tested, and fails for that reason. */
export function observedFailing(run: ObservedRun): CheckOutcome {
  const broken = run.loadFailures.find((one) => one.kind === 'syntax')
  if (broken !== undefined)
    return fails(
      `${broken.file ?? 'a test file'} has a syntax error, which is no failing test: ${broken.message}`,
      'observed',
    )
  const missing = run.loadFailures.filter((one) => one.kind === 'missing_module')
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

/** GREEN: everything passes, and what failed at RED is among it. */
export function observedPassing(run: ObservedRun, pinned: PinnedRun | null): CheckOutcome {
  if (run.counts === null) return fails(`${whatWentWrong(run)} (exit code ${run.exitCode})`, 'observed', run.trouble)
  const { passed, failed } = run.counts
  const failing = run.tests.filter((test) => test.status === 'failed').map((test) => test.id)
  if (failed > 0) return fails(`${failed} failed${namesText(failing)}`, 'observed')
  if (run.loadFailures.length > 0) return fails(notLoadedText(run), 'observed')
  if (run.exitCode !== 0) return fails(`exit code ${run.exitCode}`, 'observed', run.trouble)
  if (run.problem !== null) return fails(run.problem, 'observed', run.trouble)
  if (passed === 0) return fails('no test passed', 'observed')
  const lost = notRun(run, pinned)
  if (lost.length > 0) {
    const shown = lost.slice(0, NAMED_MAX).join(', ')
    return fails(`${counted(lost.length, 'test')} recorded at RED did not run and pass: ${shown}`, 'observed')
  }
  return holds(`${passed} passed`, 'observed')
}

function notRun(run: ObservedRun, pinned: PinnedRun | null): readonly string[] {
  if (pinned === null) return []
  const passed = new Set(run.tests.filter((test) => test.status === 'passed').map((test) => test.id))
  const files = new Set(run.tests.map((test) => test.file))
  const knowsFiles = run.tests.some((test) => test.file !== null)
  return [
    ...pinned.ids.filter((id) => !passed.has(id)),
    ...pinned.unloaded.filter((file) => knowsFiles && !files.has(file)),
  ]
}

/** Nothing is left out, and nothing that ran at RED is marked to be. `marked` are the files with new marks. */
export function observedSkipped(run: ObservedRun, pinned: PinnedRun | null, marked: readonly string[]): CheckOutcome {
  if (run.counts === null) return fails(whatWentWrong(run), 'observed', run.trouble)
  const left = run.tests.filter((test) => LEFT_OUT.has(test.status)).map((test) => test.id)
  const ran = new Set(pinned?.ids ?? [])
  const newly = left.filter((id) => ran.has(id))
  if (newly.length > 0) return fails(`${newly.length} ran at RED and are skipped now${namesText(newly)}`, 'observed')
  const count = Math.max(run.counts.skipped, left.length)
  if (count > 0) return fails(`${count} skipped${namesText(left)}`, 'observed')
  return marked.length === 0
    ? holds('none skipped', 'observed')
    : fails(`marked to be left out since the RED run${namesText(marked)}`, 'observed')
}

// The cause says more than that nothing could be read.
function whatWentWrong({ problem, trouble, wasStopped }: ObservedRun): string {
  return trouble === undefined || wasStopped
    ? (problem ?? 'the counts are not known')
    : `${trouble.cause}: ${trouble.detail}`
}

const LEFT_OUT: ReadonlySet<string> = new Set(['skipped', 'todo'])

function countsText({ counts }: ObservedRun): string {
  return counts === null ? '' : ` (${counts.passed} passed, ${counts.failed} failed)`
}

// Nobody knows what is in a file that ended before its first test: it may not even have loaded.
function notLoadedText({ loadFailures }: ObservedRun): string {
  const files = loadFailures.flatMap(({ file }) => (file === null ? [] : [file]))
  const whose = loadFailures.length === 1 ? 'its' : 'their'
  const why = loadFailures[0]?.message ?? ''
  return `${counted(loadFailures.length, 'test file')} did not run ${whose} tests${namesText(files)}${why === '' ? '' : ` (${why})`}`
}

function namesText(names: readonly string[]): string {
  return names.length === 0 ? '' : `: ${names.slice(0, NAMED_MAX).join(', ')}${names.length > NAMED_MAX ? ' …' : ''}`
}

export const commandSucceeds: Check = async (inputs) => {
  const one = commandOf(inputs.contract, inputs.params)
  const run = one === null ? undefined : inputs.observed.get(one.key)
  if (one === null || run === undefined) return errs('the command was not run', 'observed')
  if (run.wasStopped) return fails(run.problem ?? 'it was stopped', 'observed', run.trouble)
  if (run.exitCode !== 0) return commandFailed(run)
  const moved = await movedSetup(inputs, one.key, one.command)
  return moved.length > 0 ? fails(moved.join(', '), 'observed') : holds(`${run.command} succeeded`, 'observed')
}

function commandFailed({ command, exitCode, trouble }: ObservedRun): CheckOutcome {
  const isNamed = trouble !== undefined && !trouble.detail.startsWith('exit code')
  const why = isNamed ? ` (${trouble.cause}: ${trouble.detail})` : ''
  return fails(`${command} ended with exit code ${exitCode}${why}`, 'observed', trouble)
}

export const coverageThresholdMet: Check = async (inputs) => {
  const { observed, params } = inputs
  const threshold = field(params, 'threshold')
  if (typeof threshold !== 'number') return errs('the check gives no threshold', 'observed')
  const run = observed.get('coverage')
  if (run === undefined) return errs('the contract has no command "coverage"', 'observed')
  if (run.exitCode !== 0) return commandFailed(run)
  if (run.coverage === null) return fails(run.problem ?? 'no coverage was reported', 'observed', run.trouble)
  const moved = await movedTestSetup(inputs)
  if (moved.length > 0) return fails(moved.join(', '), 'observed')
  const text = `${Math.round(run.coverage * 100) / 100} % of the lines, ${threshold} % asked for`
  return run.coverage >= threshold ? holds(text, 'observed') : fails(text, 'observed')
}
