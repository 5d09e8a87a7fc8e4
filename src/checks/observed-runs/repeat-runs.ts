import type { ObservedCommand } from '../../core/contract/contract.js'
import type { ObservedRun, ObservedTest } from '../../core/evidence/observed-run.js'
import { observe } from './observe.js'
import type { ShownPlace } from './run-in-view.js'

/** Runs a command as often as the contract asks, and names the tests whose result differs. One run that breaks ends it. */
export async function observeRepeatedly(
  place: ShownPlace,
  about: { readonly name: string; readonly command: ObservedCommand; readonly treeHash: string },
  times: number,
): Promise<ObservedRun> {
  const runs: ObservedRun[] = []
  for (let count = 0; count < times; count += 1) {
    const run = await observe(place, about.name, about.command, { treeHash: about.treeHash })
    if (times > 1 && (run.wasStopped || run.counts === null)) return run
    runs.push(run)
  }
  return mergeRuns(runs)
}

/** The run with the most failures, with the failures of the others added to it. */
function mergeRuns(runs: readonly ObservedRun[]): ObservedRun {
  const [first, ...others] = [...runs].sort((a, b) => (b.counts?.failed ?? 0) - (a.counts?.failed ?? 0))
  if (first === undefined) throw new Error('there is no run')
  if (others.length === 0) return first
  const byId = runs.map((run) => new Map(run.tests.map((test) => [test.id, test])))
  const ids = new Set(runs.flatMap((run) => run.tests.map((test) => test.id)))
  const flaky = [...ids].filter((id) => new Set(byId.map((tests) => tests.get(id)?.status)).size > 1)
  const isFlaky = new Set(flaky)
  const tests = first.tests.map((test) => (isFlaky.has(test.id) ? pickWorst(test, byId) : test))
  const more = tests.filter((test) => test.status === 'failed').length - countFailed(first.tests)
  const { passed, failed, skipped } = first.counts ?? { passed: 0, failed: 0, skipped: 0 }
  const counts = first.counts === null ? null : { passed: Math.max(0, passed - more), failed: failed + more, skipped }
  const durationMs = runs.reduce((sum, run) => sum + run.durationMs, 0)
  return { ...first, tests, counts, durationMs, flaky }
}

function pickWorst(test: ObservedTest, byId: readonly ReadonlyMap<string, ObservedTest>[]): ObservedTest {
  return byId.map((tests) => tests.get(test.id)).find((one) => one?.status === 'failed') ?? test
}

function countFailed(tests: readonly ObservedTest[]): number {
  return tests.filter((test) => test.status === 'failed').length
}
