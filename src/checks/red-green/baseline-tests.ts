import type { Baseline, ObservedLoadFailure, ObservedRun, ObservedTest } from '../../core/evidence/observed-run.js'

type ReportedTest = Pick<ObservedTest, 'id' | 'status' | 'file'>

/**
 * The name of a test without the number that distinguishes tests of the same name, because others of that name may come
 * before it.
 */
export function parseTestName(id: string): string {
  return id.replace(/ #\d{1,9}$/, '')
}

/**
 * Known results of tests before the task. Tests of one name are distinguished by their file, if the runner reports it.
 */
export class BaselineTests {
  readonly #byName = new Map<string, ReportedTest[]>()
  readonly #flaky: ReadonlySet<string>

  constructor(readonly baseline: Baseline) {
    for (const test of baseline.tests) {
      const name = parseTestName(test.id)
      this.#byName.set(name, [...(this.#byName.get(name) ?? []), test])
    }
    this.#flaky = new Set(baseline.flaky.map(parseTestName))
  }

  /** Every test of the tree is known by its name. */
  get isWhole(): boolean {
    return this.baseline.isComplete && this.baseline.reason === null
  }

  has(test: ReportedTest): boolean {
    return this.#same(test).length > 0
  }

  hadStatus(test: ReportedTest, status: ObservedTest['status']): boolean {
    return this.#same(test).some((one) => one.status === status)
  }

  isFlaky({ id }: Pick<ReportedTest, 'id'>): boolean {
    return this.#flaky.has(parseTestName(id))
  }

  /** The tests that had the same result before, at most as many of one name as then. */
  asBefore<T extends ReportedTest>(tests: readonly T[], statuses: readonly ObservedTest['status'][]): ReadonlySet<T> {
    const taken = new Map<string, number>()
    return new Set(
      tests.filter((test) => {
        const name = parseTestName(test.id)
        const same = this.#same(test)
        const most = this.isFlaky(test) ? same.length : same.filter((one) => statuses.includes(one.status)).length
        const count = (taken.get(name) ?? 0) + 1
        if (count > most) return false
        taken.set(name, count)
        return true
      }),
    )
  }

  /** Names of tests that ran before the task and are missing from the run. */
  findLostTests(run: ObservedRun): readonly string[] {
    if (!this.isWhole || !run.isComplete) return []
    const now = new Map<string, number>()
    for (const { id } of run.tests) now.set(parseTestName(id), (now.get(parseTestName(id)) ?? 0) + 1)
    return [...this.#byName].flatMap(([name, tests]) => {
      const ran = tests.filter(hasRun).length
      return ran > 0 && (now.get(name) ?? 0) < ran ? [name] : []
    })
  }

  /** How many fewer tests the run has than before, if not all names are known. */
  countMissingTests(run: ObservedRun): number {
    if (this.baseline.reason !== null || (this.isWhole && run.isComplete)) return 0
    return Math.max(0, sumCounts(this.baseline.counts) - sumCounts(run.counts))
  }

  /** Names of tests that ran before the task and are skipped in the run. */
  findNewlySkipped(run: ObservedRun): readonly string[] {
    const left = run.tests.filter(isLeftOut)
    const asBefore = this.asBefore(left, ['skipped', 'todo'])
    return left.filter((test) => !asBefore.has(test) && this.#same(test).some(hasRun)).map((test) => test.id)
  }

  hadLoadFailure(failure: ObservedLoadFailure): boolean {
    return this.baseline.loadFailures.some(
      ({ file, kind, module }) =>
        file === failure.file && kind === failure.kind && (module ?? null) === (failure.module ?? null),
    )
  }

  #same(test: ReportedTest): readonly ReportedTest[] {
    const named = this.#byName.get(parseTestName(test.id)) ?? []
    return named.filter((one) => one.file === null || test.file === null || one.file === test.file)
  }
}

export function isLeftOut({ status }: ReportedTest): boolean {
  return status === 'skipped' || status === 'todo'
}

function hasRun({ status }: ReportedTest): boolean {
  return status === 'passed' || status === 'failed'
}

function sumCounts(counts: ObservedRun['counts']): number {
  return counts === null ? 0 : counts.passed + counts.failed + counts.skipped
}
