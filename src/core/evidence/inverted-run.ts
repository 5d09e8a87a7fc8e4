import type { JsonObject } from '../json.js'
import type { Grade } from '../task/fact-parts.js'

/** What the inverted run proves about a test. `docs/inverted-run.md` explains each verdict. */
type TestVerdict = 'proved' | 'survived' | 'not_judged' | 'no_evidence'

/** One new or changed test with its verdict. */
export interface JudgedTest {
  /** The name in the plain run; if that run lists no passing tests, the name in the file. */
  readonly id: string
  readonly file: string
  /** Null if the test is not found in its file. */
  readonly line: number | null
  readonly verdict: TestVerdict
  /** Why it is not proved, as text; null if it is. */
  readonly reason: string | null
  /** For a test that survived: the line of an assertion that holds whatever it expects; null if unknown. */
  readonly heldLine?: number | null
  /** Set if the test existed before the task with the same text and the same result: it blocks and proves nothing. */
  readonly isOld?: true
  /** Set if it passed as written, but failed when it was rewritten without inverting what it expects. */
  readonly failsRewritten?: true
  /** Set if no rule covers its language or assertion library. */
  readonly hasNoRules?: true
}

/** The result of the inverted run of new and changed tests. */
export interface InvertedRun {
  readonly tests: readonly JudgedTest[]
  /** Why none of them could be judged; null if they were. */
  readonly problem: string | null
  /** Set if the task itself is the reason: the gate stays closed. */
  readonly blocks?: true
  /** Set if asking again may give another result: a run or a file took too long, or failed. */
  readonly isUnsettled?: true
  readonly durationMs: number
}

/** Whether Phaselock made or observed it. */
export function isObserved(grade: Grade | undefined): boolean {
  return grade === 'observed' || grade === 'proved'
}

/** Whether the test is new or changed, by its text or by its result. */
export function isNewTest({ isOld }: JudgedTest): boolean {
  return isOld !== true
}

/** The grade of a run: higher if its new tests failed when their expectations were inverted. */
export function gradeRun({ inverted }: { readonly inverted?: InvertedRun }): 'observed' | 'proved' {
  const fresh = (inverted?.tests ?? []).filter(isNewTest)
  const has = (verdict: TestVerdict): boolean => fresh.some((test) => test.verdict === verdict)
  const isForged = has('survived') || fresh.some(({ failsRewritten }) => failsRewritten === true)
  return has('proved') && !isForged ? 'proved' : 'observed'
}

/** In wire format. */
export function toInvertedView({ tests, problem, durationMs }: InvertedRun, testsMax: number): JsonObject {
  const listed = tests.slice(0, testsMax).map((test) => ({
    ...{ id: test.id, file: test.file, line: test.line, verdict: test.verdict },
    ...(test.reason === null ? {} : { reason: test.reason }),
    ...(isNewTest(test) ? {} : { old: true }),
  }))
  return {
    ...countVerdicts(tests),
    ...countNewTests(tests),
    ...(problem === null ? {} : { problem }),
    ...(testsMax === 0 ? {} : { tests: listed, tests_total: tests.length }),
    duration_ms: durationMs,
  }
}

const WORST_FIRST = ['survived', 'no_evidence', 'not_judged', 'proved'] as const

/**
 * Number of tests per verdict that are new or changed, as they are written: a runner may report several tests for one,
 * such as the subtests of a Go function. The worst of them counts.
 */
function countNewTests(tests: readonly JudgedTest[]): JsonObject {
  const all = listNewVerdicts(tests)
  return Object.fromEntries(WORST_FIRST.map((name) => [`new_${name}`, all.filter((one) => one === name).length]))
}

/** The verdict on each new or changed test as it is written. */
export function listNewVerdicts(tests: readonly JudgedTest[]): readonly TestVerdict[] {
  const verdicts = new Map<string, TestVerdict>()
  for (const { id, file, line, verdict } of tests.filter(isNewTest)) {
    const key = JSON.stringify([file, line ?? id])
    const known = verdicts.get(key)
    verdicts.set(key, WORST_FIRST.find((one) => one === known || one === verdict) ?? verdict)
  }
  return [...verdicts.values()]
}

/** Number of tests per verdict. */
function countVerdicts(tests: readonly JudgedTest[]): Readonly<Record<TestVerdict, number>> {
  const counts = { proved: 0, survived: 0, not_judged: 0, no_evidence: 0 }
  for (const { verdict } of tests) counts[verdict] += 1
  return counts
}
