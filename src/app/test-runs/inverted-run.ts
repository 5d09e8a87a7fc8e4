import { COMPILED, findHeldLines, isWaiting, judgeTwins, type TwinRuns } from '../../checks/inverted/judge-twins.js'
import { narrowCommand } from '../../checks/inverted/narrow-command.js'
import { findNewResults, type IsNewResult } from '../../checks/inverted/new-results.js'
import {
  isOldTest,
  listSubjects,
  type OtherFile,
  type Subject,
  type TurnedFile,
} from '../../checks/inverted/subjects.js'
import { dropLinters } from '../../checks/inverted/without-linters.js'
import { judgePassing } from '../../checks/red-green/green-run.js'
import type { Composition } from '../../confinement/confinement.js'
import type { Contract } from '../../core/contract/contract.js'
import { type InvertedRun, isNewTest, type JudgedTest } from '../../core/evidence/inverted-run.js'
import type { Baseline, ObservedRun } from '../../core/evidence/observed-run.js'
import type { Needs } from '../../core/gates/needs.js'
import type { TaskState } from '../../core/task/state.js'
import { openWorkTree } from '../../tree/work-tree.js'
import type { App } from '../app.js'
import type { ComposedView } from './compose-view.js'
import { FILES_MAX, listNamedFiles, readTestTexts, type TestTexts, turnAround } from './inverted-files.js'
import { leaveOutOld, readOtherNames } from './new-test-files.js'
import { readPinnedRun } from './pinned-run.js'
import { countRounds, type InvertedInputs, Twins } from './twin-runs.js'

const SECONDS_MIN = 60
const PLAIN_RUNS = 3

export interface InvertedResult {
  readonly run: InvertedRun
  readonly isFresh: boolean
  /** Caches it: the same tests, code and setup are not run again in this visit. */
  keep(): void
}

/** The inverted run of a gate; null if no check needs one, or the tests do not pass yet. */
export async function gatherInvertedRun(
  app: App,
  contract: Contract,
  state: TaskState,
  work: Omit<InvertedInputs, 'composed'> & {
    readonly composed: ComposedView | null
    readonly needed: Needs
    readonly baseline: Baseline | null
    /** What the plain run depends on; null if unknown. */
    readonly key: string | null
  },
): Promise<InvertedResult | null> {
  const { plain, composed, needed } = work
  if (composed === null || !needed.checks.some(({ blocker }) => blocker.check === 'tests_can_fail')) return null
  const baseline = contract.tests.baseline === 'forbid' ? null : work.baseline
  const pinned = await readPinnedRun(app, state)
  const hasNewResult = findNewResults(pinned, work.baseline)
  if (judgePassing(plain, { pinned, baseline }).result !== 'holds') return null
  const tests = state.artifacts.get('test_files')?.sha256
  const key = JSON.stringify([work.key, state.id, state.visit, tests, contract.hash])
  const before = work.key === null ? undefined : app.observations.getInverted(key)
  if (before !== undefined) return { run: before, isFresh: false, keep: () => undefined }
  const run = await runInverted(app, contract, state, { ...work, composed, hasNewResult })
  if (run.tests.some(isDoubtful)) app.observations.addDoubt(state.id)
  // A run that was too slow or disturbed may succeed next time.
  const isSettled = work.key !== null && run.isUnsettled !== true
  return { run, isFresh: true, keep: () => (isSettled ? app.observations.setInverted(key, run) : undefined) }
}

/**
 * Runs new and changed tests twice more, each time in a separate view: once rewritten but not inverted, once inverted.
 * The output of these runs is never shown.
 */
async function runInverted(
  app: App,
  contract: Contract,
  state: TaskState,
  work: InvertedInputs & { readonly hasNewResult: IsNewResult },
): Promise<InvertedRun> {
  const started = performance.now()
  if (work.place.confinement.provider === 'none') return { tests: [], problem: NEEDS_SANDBOX, durationMs: 0 }
  const named = await listNamedFiles(app, state)
  const read = await readTestTexts(app, contract, state, { composition: work.composed.composition, named })
  const texts = await leaveOutOld(read, work)
  if (texts.tests.length > FILES_MAX) {
    const problem = `${texts.tests.length} test files are new or changed, and at most ${FILES_MAX} are judged`
    return { tests: [], problem, blocks: true, durationMs: 0 }
  }
  const msMax = (contract.tests.inverted?.maxSeconds ?? computeTimeout(work.plain)) * 1000
  const scripts = await readScripts(state, work.composed.composition)
  const { before, line } = dropLinters(work.command.run, scripts)
  const narrow = (tests: readonly string[]): string | null => {
    const some = narrowCommand(line, texts.tests, scripts, tests)
    return some === null ? null : `${before}${some}`
  }
  const rounds = countRounds(Math.max(app.observations.countDoubts(state.id), state.testsDoubted ?? 0))
  const twins = new Twins(work, { msMax, narrow, whole: `${before}${line}`, rounds })
  const others = await readOtherNames(texts.others, work)
  const unchanged = new Set(texts.tests.flatMap(({ path, text, before }) => (text === before ? [path] : [])))
  const suite = { plain: work.plain, others, unchanged, hasNewResult: work.hasNewResult }
  const { files, tests: judged } = await judgeInRounds(texts, twins, suite)
  const tests = await nameLines(judged, { texts, twins, suite })
  const isUnsettled = files.some(isCutShort) || tests.some(({ verdict }) => verdict === 'no_evidence')
  const durationMs = Math.round(performance.now() - started)
  return { tests, problem: null, durationMs, ...(isUnsettled ? { isUnsettled } : {}) }
}

/** This is what code that forges results by chance looks like when it guesses wrong. */
function isDoubtful(test: JudgedTest): boolean {
  return isNewTest(test) && (test.verdict === 'survived' || test.failsRewritten === true)
}

function isCutShort({ inversion }: TurnedFile): boolean {
  return inversion.outcome === 'not_judged' && /^(?:took_too_long|not_parsed)$/.test(inversion.reason)
}

const NEEDS_SANDBOX = 'the inverted run needs the sandbox, and commands run without it here'

function computeTimeout({ durationMs }: ObservedRun): number {
  return Math.max(SECONDS_MIN, Math.ceil((PLAIN_RUNS * durationMs) / 1000))
}

interface Round {
  readonly files: readonly TurnedFile[]
  readonly tests: readonly JudgedTest[]
}

/** What the tests to judge are found in. */
interface Suite {
  readonly plain: ObservedRun
  readonly others: readonly OtherFile[]
  /** Of the files with judged tests those that the task did not change. */
  readonly unchanged: ReadonlySet<string>
  readonly hasNewResult: IsNewResult
}

function listTests({ plain, others, hasNewResult }: Suite, files: readonly TurnedFile[]): readonly Subject[] {
  return listSubjects(plain, files, others, hasNewResult)
}

/** Names the old tests that are not inverted: of unchanged files all without a new result, of others if they may be spared. */
function spareOld({ sparesOld }: Twins, suite: Suite): (file: TurnedFile) => readonly string[] {
  return (file) => {
    if (!sparesOld && !suite.unchanged.has(file.path)) return []
    const fresh = new Set(listTests(suite, [file]).map((subject) => (isOldTest(subject) ? null : subject.found?.name)))
    return [...file.old].filter((name) => !fresh.has(name))
  }
}

/** Each round has new twins, and all rounds must agree on what is proved. */
async function judgeInRounds(texts: TestTexts, twins: Twins, suite: Suite): Promise<Round> {
  const first = await judgeOnce(texts, twins, suite)
  let { tests } = first
  for (let round = 1; round < twins.rounds; round += 1) {
    if (tests.some(isDoubtful) || !tests.some(isProved)) break
    twins.giveTime()
    twins.goesDown = !twins.goesDown
    const next = await judgeOnce(texts, twins, suite)
    tests = tests.map((test, index) => (isProved(test) ? (findAgain(test, index, next) ?? test) : test))
  }
  return { ...first, tests }
}

/** The same test in another round, which may have left the old tests out. */
function findAgain({ id, file }: JudgedTest, index: number, { tests }: Round): JudgedTest | undefined {
  const isSame = (test: JudgedTest | undefined): boolean => test?.id === id && test.file === file
  return isSame(tests[index]) ? tests[index] : tests.find(isSame)
}

async function judgeOnce(texts: TestTexts, twins: Twins, suite: Suite): Promise<Round> {
  const { isOuterOnly, goesDown, sparesOld } = twins
  const spare = spareOld(twins, suite)
  const turned = await turnAround(texts, { outerOnly: isOuterOnly, leavesCaught: isOuterOnly, goesDown, spare })
  const all = listTests(suite, turned.files)
  const isSpared = (subject: Subject): boolean =>
    isOldTest(subject) && (sparesOld || suite.unchanged.has(subject.file.path))
  const subjects = all.filter((subject) => !isSpared(subject))
  const runs = await twins.run(turned, subjects)
  if (runs !== null && twins.canSpare(turned, runs)) {
    twins.sparesOld = true
    twins.giveTime()
    return judgeOnce(texts, twins, suite)
  }
  const judged = judgeTwins(subjects, runs, suite.plain)
  if (twins.isOuterOnly) return { ...turned, tests: judged }
  return { ...turned, tests: await retryOuter({ judged, runs, subjects, texts, twins, suite }) }
}

/**
 * Tests that survived or did not end are inverted again in their outer assertions only: two inverted assertions may
 * have cancelled out, or one in a handler may have kept the test waiting.
 */
async function retryOuter(one: {
  readonly judged: readonly JudgedTest[]
  readonly runs: TwinRuns | null
  readonly subjects: readonly Subject[]
  readonly texts: TestTexts
  readonly twins: Twins
  readonly suite: Suite
}): Promise<readonly JudgedTest[]> {
  const { judged, subjects, texts, twins, suite } = one
  const isRetried = judged.map((test) => test.verdict === 'survived' || isWaiting(test, one.runs))
  const retried = subjects.filter((_, index) => isRetried[index])
  if (retried.length === 0) return judged
  const paths = new Set(retried.map(({ file }) => file.path))
  const tests = texts.tests.filter(({ path }) => paths.has(path))
  const isLate = one.runs?.isTurnedLate === true
  const how = { outerOnly: true, leavesCaught: isLate, goesDown: twins.goesDown, spare: spareOld(twins, suite) }
  const outer = await turnAround({ tests, helpers: [] }, how)
  if (isLate) twins.giveTime()
  const runs = await twins.run(outer, retried)
  if (runs === null) return judged
  const again = judgeTwins(subjects, runs, suite.plain)
  return judged.map((test, index) => {
    const next = again[index]
    if (isRetried[index] !== true || next?.verdict !== 'proved') return test
    twins.isDoubted ||= isDoubtful(test) || isWaiting(test, one.runs)
    twins.isOuterOnly ||= isLate
    return next
  })
}

/** Finds the lines of assertions that hold whatever they expect. Only reported: no decision depends on it. */
async function nameLines(
  tests: readonly JudgedTest[],
  { texts, twins, suite }: { readonly texts: TestTexts; readonly twins: Twins; readonly suite: Suite },
): Promise<readonly JudgedTest[]> {
  const survivors = tests.filter(({ verdict, file }) => verdict === 'survived' && !COMPILED.test(file))
  if (survivors.length === 0) return tests
  const turned = await turnAround(texts, { namesLines: true, spare: spareOld(twins, suite) })
  const lines = findHeldLines(listTests(suite, turned.files), await twins.runTurned(turned))
  return tests.map((test) => (survivors.includes(test) ? { ...test, heldLine: lines.get(test.id) ?? null } : test))
}

function isProved({ verdict }: JudgedTest): boolean {
  return verdict === 'proved'
}

async function readScripts({ workspace }: TaskState, { put }: Composition): Promise<Readonly<Record<string, unknown>>> {
  const entry = put.find(({ path }) => path === 'package.json')
  const file = await openWorkTree(workspace)
    .read('package.json')
    .catch(() => null)
  const content = entry?.type === 'file' ? entry.content : file
  try {
    const { scripts } = JSON.parse(content?.toString('utf8') ?? '{}') as { readonly scripts?: unknown }
    return typeof scripts === 'object' && scripts !== null ? (scripts as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
