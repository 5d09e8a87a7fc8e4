import { randomInt } from 'node:crypto'
import { posix } from 'node:path'
import {
  haveAll,
  haveFailed,
  heldLines,
  isWaiting,
  judgeTwins,
  type Subject,
  subjectsOf,
  type TurnedFile,
  type TwinRuns,
} from '../../checks/inverted/judge-twins.js'
import { narrowCommand } from '../../checks/inverted/narrow-command.js'
import { withoutLinters } from '../../checks/inverted/without-linters.js'
import { observe, type ShownPlace } from '../../checks/observed-runs/observe.js'
import { observedPassing } from '../../checks/red-green/green-run.js'
import type { Composition, Confinement, ViewEntry } from '../../confinement/confinement.js'
import type { Contract, ObservedCommand } from '../../core/contract/contract.js'
import type { InvertedRun, JudgedTest } from '../../core/evidence/inverted-run.js'
import type { Baseline, ObservedRun } from '../../core/evidence/observed-run.js'
import type { Needs } from '../../core/gates/needs.js'
import type { TaskState } from '../../core/task/state.js'
import { openWorkTree } from '../../tree/work-tree.js'
import type { App } from '../app.js'
import type { ComposedView } from './compose-view.js'
import { FILES_MAX, namedFiles, type TestTexts, type Turned, testTexts, turnAround } from './inverted-files.js'
import { pinnedRunOf } from './pinned-run.js'

const SECONDS_MIN = 60
const PLAIN_RUNS = 3
const REST_MS_MIN = 1000
const COMPILED = /\.(?:go|rs)$/
const ROUNDS_MIN = 2
const ROUNDS_MAX = 6

interface Work {
  readonly plain: ObservedRun
  readonly command: ObservedCommand
  readonly composed: ComposedView
  readonly place: ShownPlace & { readonly confinement: Pick<Confinement, 'start' | 'provider'> }
}

export interface Inverted {
  readonly run: InvertedRun
  readonly isFresh: boolean
  /** Remembers it: the same tests, code and setup are not run again in this visit. */
  keep(): void
}

/** The inverted run that a gate asks for; null where none does, or the tests do not pass yet. */
export async function invertedFor(
  app: App,
  contract: Contract,
  state: TaskState,
  work: Omit<Work, 'composed'> & {
    readonly composed: ComposedView | null
    readonly needed: Needs
    readonly baseline: Baseline | null
    /** What the plain run depends on; null where that cannot be told. */
    readonly key: string | null
  },
): Promise<Inverted | null> {
  const { plain, composed, needed } = work
  if (composed === null || !needed.checks.some(({ blocker }) => blocker.check === 'tests_can_fail')) return null
  const baseline = contract.tests.baseline === 'forbid' ? null : work.baseline
  const pinned = await pinnedRunOf(app, state)
  if (observedPassing(plain, { pinned, baseline }).result !== 'holds') return null
  const tests = state.artifacts.get('test_files')?.sha256
  const key = JSON.stringify([work.key, state.id, state.visit, tests, contract.hash])
  const before = work.key === null ? undefined : app.observations.inverted(key)
  if (before !== undefined) return { run: before, isFresh: false, keep: () => undefined }
  const run = await runInverted(app, contract, state, { ...work, composed })
  if (run.tests.some(isDoubtful)) app.observations.doubt(state.id)
  // One that was too slow or disturbed may be luckier next time.
  const isSettled = work.key !== null && run.isUnsettled !== true
  return { run, isFresh: true, keep: () => (isSettled ? app.observations.setInverted(key, run) : undefined) }
}

/**
 * Runs new and changed tests twice more, each time in a view of its own: once rewritten and unturned, once turned around. What
 * these runs print and write is seen by nobody.
 */
async function runInverted(app: App, contract: Contract, state: TaskState, work: Work): Promise<InvertedRun> {
  const started = performance.now()
  if (work.place.confinement.provider === 'none') return { tests: [], problem: NEEDS_SANDBOX, durationMs: 0 }
  const named = await namedFiles(app, state)
  const texts = await testTexts(app, contract, state, { composition: work.composed.composition, named })
  if (texts.tests.length > FILES_MAX) {
    const problem = `${texts.tests.length} test files are new or changed, and at most ${FILES_MAX} are judged`
    return { tests: [], problem, blocks: true, durationMs: 0 }
  }
  const msMax = (contract.tests.inverted?.maxSeconds ?? secondsFor(work.plain)) * 1000
  const scripts = await scriptsIn(state, work.composed.composition)
  const { before, line } = withoutLinters(work.command.run, scripts)
  const some = narrowCommand(
    line,
    texts.tests.map(({ path }) => path),
    scripts,
  )
  const narrow = some === null ? null : `${before}${some}`
  const rounds = roundsAfter(Math.max(app.observations.doubts(state.id), state.testsDoubted ?? 0))
  const twins = new Twins(work, { msMax, narrow, whole: `${before}${line}`, rounds })
  const { files, tests: judged } = await judgeInRounds(texts, twins, work.plain)
  const tests = await nameLines(judged, { texts, twins, plain: work.plain })
  const isUnsettled = files.some(isCutShort) || tests.some(({ verdict }) => verdict === 'no_evidence')
  const durationMs = Math.round(performance.now() - started)
  return { tests, problem: null, durationMs, ...(isUnsettled ? { isUnsettled } : {}) }
}

/** What code that forges by chance looks like when it is out of luck. */
function isDoubtful({ verdict, failsRewritten, isOld }: JudgedTest): boolean {
  return isOld !== true && (verdict === 'survived' || failsRewritten === true)
}

// Code that passes or fails its tests by chance is right once in four in each round: each doubt makes that rarer.
function roundsAfter(doubts: number): number {
  return Math.min(ROUNDS_MIN + 2 * doubts, ROUNDS_MAX)
}

function isCutShort({ inversion }: TurnedFile): boolean {
  return inversion.outcome === 'not_judged' && /^(?:took_too_long|not_parsed)$/.test(inversion.reason)
}

const NEEDS_SANDBOX = 'the inverted run needs the sandbox, and commands run without it here'

function secondsFor({ durationMs }: ObservedRun): number {
  return Math.max(SECONDS_MIN, Math.ceil((PLAIN_RUNS * durationMs) / 1000))
}

interface Round {
  readonly files: readonly TurnedFile[]
  readonly tests: readonly JudgedTest[]
}

/** Each round has twins of its own, and all of them have to agree on what is proved. */
async function judgeInRounds(texts: TestTexts, twins: Twins, plain: ObservedRun): Promise<Round> {
  const first = await judgeOnce(texts, twins, plain)
  let { tests } = first
  for (let round = 1; round < twins.rounds; round += 1) {
    if (tests.some(isDoubtful) || !tests.some(isProved)) break
    twins.giveTime()
    const next = await judgeOnce(texts, twins, plain)
    tests = tests.map((test, index) => (isProved(test) ? (next.tests[index] ?? test) : test))
  }
  return { ...first, tests }
}

async function judgeOnce(texts: TestTexts, twins: Twins, plain: ObservedRun): Promise<Round> {
  const turned = await turnAround(texts, { outerOnly: twins.isOuterOnly })
  const subjects = subjectsOf(plain, turned.files, texts.others)
  const runs = await twins.run(turned, subjects)
  const judged = judgeTwins(subjects, runs, plain)
  if (twins.isOuterOnly) return { ...turned, tests: judged }
  return { ...turned, tests: await retryOuter({ judged, runs, subjects, texts, twins, plain }) }
}

/**
 * Tests that survived, and those that did not end, are turned once more, in their outer assertions only: two turned assertions may
 * have cancelled out, or one in a handler may have kept the test waiting for its answer.
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
  const outer = await turnAround({ tests, helpers: [] }, { outerOnly: true })
  const isLate = one.runs?.isTurnedLate === true
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

/** Finds the lines of assertions that hold whatever they expect. They are only told: nothing is decided by that. */
async function nameLines(
  tests: readonly JudgedTest[],
  { texts, twins, plain }: { readonly texts: TestTexts; readonly twins: Twins; readonly plain: ObservedRun },
): Promise<readonly JudgedTest[]> {
  const survivors = tests.filter(({ verdict, file }) => verdict === 'survived' && !COMPILED.test(file))
  if (survivors.length === 0) return tests
  const turned = await turnAround(texts, { namesLines: true })
  const lines = heldLines(subjectsOf(plain, turned.files, texts.others), await twins.runTurned(turned))
  return tests.map((test) => (survivors.includes(test) ? { ...test, heldLine: lines.get(test.id) ?? null } : test))
}

/** Makes the runs of both twins, within what is left of the time. */
class Twins {
  /** Set where a result may be one of chance: what is proved then has to be proved in further rounds. */
  isDoubted = false
  /** Set where a run in which everything is turned does not end: further rounds leave that out. */
  isOuterOnly = false
  #deadline: number
  #narrow: string | null

  constructor(
    private readonly work: Work,
    private readonly how: {
      /** For the first round with all that is tried there, and for each further one. */
      readonly msMax: number
      readonly rounds: number
      /** The command that runs only the files that are judged; null where there is none. */
      readonly narrow: string | null
      readonly whole: string
    },
  ) {
    this.#deadline = performance.now() + how.msMax
    this.#narrow = how.narrow
  }

  get rounds(): number {
    return Math.max(this.how.rounds, this.isDoubted ? roundsAfter(1) : 0)
  }

  giveTime(): void {
    this.#deadline = performance.now() + this.how.msMax
  }

  /** Null where nothing could be turned around. */
  async run(files: Turned, subjects: readonly Subject[]): Promise<TwinRuns | null> {
    if (files.turned.length === 0 || subjects.length === 0) return null
    const some = this.#narrow === null ? null : await this.#runBoth(files, this.#narrow)
    if (some !== null && (some.isTurnedLate === true || haveAll(subjects, some))) return some
    // Tests that need others of the suite are run with all of it.
    this.#narrow = null
    this.isDoubted ||= some !== null && haveFailed(subjects, some.unturned)
    return this.#runBoth(files, null)
  }

  runTurned({ turned }: Turned): Promise<ObservedRun> {
    return this.#observe(turned, this.#narrow)
  }

  async #runBoth(files: Turned, narrow: string | null): Promise<TwinRuns> {
    const isNarrow = narrow !== null
    // Code under test that counts its runs must not learn from their order which twin this is.
    const isTurnedFirst = randomInt(2) === 1
    const first = await this.#observe(isTurnedFirst ? files.turned : files.unturned, narrow)
    const second = await this.#observe(isTurnedFirst ? files.unturned : files.turned, narrow)
    const [turned, unturned] = isTurnedFirst ? [first, second] : [second, first]
    const isLate = ({ wasStopped, problem }: ObservedRun): boolean => wasStopped && problem !== NOT_REACHED
    return { turned, unturned, isNarrow, isTurnedLate: isLate(turned) && !isLate(unturned) }
  }

  async #observe(entries: readonly ViewEntry[], narrow: string | null): Promise<ObservedRun> {
    const { command, composed, place, plain } = this.work
    const restMs = this.#deadline - performance.now()
    if (restMs < REST_MS_MIN) return { ...plain, ...TOO_LATE }
    const timeoutSeconds = Math.min(command.timeoutSeconds, Math.ceil(restMs / 1000))
    const view = { composition: withEntries(composed.composition, entries), leftOut: [] }
    const told = { ...command, run: narrow ?? this.how.whole, timeoutSeconds }
    const sources = compiledOf(entries)
    const isOnePackage = narrow !== null && new Set(sources.map((path) => posix.dirname(path))).size === 1
    return observe({ ...place, view, without: { sources, isOnePackage } }, 'tests', told, { treeHash: plain.treeHash })
  }
}

function isProved({ verdict }: JudgedTest): boolean {
  return verdict === 'proved'
}

const NOT_REACHED = 'there was no time left for it'
const TOO_LATE = { counts: null, tests: [], isComplete: false, wasStopped: true, problem: NOT_REACHED } as const

function withEntries(composition: Composition, entries: readonly ViewEntry[]): Composition {
  const replaced = new Set(entries.map(({ path }) => path))
  // They are taken away while their program runs, and put back by what starts it.
  const compiled = new Set(compiledOf(entries))
  return {
    ...composition,
    put: [...composition.put.filter(({ path }) => !replaced.has(path)), ...entries],
    pinned: composition.pinned.filter((path) => !compiled.has(path)),
    isGuarded: (path) => !compiled.has(path) && composition.isGuarded(path),
  }
}

/** Sources that are not needed once their program is compiled. */
function compiledOf(entries: readonly ViewEntry[]): readonly string[] {
  return entries.map(({ path }) => path).filter((path) => COMPILED.test(path))
}

async function scriptsIn({ workspace }: TaskState, { put }: Composition): Promise<Readonly<Record<string, unknown>>> {
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
