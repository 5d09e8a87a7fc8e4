import type { Baseline, ObservedTest, PinnedRun } from '../../core/evidence/observed-run.js'
import { BaselineTests, parseTestName } from '../red-green/baseline-tests.js'

export type IsNewResult = (test: Pick<ObservedTest, 'id' | 'file' | 'status'>) => boolean

/**
 * Finds tests that are new by their result, although their text did not change: rows that were added to a table outside
 * of the test. Either no test of this name ran before the task, or it failed at RED and did not fail before.
 */
export function findNewResults(pinned: PinnedRun | null, baseline: Baseline | null): IsNewResult {
  const before = baseline === null ? null : new BaselineTests(baseline)
  const failed = new Map<string, readonly (string | null)[]>()
  for (const { id, file } of pinned?.failed ?? []) {
    const name = parseTestName(id)
    failed.set(name, [...(failed.get(name) ?? []), file])
  }
  return (test) => {
    if (before?.isFlaky(test) === true || before?.hadStatus(test, 'failed') === true) return false
    if (before?.isWhole === true && !before.has(test)) return true
    const files = failed.get(parseTestName(test.id)) ?? []
    return files.some((file) => file === null || test.file === null || file === test.file)
  }
}
