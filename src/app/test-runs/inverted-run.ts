import {
  COMPILED,
  findHeldLines,
  isOldTest,
  isWaiting,
  judgeTwins,
  listSubjects,
  type Subject,
  type TurnedFile,
  type TwinRuns,
} from '../../checks/inverted/judge-twins.js'
import { narrowCommand } from '../../checks/inverted/narrow-command.js'
import { dropLinters } from '../../checks/inverted/without-linters.js'
import { judgePassing } from '../../checks/red-green/green-run.js'
import type { Composition } from '../../confinement/confinement.js'
import type { Contract } from '../../core/contract/contract.js'
import type { InvertedRun, JudgedTest } from '../../core/evidence/inverted-run.js'
import type { Baseline, ObservedRun } from '../../core/evidence/observed-run.js'
import type { Needs } from '../../core/gates/needs.js'
import type { TaskState } from '../../core/task/state.js'
import { openWorkTree } from '../../tree/work-tree.js'
import type { App } from '../app.js'
import type { ComposedView } from './compose-view.js'
import { FILES_MAX, listNamedFiles, readTestTexts, type TestTexts, turnAround } from './inverted-files.js'
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
  if (judgePassing(plain, { pinned, baseline }).result !== 'holds') return null
  const tests = state.artifacts.get('test_files')?.sha256
  const key = JSON.stringify([work.key, state.id, state.visit, tests, contract.hash])
  const before = work.key === null ? undefined : app.observations.getInverted(key)
  if (before !== undefined) return { run: before, isFresh: false, keep: () => undefined }
  const run = await runInverted(app, contract, state, { ...work, composed })
  if (run.tests.some(isDoubtful)) app.observations.addDoubt(state.id)
  // A run that was too slow or disturbed may succeed next time.
  const isSettled = work.key !== null && run.isUnsettled !== true
  return { run, isFresh: true, keep: () => (isSettled ? app.observations.setInverted(key, run) : undefined) }
}

/**
 * Runs new and changed tests twice more, each time in a separate view: once rewritten but not inverted, once inverted.
 * The output of these runs is never shown.
 */
async function runInverted(app: App, contract: Contract, state: TaskState, work: InvertedInputs): Promise<InvertedRun> {
  const started = performance.now()
  if (work.place.confinement.provider === 'none') return { tests: [], problem: NEEDS_SANDBOX, durationMs: 0 }
  const named = await listNamedFiles(app, state)
  const texts = await readTestTexts(app, contract, state, { composition: work.composed.composition, named })
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
  const { files, tests: judged } = await judgeInRounds(texts, twins, work.plain)
  const tests = await nameLines(judged, { texts, twins, plain: work.plain })
  const isUnsettled = files.some(isCutShort) || tests.some(({ verdict }) => verdict === 'no_evidence')
  const durationMs = Math.round(performance.now() - started)
  return { tests, problem: null, durationMs, ...(isUnsettled ? { isUnsettled } : {}) }
}

/** This is what code that forges results by chance looks like when it guesses wrong. */
function isDoubtful({ verdict, failsRewritten, isOld }: JudgedTest): boolean {
  return isOld !== true && (verdict === 'survived' || failsRewritten === true)
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

/** Each round has new twins, and all rounds must agree on what is proved. */
async function judgeInRounds(texts: TestTexts, twins: Twins, plain: ObservedRun): Promise<Round> {
  const first = await judgeOnce(texts, twins, plain)
  let { tests } = first
  for (let round = 1; round < twins.rounds; round += 1) {
    if (tests.some(isDoubtful) || !tests.some(isProved)) break
    twins.giveTime()
    twins.goesDown = !twins.goesDown
    const next = await judgeOnce(texts, twins, plain)
    tests = tests.map((test, index) => (isProved(test) ? (findAgain(test, index, next) ?? test) : test))
  }
  return { ...first, tests }
}

/** The same test in another round, which may have left the old tests out. */
function findAgain({ id, file }: JudgedTest, index: number, { tests }: Round): JudgedTest | undefined {
  const isSame = (test: JudgedTest | undefined): boolean => test?.id === id && test.file === file
  return isSame(tests[index]) ? tests[index] : tests.find(isSame)
}

async function judgeOnce(texts: TestTexts, twins: Twins, plain: ObservedRun): Promise<Round> {
  const { isOuterOnly, goesDown, sparesOld } = twins
  const turned = await turnAround(texts, { outerOnly: isOuterOnly, leavesCaught: isOuterOnly, goesDown, sparesOld })
  const all = listSubjects(plain, turned.files, texts.others)
  const subjects = sparesOld ? all.filter((subject) => !isOldTest(subject)) : all
  const runs = await twins.run(turned, subjects)
  if (runs !== null && twins.canSpare(turned, runs)) {
    twins.sparesOld = true
    twins.giveTime()
    return judgeOnce(texts, twins, plain)
  }
  const judged = judgeTwins(subjects, runs, plain)
  if (twins.isOuterOnly) return { ...turned, tests: judged }
  return { ...turned, tests: await retryOuter({ judged, runs, subjects, texts, twins, plain }) }
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
  readonly plain: ObservedRun
}): Promise<readonly JudgedTest[]> {
  const { judged, subjects, texts, twins, plain } = one
  const isRetried = judged.map((test) => test.verdict === 'survived' || isWaiting(test, one.runs))
  const retried = subjects.filter((_, index) => isRetried[index])
  if (retried.length === 0) return judged
  const paths = new Set(retried.map(({ file }) => file.path))
  const tests = texts.tests.filter(({ path }) => paths.has(path))
  const isLate = one.runs?.isTurnedLate === true
  const how = { outerOnly: true, leavesCaught: isLate, goesDown: twins.goesDown, sparesOld: twins.sparesOld }
  const outer = await turnAround({ tests, helpers: [] }, how)
  if (isLate) twins.giveTime()
  const runs = await twins.run(outer, retried)
  if (runs === null) return judged
  const again = judgeTwins(subjects, runs, plain)
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
  { texts, twins, plain }: { readonly texts: TestTexts; readonly twins: Twins; readonly plain: ObservedRun },
): Promise<readonly JudgedTest[]> {
  const survivors = tests.filter(({ verdict, file }) => verdict === 'survived' && !COMPILED.test(file))
  if (survivors.length === 0) return tests
  const turned = await turnAround(texts, { namesLines: true, sparesOld: twins.sparesOld })
  const lines = findHeldLines(listSubjects(plain, turned.files, texts.others), await twins.runTurned(turned))
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
