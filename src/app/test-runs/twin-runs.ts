import { randomInt } from 'node:crypto'
import { posix } from 'node:path'
import { COMPILED, haveAll, haveFailed, isUnreadRun, type TwinRuns } from '../../checks/inverted/judge-twins.js'
import type { Subject } from '../../checks/inverted/subjects.js'
import { observe } from '../../checks/observed-runs/observe.js'
import type { ShownPlace } from '../../checks/observed-runs/run-in-view.js'
import { parseTestName } from '../../checks/red-green/baseline-tests.js'
import type { Composition, Confinement, ViewEntry } from '../../confinement/confinement.js'
import type { ObservedCommand } from '../../core/contract/contract.js'
import type { ObservedRun } from '../../core/evidence/observed-run.js'
import type { ComposedView } from './compose-view.js'
import type { TurnedFiles } from './inverted-files.js'

const REST_MS_MIN = 1000
const TOGETHER_MS_MAX = 10_000
const ROUNDS_MIN = 2
const ROUNDS_MAX = 6

export interface InvertedInputs {
  readonly plain: ObservedRun
  readonly command: ObservedCommand
  readonly composed: ComposedView
  readonly place: ShownPlace & { readonly confinement: Pick<Confinement, 'start' | 'provider'> }
}

// Code that passes or fails its tests at random guesses right once in four per round: each doubt adds rounds.
export function countRounds(doubts: number): number {
  return Math.min(ROUNDS_MIN + 2 * doubts, ROUNDS_MAX)
}

/** Runs both twins within the remaining time. */
export class Twins {
  /** Set when a result may be chance: then further rounds must confirm it. */
  isDoubted = false
  /** Set when a fully inverted run does not end: further rounds skip it. */
  isOuterOnly = false
  /** Only new and changed tests are inverted: where tests take long, or the inverted run of all of them is unreadable. */
  sparesOld: boolean
  /** Whether expected numbers become smaller in this round. In the next one they become larger, and so on. */
  goesDown = randomInt(2) === 1
  #deadline: number
  #narrow: string | null = null
  #isWhole = false

  constructor(
    private readonly work: InvertedInputs,
    private readonly how: {
      /** For the first round with all its variants, and for each further one. */
      readonly msMax: number
      readonly rounds: number
      /** The command that runs only the judged files, or only these tests of them; null if there is none. */
      readonly narrow: (tests: readonly string[]) => string | null
      readonly whole: string
    },
  ) {
    this.#deadline = performance.now() + how.msMax
    this.sparesOld = work.plain.durationMs > TOGETHER_MS_MAX
  }

  get rounds(): number {
    return Math.max(this.how.rounds, this.isDoubted ? countRounds(1) : 0)
  }

  giveTime(): void {
    this.#deadline = performance.now() + this.how.msMax
  }

  /** Null when nothing could be inverted. */
  async run(files: TurnedFiles, subjects: readonly Subject[]): Promise<TwinRuns | null> {
    if (files.turned.length === 0 || subjects.length === 0) return null
    const names = this.sparesOld ? subjects.map(({ id }) => parseTestName(id)) : []
    this.#narrow = this.#isWhole ? null : this.how.narrow(names)
    const some = this.#narrow === null ? null : await this.#runBoth(files, this.#narrow)
    if (some !== null && (some.isTurnedLate === true || this.canSpare(files, some) || haveAll(subjects, some)))
      return some
    // Tests that depend on others of the suite run with the whole suite.
    this.#isWhole = true
    this.#narrow = null
    this.isDoubted ||= some !== null && haveFailed(subjects, some.unturned)
    return this.#runBoth(files, null)
  }

  /** Whether the old tests of the files may be what makes the inverted run unreadable. */
  canSpare({ files }: TurnedFiles, { unturned, turned }: TwinRuns): boolean {
    return !this.sparesOld && isUnreadRun(turned) && !isUnreadRun(unturned) && files.some(({ old }) => old.size > 0)
  }

  runTurned({ turned }: TurnedFiles): Promise<ObservedRun> {
    return this.#observe(turned, this.#narrow)
  }

  async #runBoth(files: TurnedFiles, narrow: string | null): Promise<TwinRuns> {
    const isNarrow = narrow !== null
    // Code under test that counts its runs must not learn from their order which twin this is.
    const isTurnedFirst = randomInt(2) === 1
    const first = this.#observe(isTurnedFirst ? files.turned : files.unturned, narrow)
    if (!this.#runsTogether) await first
    const second = this.#observe(isTurnedFirst ? files.unturned : files.turned, narrow)
    const [turned, unturned] = await Promise.all(isTurnedFirst ? [first, second] : [second, first])
    const isLate = ({ wasStopped, problem }: ObservedRun): boolean => wasStopped && problem !== NOT_REACHED
    return { turned, unturned, isNarrow, isTurnedLate: isLate(turned) && !isLate(unturned) }
  }

  /**
   * Short runs are made at the same time: it takes half as long, and code that decides by the clock decides the same in
   * both. Longer ones could slow each other down until tests time out, and services are shared.
   */
  get #runsTogether(): boolean {
    const { plain, command } = this.work
    return plain.durationMs <= TOGETHER_MS_MAX && command.services === undefined
  }

  async #observe(entries: readonly ViewEntry[], narrow: string | null): Promise<ObservedRun> {
    const { command, composed, place, plain } = this.work
    const restMs = this.#deadline - performance.now()
    if (restMs < REST_MS_MIN) return { ...plain, ...TOO_LATE }
    const timeoutSeconds = Math.min(command.timeoutSeconds, Math.ceil(restMs / 1000))
    const view = { composition: replaceEntries(composed.composition, entries), leftOut: [] }
    const told = { ...command, run: narrow ?? this.how.whole, timeoutSeconds }
    const sources = listCompiledSources(entries)
    const isOnePackage = narrow !== null && new Set(sources.map((path) => posix.dirname(path))).size === 1
    return observe({ ...place, view, without: { sources, isOnePackage } }, 'tests', told, { treeHash: plain.treeHash })
  }
}

const NOT_REACHED = 'there was no time left for it'
const TOO_LATE = { counts: null, tests: [], isComplete: false, wasStopped: true, problem: NOT_REACHED } as const

function replaceEntries(composition: Composition, entries: readonly ViewEntry[]): Composition {
  const replaced = new Set(entries.map(({ path }) => path))
  // Removed while their program runs, and restored by its launcher.
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
  return entries.map(({ path }) => path).filter((path) => COMPILED.test(path))
}
