import type { JsonObject } from '../json.js'
import type { Grade } from '../task/event.js'

/** What the inverted run shows of a test. `docs/inverted-run.md` explains each. */
export type TestVerdict = 'proved' | 'survived' | 'not_judged' | 'no_evidence'

/** One new or changed test with what its inverted run shows. */
export interface JudgedTest {
  /** As the plain run names it; as its file does where that run lists no tests that pass. */
  readonly id: string
  readonly file: string
  /** Null where the test cannot be found in its file. */
  readonly line: number | null
  readonly verdict: TestVerdict
  /** Why it is not proved, in plain words; null where it is. */
  readonly reason: string | null
  /** Set where the test was there before the task and its text is the same: it is held against nobody. */
  readonly isOld?: true
  /** Set where it passed as it is written, and not when its text was rewritten and what it expects was not. */
  readonly failsRewritten?: true
  /** Set where no rule knows its language or its assertion library. */
  readonly hasNoRules?: true
}

/** What the inverted run of new and changed tests showed. */
export interface InvertedRun {
  readonly tests: readonly JudgedTest[]
  /** Why none of them could be judged here; null where they were. */
  readonly problem: string | null
  /** Set where asking again may show something else: a run or a file took too long, or broke. */
  readonly isUnsettled?: true
  readonly durationMs: number
}

/** Whether Phaselock made or saw it itself. */
export function isObserved(grade: Grade | undefined): boolean {
  return grade === 'observed' || grade === 'proved'
}

/** What a run is worth: one whose new tests were seen failing once what they expect was changed is worth more. */
export function gradeRun({ inverted }: { readonly inverted?: InvertedRun }): 'observed' | 'proved' {
  const fresh = (inverted?.tests ?? []).filter(({ isOld }) => isOld !== true)
  const has = (verdict: TestVerdict): boolean => fresh.some((test) => test.verdict === verdict)
  const isForged = has('survived') || fresh.some(({ failsRewritten }) => failsRewritten === true)
  return has('proved') && !isForged ? 'proved' : 'observed'
}

/** In the words of the wire. */
export function toInvertedView({ tests, problem, durationMs }: InvertedRun, testsMax: number): JsonObject {
  const listed = tests.slice(0, testsMax).map(({ id, file, line, verdict, reason, isOld }) => ({
    ...{ id, file, line, verdict },
    ...(reason === null ? {} : { reason }),
    ...(isOld === true ? { old: true } : {}),
  }))
  return {
    ...countVerdicts(tests),
    ...(problem === null ? {} : { problem }),
    ...(testsMax === 0 ? {} : { tests: listed, tests_total: tests.length }),
    duration_ms: durationMs,
  }
}

/** How many tests have each verdict. */
export function countVerdicts(tests: readonly JudgedTest[]): Readonly<Record<TestVerdict, number>> {
  const counts = { proved: 0, survived: 0, not_judged: 0, no_evidence: 0 }
  for (const { verdict } of tests) counts[verdict] += 1
  return counts
}
