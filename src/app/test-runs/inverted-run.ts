import { randomInt } from 'node:crypto'
import { posix } from 'node:path'
import {
  haveAll,
  haveFailed,
  judgeTwins,
  listSubjects,
  type Subject,
  type TurnedFile,
  type TwinRuns,
} from '../../checks/inverted/judge-twins.js'
import { narrowCommand } from '../../checks/inverted/narrow-command.js'
import { dropLinters } from '../../checks/inverted/without-linters.js'
import { observe, type ShownPlace } from '../../checks/observed-runs/observe.js'
import { judgePassing } from '../../checks/red-green/green-run.js'
import type { Composition, Confinement, ViewEntry } from '../../confinement/confinement.js'
import type { Contract, ObservedCommand } from '../../core/contract/contract.js'
import type { InvertedRun, JudgedTest } from '../../core/evidence/inverted-run.js'
import type { Baseline, ObservedRun } from '../../core/evidence/observed-run.js'
import type { Needs } from '../../core/gates/needs.js'
import type { Json } from '../../core/json.js'
import type { TaskState } from '../../core/task/state.js'
import { openWorkTree } from '../../tree/work-tree.js'
import type { App } from '../app.js'
import type { ComposedView } from './compose-view.js'
import { readTestTexts, type TestTexts, type TurnedFiles, turnAround } from './inverted-files.js'
import { readPinnedRun } from './pinned-run.js'

const SECONDS_MIN = 60
const PLAIN_RUNS = 3
const REST_MS_MIN = 1000
const ROUNDS_MAX = 5

interface InvertedInputs {
  readonly plain: ObservedRun
  readonly command: ObservedCommand
  readonly composed: ComposedView
  readonly place: ShownPlace & { readonly confinement: Pick<Confinement, 'start' | 'provider'> }
}

export interface InvertedResult {
  readonly run: InvertedRun
  readonly isFresh: boolean
  /** Remembers it: the same tests, code and setup are not run again in this visit. */
  keep(): void
}

/** The inverted run that a gate asks for; null where none does, or the tests do not pass yet. */
export async function gatherInvertedRun(
  app: App,
  contract: Contract,
  state: TaskState,
  work: Omit<InvertedInputs, 'composed'> & {
    readonly composed: ComposedView | null
    readonly needed: Needs
    readonly baseline: Baseline | null
    /** What the plain run depends on; null where that cannot be told. */
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
  // One that was too slow or disturbed may be luckier next time.
  const isSettled = work.key !== null && run.isUnsettled !== true
  return { run, isFresh: true, keep: () => (isSettled ? app.observations.setInverted(key, run) : undefined) }
}

/**
 * Runs new and changed tests twice more, each time in a view of its own: once rewritten and unturned, once turned around. What
 * these runs print and write is seen by nobody.
 */
async function runInverted(app: App, contract: Contract, state: TaskState, work: InvertedInputs): Promise<InvertedRun> {
  const started = performance.now()
  if (work.place.confinement.provider === 'none') return { tests: [], problem: NEEDS_SANDBOX, durationMs: 0 }
  const named = await listNamedTestFiles(app, state)
  const texts = await readTestTexts(app, contract, state, { composition: work.composed.composition, named })
  const msMax = (contract.tests.inverted?.maxSeconds ?? computeTimeout(work.plain)) * 1000
  const scripts = await readScripts(state, work.composed.composition)
  const { before, line } = dropLinters(work.command.run, scripts)
  const some = narrowCommand(
    line,
    texts.tests.map(({ path }) => path),
    scripts,
  )
  const narrow = some === null ? null : `${before}${some}`
  const rounds = computeRounds(app.observations.countDoubts(state.id))
  const twins = new Twins(work, { msMax, narrow, whole: `${before}${line}`, rounds })
  const { files, tests } = await judgeInRounds(texts, twins, work.plain)
  const isUnsettled = files.some(isCutShort) || tests.some(({ verdict }) => verdict === 'no_evidence')
  const durationMs = Math.round(performance.now() - started)
  return { tests, problem: null, durationMs, ...(isUnsettled ? { isUnsettled } : {}) }
}

/** What code that forges by chance looks like when it is out of luck. */
function isDoubtful({ verdict, failsRewritten, isOld }: JudgedTest): boolean {
  return isOld !== true && (verdict === 'survived' || failsRewritten === true)
}

// Code that passes or fails its tests by chance is right once in four: each doubt makes that rarer.
function computeRounds(doubts: number): number {
  return Math.min(1 + 2 * doubts, ROUNDS_MAX)
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
  const turned = await turnAround(texts, { outerOnly: false })
  const subjects = listSubjects(plain, turned.files, texts.others)
  const judged = judgeTwins(subjects, await twins.run(turned, subjects), plain)
  return { ...turned, tests: await retrySurvivors({ judged, subjects, texts, twins, plain }) }
}

/** Tests that survived are turned once more, in their outer assertions only: two turned assertions may have cancelled out. */
async function retrySurvivors(one: {
  readonly judged: readonly JudgedTest[]
  readonly subjects: readonly Subject[]
  readonly texts: TestTexts
  readonly twins: Twins
  readonly plain: ObservedRun
}): Promise<readonly JudgedTest[]> {
  const { judged, subjects, texts, twins, plain } = one
  const isSurvivor = (index: number): boolean => judged[index]?.verdict === 'survived'
  const paths = new Set(subjects.filter((_, index) => isSurvivor(index)).map(({ file }) => file.path))
  if (paths.size === 0) return judged
  const tests = texts.tests.filter(({ path }) => paths.has(path))
  const outer = await turnAround({ tests, helpers: [] }, { outerOnly: true })
  const survivors = subjects.filter((_, index) => isSurvivor(index))
  const runs = await twins.run(outer, survivors)
  if (runs === null) return judged
  const again = judgeTwins(subjects, runs, plain)
  return judged.map((test, index) => {
    const next = again[index]
    if (!isSurvivor(index) || next?.verdict !== 'proved') return test
    twins.isDoubted ||= isDoubtful(test)
    return next
  })
}

/** Makes the runs of both twins, within what is left of the time. */
class Twins {
  /** Set where a result may be one of chance: what is proved then has to be proved in further rounds. */
  isDoubted = false
  #deadline: number
  #narrow: string | null

  constructor(
    private readonly work: InvertedInputs,
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
    return Math.max(this.how.rounds, this.isDoubted ? computeRounds(1) : 1)
  }

  giveTime(): void {
    this.#deadline = performance.now() + this.how.msMax
  }

  /** Null where nothing could be turned around. */
  async run(files: TurnedFiles, subjects: readonly Subject[]): Promise<TwinRuns | null> {
    if (files.turned.length === 0 || subjects.length === 0) return null
    const some = this.#narrow === null ? null : await this.#runBoth(files, this.#narrow)
    if (some !== null && haveAll(subjects, some)) return some
    // Tests that need others of the suite are run with all of it.
    this.#narrow = null
    this.isDoubted ||= some !== null && haveFailed(subjects, some.unturned)
    return this.#runBoth(files, null)
  }

  async #runBoth(files: TurnedFiles, narrow: string | null): Promise<TwinRuns> {
    const isNarrow = narrow !== null
    // Code under test that counts its runs must not learn from their order which twin this is.
    const isTurnedFirst = randomInt(2) === 1
    const first = await this.#observe(isTurnedFirst ? files.turned : files.unturned, narrow)
    const second = await this.#observe(isTurnedFirst ? files.unturned : files.turned, narrow)
    const [turned, unturned] = isTurnedFirst ? [first, second] : [second, first]
    return { turned, unturned, isNarrow }
  }

  async #observe(entries: readonly ViewEntry[], narrow: string | null): Promise<ObservedRun> {
    const { command, composed, place, plain } = this.work
    const restMs = this.#deadline - performance.now()
    if (restMs < REST_MS_MIN) return { ...plain, ...TOO_LATE }
    const timeoutSeconds = Math.min(command.timeoutSeconds, Math.ceil(restMs / 1000))
    const view = { composition: addEntries(composed.composition, entries), leftOut: [] }
    const told = { ...command, run: narrow ?? this.how.whole, timeoutSeconds }
    const sources = listCompiledSources(entries)
    const isOnePackage = narrow !== null && new Set(sources.map((path) => posix.dirname(path))).size === 1
    return observe({ ...place, view, without: { sources, isOnePackage } }, 'tests', told, { treeHash: plain.treeHash })
  }
}

function isProved({ verdict }: JudgedTest): boolean {
  return verdict === 'proved'
}

const TOO_LATE = { counts: null, tests: [], isComplete: false, wasStopped: true } as const

function addEntries(composition: Composition, entries: readonly ViewEntry[]): Composition {
  const replaced = new Set(entries.map(({ path }) => path))
  // They are taken away while their program runs, and put back by what starts it.
  const compiled = new Set(listCompiledSources(entries))
  return {
    ...composition,
    put: [...composition.put.filter(({ path }) => !replaced.has(path)), ...entries],
    pinned: composition.pinned.filter((path) => !compiled.has(path)),
    isGuarded: (path) => !compiled.has(path) && composition.isGuarded(path),
  }
}

/** Sources that are not needed once their program is compiled. */
function listCompiledSources(entries: readonly ViewEntry[]): readonly string[] {
  return entries.map(({ path }) => path).filter((path) => /\.(?:go|rs)$/.test(path))
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

/** The files that the task handed in as its tests. */
async function listNamedTestFiles(app: App, state: TaskState): Promise<readonly string[]> {
  const kept = state.artifacts.get('test_files')
  const content = kept === undefined ? null : await app.ledger.store.readBlob(kept.sha256)
  const { test_files } = (content === null ? {} : JSON.parse(content)) as { readonly test_files?: Json }
  if (!Array.isArray(test_files)) return []
  const paths = test_files.map((file) => (typeof file === 'string' ? file : (file as { path?: Json } | null)?.path))
  return paths.filter((path) => typeof path === 'string')
}
