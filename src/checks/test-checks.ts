import type { JsonObject } from '../core/json.js'
import { findSnapshotTest } from '../core/paths/snapshot-names.js'
import type { CheckOutcome } from '../core/task/command.js'
import {
  abortCheck,
  asObject,
  type Check,
  type CheckInputs,
  failCheck,
  getField,
  passCheck,
  postponed,
} from './check-inputs.js'
import { judgePassing, judgeSkipped, pickGreenAgainst } from './red-green/green-run.js'
import { judgeRed } from './red-green/red-run.js'
import { parseInlineKey } from './test-files/inline-tests.js'
import { addsSnapshotsOnly } from './test-files/snapshots.js'
import { findNewMarks, readMarks } from './test-files/test-marks.js'
import { findChangedBeforeRed, findChangedTestSetup } from './test-setup/moved-setup.js'

interface Run {
  readonly exitCode: number
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

// Only this visit's run counts: the result of an earlier phase says nothing about the current tree.
function runOf(inputs: CheckInputs): Run | CheckOutcome {
  if (inputs.contract.commands.has('tests')) return postponed('the tests were not run yet')
  const result = asObject(inputs.ofVisit.get('test_run_result'))
  if (result === null) return failCheck('there is no test_run_result of this phase')
  const counts = {
    exitCode: count(result, 'exit_code'),
    passed: count(result, 'passed'),
    failed: count(result, 'failed'),
    skipped: count(result, 'skipped'),
  }
  const { exitCode, passed, failed, skipped } = counts
  if (exitCode === null || passed === null || failed === null || skipped === null)
    return failCheck('test_run_result does not give exit_code, passed, failed and skipped as whole numbers')
  return { exitCode, passed, failed, skipped }
}

function count(result: JsonObject, name: string): number | null {
  const value = getField(result, name)
  return typeof value === 'number' && Number.isSafeInteger(value) && (value >= 0 || name === 'exit_code') ? value : null
}

export const checkTestsAreFailing: Check = async (inputs) => {
  const observed = inputs.observed.get('tests')
  if (observed !== undefined) {
    const moved = await findChangedBeforeRed(inputs)
    return moved.length > 0 ? failCheck(formatChanges(moved), 'observed') : judgeRed(observed, inputs)
  }
  const run = runOf(inputs)
  if ('result' in run) return run
  if (run.exitCode === 0)
    return failCheck(`the run ended with exit code 0 (${run.passed} passed, ${run.failed} failed)`)
  return run.failed > 0 ? passCheck(`${run.failed} failed`) : failCheck('no test failed')
}

export const checkAllTestsPass: Check = async (inputs) => {
  const observed = inputs.observed.get('tests')
  if (observed !== undefined) {
    const moved = await findChangedTestSetup(inputs)
    return moved.length > 0
      ? failCheck(formatChanges(moved), 'observed')
      : judgePassing(observed, pickGreenAgainst(inputs))
  }
  const run = runOf(inputs)
  if ('result' in run) return run
  if (run.failed > 0) return failCheck(`${run.failed} failed`)
  if (run.exitCode !== 0) return failCheck(`exit code ${run.exitCode}`)
  return run.passed > 0 ? passCheck(`${run.passed} passed`) : failCheck('no test passed')
}

export const checkNoSkippedTests: Check = async (inputs) => {
  const observed = inputs.observed.get('tests')
  if (observed !== undefined) {
    const before = inputs.pinnedRun?.marks
    const marked = before === undefined ? [] : findNewMarks(before, await readMarks(inputs.tree, inputs.contract))
    return judgeSkipped(observed, pickGreenAgainst(inputs), marked)
  }
  const run = runOf(inputs)
  if ('result' in run) return run
  return run.skipped === 0 ? passCheck('none skipped') : failCheck(`${run.skipped} skipped`)
}

const CHANGED_SHOWN_MAX = 5

/** The files recorded as tests at RED, and their test setup, are unchanged. Phaselock reads them itself. */
export const checkTestsUnchanged: Check = async (inputs) => {
  const { contract, pinnedTests, task, tree } = inputs
  if (pinnedTests === null && contract.phases.get(String(task.phase))?.isBeforeRed === true)
    return passCheck('no RED run came before', 'artifact')
  if (pinnedTests === null) return abortCheck('no test files were recorded at RED', 'artifact')
  const changed: string[] = []
  for (const [path, hash] of pinnedTests) {
    if (parseInlineKey(path) !== null) continue
    const now = await tree.hash(path)
    if (now === hash || (await hasNewSnapshotsOnly(inputs, path, hash))) continue
    changed.push(`${path} (${now === null ? 'deleted' : 'changed'})`)
  }
  changed.push(...((await inputs.movedInline?.()) ?? []))
  changed.push(...(await findChangedTestSetup(inputs)).filter((text) => !changed.some((one) => isSamePath(one, text))))
  if (changed.length === 0)
    return passCheck(
      `${pinnedTests.size} test ${pinnedTests.size === 1 ? 'file' : 'files'} unchanged since RED`,
      'artifact',
    )
  return failCheck(formatChanges(changed), 'artifact')
}

// New tests create snapshots when they first pass, in the snapshot file of their test file.
async function hasNewSnapshotsOnly({ tree, readPinned }: CheckInputs, path: string, hash: string): Promise<boolean> {
  if (findSnapshotTest(path) === null) return false
  const before = readPinned?.(path, hash) ?? null
  const now = (await tree.read(path))?.toString('utf8') ?? null
  return before !== null && now !== null && addsSnapshotsOnly(before, now)
}

function isSamePath(changed: string, moved: string): boolean {
  return moved.startsWith(`${changed.slice(0, changed.lastIndexOf(' ('))} `)
}

function formatChanges(changes: readonly string[]): string {
  const more = changes.length - CHANGED_SHOWN_MAX
  return `${changes.slice(0, CHANGED_SHOWN_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
