import type { Baseline, ObservedRun, ObservedTest, PinnedRun } from '../../core/evidence/observed-run.js'
import type { CheckOutcome } from '../../core/task/command.js'
import { formatCount } from '../../core/text.js'
import { type CheckInputs, failCheck, passCheck } from '../check-inputs.js'
import { describeFailure, formatNames, formatNotLoaded, guardText } from '../observed-runs/run-text.js'
import { BaselineTests, isLeftOut } from './baseline-tests.js'
import { isRustUnitTest } from './red-files.js'

const NAMED_MAX = 5

/** What a GREEN run is compared with. */
interface GreenAgainst {
  readonly pinned: PinnedRun | null
  /** Null: no baseline is known, or the contract counts every failure. */
  readonly baseline: Baseline | null
}

export function pickGreenAgainst({
  contract,
  pinnedRun,
  baseline = null,
}: Pick<CheckInputs, 'contract' | 'pinnedRun' | 'baseline'>): GreenAgainst {
  return { pinned: pinnedRun, baseline: contract.tests.baseline === 'forbid' ? null : baseline }
}

/** GREEN: every new test passes, none is missing, and none that passed before fails. */
export function judgePassing(run: ObservedRun, { pinned, baseline }: GreenAgainst): CheckOutcome {
  if (run.counts === null)
    return failCheck(`${describeFailure(run)} (exit code ${run.exitCode})`, 'observed', run.trouble)
  const before = baseline === null ? null : new BaselineTests(baseline)
  const { passed, failed } = run.counts
  const failing = run.tests.filter((test) => test.status === 'failed')
  const old = before?.asBefore(failing, ['failed']) ?? new Set<ObservedTest>()
  if (failed > old.size) return failCheck(formatFailed(run, { before, old }), 'observed', run.trouble)
  const loads = run.loadFailures.filter((failure) => before?.hadLoadFailure(failure) !== true)
  if (loads.length > 0) return failCheck(formatNotLoaded(loads), 'observed')
  const isExplained = old.size > 0 || run.loadFailures.length > 0
  const isUsual = run.exitCode === baseline?.exitCode || run.exitCode === old.size
  if (run.exitCode !== 0 && !(isExplained && isUsual))
    return failCheck(
      `exit code ${run.exitCode}${isExplained ? formatUnexplained(baseline) : ''}`,
      'observed',
      run.trouble,
    )
  if (run.problem !== null) return failCheck(run.problem, 'observed', run.trouble)
  if (passed === 0) return failCheck('no test passed', 'observed')
  const lost = listNotRun(run, pinned, old)
  if (lost.length > 0) {
    const shown = lost.slice(0, NAMED_MAX).join(', ')
    return failCheck(`${formatCount(lost.length, 'test')} recorded at RED did not run and pass: ${shown}`, 'observed')
  }
  const gone = before?.findLostTests(run) ?? []
  if (gone.length > 0)
    return failCheck(
      `${formatCount(gone.length, 'test')} from before the task did not run${formatNames(gone)}`,
      'observed',
    )
  const fewer = before?.countMissingTests(run) ?? 0
  if (fewer > 0) return failCheck(`${formatCount(fewer, 'test')} that ran before the task did not run`, 'observed')
  const shown = [...old].map((test) => test.id)
  return passCheck(
    `${passed} passed`,
    'observed',
    shown.length === 0 ? [] : [`Failed before the task too${formatNames(shown)}`],
  )
}

/**
 * A run of the coverage command fails with every failing test, without naming it. If the tests of the same tree pass
 * except for failures from before the task, those explain it.
 */
export function explainCoverageFailures(coverage: ObservedRun, tests: ObservedRun, against: GreenAgainst): ObservedRun {
  const isUsual = [tests.exitCode, against.baseline?.exitCode, 1].includes(coverage.exitCode)
  const isPlain = coverage.exitCode !== 0 && coverage.coverage !== null && !coverage.wasStopped
  if (!isPlain || !isUsual || tests.exitCode === 0) return coverage
  if (judgePassing(tests, against).result !== 'holds') return coverage
  const failing = tests.tests.filter((test) => test.status === 'failed').map((test) => test.id)
  return { ...coverage, explainedBy: [...failing, ...tests.loadFailures.flatMap(({ file }) => file ?? [])] }
}

function formatFailed(
  run: ObservedRun,
  { before, old }: { readonly before: BaselineTests | null; readonly old: ReadonlySet<unknown> },
): string {
  const failing = run.tests.filter((test) => test.status === 'failed' && !old.has(test))
  const broken = failing.filter((test) => before?.hadStatus(test, 'passed') === true).map((test) => test.id)
  const flaky = failing.filter((test) => run.flaky?.includes(test.id) === true).map((test) => test.id)
  const passedBefore = broken.length === 0 ? '' : `. Passed before the task${formatNames(broken)}`
  const differing = flaky.length === 0 ? '' : `. Flaky (pass in some runs)${formatNames(flaky)}`
  const count = (run.counts?.failed ?? 0) - old.size
  return `${count} failed${formatNames(failing.map((test) => test.id))}${passedBefore}${differing}${guardText(failing.map((test) => test.message))}`
}

function formatUnexplained(baseline: Baseline | null): string {
  return `; the failures from before the task do not explain it (before the task it was ${baseline?.exitCode ?? 0})`
}

/**
 * Whether only tests that passed before the task fail: one of them may be flaky, so they run again on the next request.
 */
export function hasOnlyOldFailures(run: ObservedRun, baseline: Baseline): boolean {
  const before = new BaselineTests(baseline)
  const failing = run.tests.filter((test) => test.status === 'failed')
  return failing.length > 0 && failing.length === run.counts?.failed && failing.every((test) => before.has(test))
}

function listNotRun(run: ObservedRun, pinned: PinnedRun | null, old: ReadonlySet<ObservedTest>): readonly string[] {
  if (pinned === null) return []
  const ran = run.tests.filter((test) => test.status === 'passed' || old.has(test))
  const passed = new Set(ran.map((test) => test.id))
  const files = new Set(run.tests.map((test) => test.file))
  // Some runners report the file of a test only when it fails.
  const knowsFiles = run.tests.some((test) => test.file !== null && test.status === 'passed')
  const known = new Set(pinned.ids)
  const isMissed = knowsFiles
    ? (file: string): boolean => !files.has(file) && !ran.some((test) => isRustUnitTest(test, file) === true)
    : (): boolean => run.isComplete && ran.every((test) => known.has(test.id))
  return [...pinned.ids.filter((id) => !passed.has(id)), ...pinned.unloaded.filter(isMissed)]
}

/**
 * No test that ran before is skipped, and none that ran at RED is marked to be. `marked` are the files with new marks.
 */
export function judgeSkipped(
  run: ObservedRun,
  { pinned, baseline }: GreenAgainst,
  marked: readonly string[],
): CheckOutcome {
  if (run.counts === null) return failCheck(describeFailure(run), 'observed', run.trouble)
  const left = run.tests.filter(isLeftOut)
  const ran = new Set(pinned?.ids ?? [])
  const newly = left.filter(({ id }) => ran.has(id)).map(({ id }) => id)
  if (newly.length > 0) return failCheck(`${newly.length} skipped that ran at RED${formatNames(newly)}`, 'observed')
  const before = baseline === null ? null : new BaselineTests(baseline)
  const skipped = before?.findNewlySkipped(run) ?? []
  if (skipped.length > 0)
    return failCheck(`${skipped.length} skipped that ran before the task${formatNames(skipped)}`, 'observed')
  const old = before?.asBefore(left, ['skipped', 'todo']) ?? new Set<ObservedTest>()
  // If the names of the skipped tests are unknown, their number is used.
  const unnamed = before === null || before.isWhole ? 0 : before.baseline.counts.skipped - old.size
  const count = Math.max(run.counts.skipped, left.length) - old.size - Math.max(0, unnamed)
  const named = left.filter((test) => !old.has(test)).map(({ id }) => id)
  if (count > 0) return failCheck(`${count} skipped${formatNames(named)}`, 'observed')
  if (marked.length > 0) return failCheck(`skip marks were added since the RED run${formatNames(marked)}`, 'observed')
  const shown = [...old].map(({ id }) => id)
  return passCheck(
    formatOldSkips(Math.max(run.counts.skipped, left.length)),
    'observed',
    shown.length === 0 ? [] : [`Skipped before the task too${formatNames(shown)}`],
  )
}

function formatOldSkips(count: number): string {
  return count === 0
    ? 'none skipped'
    : `none skipped by the task; ${count} ${count === 1 ? 'was' : 'were'} skipped before it`
}
