import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { getReserved } from '../../app/tool-calls/contract-paths.js'
import { observe } from '../../checks/observed-runs/observe.js'
import { findRefusedSignal } from '../../checks/refused-signal.js'
import { makeGuard } from '../../checks/test-files/guarded-files.js'
import { isTestLike, mayWriteFile } from '../../checks/test-files/test-files.js'
import { listProgramFiles } from '../../checks/test-setup/packages.js'
import type { Confinement } from '../../confinement/confinement.js'
import { openConfinement } from '../../confinement/open-confinement.js'
import type { Contract, ObservedCommand } from '../../core/contract/contract.js'
import type { ObservedRun } from '../../core/evidence/observed-run.js'
import { findSetupKind } from '../../core/paths/test-setup-names.js'
import { plainLine } from '../../core/plain-text.js'
import { makeCleaner } from '../../store/redaction/clean-data.js'
import { listEnvironmentSecrets } from '../../store/redaction/secret-names.js'
import { listProjectFiles, listUntrackedFiles, omitIgnored } from './tracked-files.js'
import { TrialOutput } from './trial-output.js'

/** After a refused signal, a run that prints nothing for this long waits for what the signal should have ended. */
const STUCK_SECONDS = 20

/** The result of a command that was run like at a gate, on the current tree. */
export interface Trial {
  readonly run: ObservedRun
  /** Tests, files beside them and test setup that the command wrote; such a run does not count at a gate. */
  readonly wroteTests: readonly string[]
  /** Other tracked files that it wrote. The writes are discarded. */
  readonly wroteOthers: readonly string[]
  /** For how long it had printed nothing when it ended, and what came last; empty if it printed to the end. */
  readonly quiet: string
}

export interface TriedCommand {
  readonly name: string
  readonly command: ObservedCommand
  /** Paths that the command does not see. */
  readonly leftOut?: readonly string[]
  /** Whether to stop it before its time if it prints nothing more after SIGUSR1 was refused. */
  readonly stopsWhenStuck?: boolean
}

export interface TrialPlace {
  /** Absolute. */
  readonly tree: string
  readonly contractFile: string | null
  /** Files that the contract extends. */
  readonly contractBases: readonly string[]
  readonly signal: AbortSignal
}

// A person waits for the trial and no gate depends on it, so the user's own Go build cache may be used.
function findOwnGoCache(tree: string, environment: NodeJS.ProcessEnv): readonly string[] {
  const { GOCACHE, XDG_CACHE_HOME, HOME = homedir() } = environment
  const isGo = ['go.mod', 'go.work'].some((name) => existsSync(join(tree, name)))
  const folder = GOCACHE ?? join(XDG_CACHE_HOME ?? join(HOME, '.cache'), 'go-build')
  return isGo && isAbsolute(folder) && existsSync(folder) ? [folder] : []
}

const COMPILING = /^(?:go|cargo|mvn|gradle|dotnet|mix|\.\/(?:mvnw|gradlew)) /

/** Runs commands of a contract in the sandbox. Their writes never reach the tree. */
export class Trials {
  #newest: { readonly line: string; readonly output: TrialOutput } | null = null

  private constructor(
    private readonly place: TrialPlace,
    private readonly stateDir: string,
    private readonly confinement: Confinement,
  ) {}

  /** Opens the sandbox, or returns why there is none. */
  static async open(place: TrialPlace): Promise<Trials | { readonly missing: string; readonly remedy: string }> {
    const stateDir = mkdtempSync(join(tmpdir(), 'phaselock-trial-'))
    const confinement = await openConfinement({ stateDir, only: null })
    const trials = new Trials(place, stateDir, confinement)
    if (confinement.provider !== 'none') return trials
    await trials.close()
    const [first] = confinement.missing
    return { missing: first?.found ?? 'there is no sandbox', remedy: first?.remedy ?? '' }
  }

  async run(contract: Contract, { name, command, leftOut = [], stopsWhenStuck = false }: TriedCommand): Promise<Trial> {
    const { tree, contractFile, contractBases, signal } = this.place
    const tracked = listProjectFiles(tree)
    const places = { contractFile, contractBases, contractParts: [], stateDir: this.stateDir, workspace: tree }
    const cleaner = makeCleaner(listEnvironmentSecrets(process.env))
    const redact = (text: string): string => String(cleaner.redact(text))
    const output = new TrialOutput({ tree, redact, compiles: COMPILING.test(command.run) })
    this.#newest = { line: command.run, output }
    let written: readonly string[] = []
    const confinement: Pick<Confinement, 'start' | 'provider'> = {
      provider: this.confinement.provider,
      // Kept here, so that the results are read anyway.
      start: async (job) => {
        const started = await this.confinement.start(job)
        const done = started.done.then((end) => {
          output.end()
          written = end.written ?? []
          return { ...end, written: [] }
        })
        return { ...started, done }
      },
    }
    const tests = tracked.filter((path) => isTestLike(contract, path))
    const pinned = [...tracked, ...listUntrackedFiles(tree)]
    const composition = {
      ...{ put: [], leftOut, pinned, isGuarded: makeGuard(contract, tests) },
      programs: listProgramFiles(readManifests(tree, tracked)),
    }
    const stuck = stopsWhenStuck && command.allowsSigusr1 !== true ? watchForStuck(tree, output) : null
    const place = {
      ...{ confinement, tree, redact, goCache: findOwnGoCache(tree, process.env), view: { composition, leftOut: [] } },
      hidden: getReserved(places, contract, tree).hidden,
      onOutput: (chunk: Buffer) => output.take(chunk),
      signal: stuck === null ? signal : AbortSignal.any([signal, stuck.signal]),
    }
    const run = await observe(place, name, command, { treeHash: 'trial' }).finally(() => stuck?.close())
    const named = omitIgnored(
      tree,
      written.filter((path) => !mayWriteFile(contract, path)),
    )
    const isHeld = (path: string): boolean => isTestLike(contract, path) || findSetupKind(path) !== null
    return {
      run,
      wroteTests: named.filter(isHeld),
      wroteOthers: named.filter((path) => !isHeld(path)),
      quiet: output.describeQuiet(),
    }
  }

  /** Since when the newest command prints nothing, and what came last; empty while there is output. */
  describeQuiet(): string {
    return this.#newest?.output.describeQuiet() ?? ''
  }

  /** How far the newest command got; empty if none was started. */
  describeProgress(): string {
    if (this.#newest === null) return ''
    const { line, output } = this.#newest
    const quiet = output.describeQuiet()
    return `\`${plainLine(line)}\` had run for ${output.countSeconds()} s${quiet === '' ? '' : `, ${quiet}`}`
  }

  async close(): Promise<void> {
    try {
      await this.confinement.close()
    } finally {
      rmSync(this.stateDir, { recursive: true, force: true })
    }
  }
}

interface StuckWatch {
  /** Aborted when the run is stuck. */
  readonly signal: AbortSignal
  close(): void
}

function watchForStuck(tree: string, output: TrialOutput): StuckWatch {
  const stuck = new AbortController()
  const timer = setInterval(() => {
    if (!output.hasRefusal || output.countQuietSeconds() < STUCK_SECONDS) return
    clearInterval(timer)
    void findRefusedSignal(tree, { stdout: 'EPERM', stderr: '', stopped: null }).then(
      (found) => found !== null && stuck.abort(),
      // A tree that cannot be read names no file: the run goes on to its time limit.
      () => undefined,
    )
  }, 1000)
  return { signal: stuck.signal, close: () => clearInterval(timer) }
}

function readManifests(tree: string, files: readonly string[]): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  for (const path of files)
    if (path === 'package.json' || path.endsWith('/package.json'))
      try {
        texts.set(path, readFileSync(join(tree, path), 'utf8'))
      } catch {
        // A manifest that is tracked but missing names no programs.
      }
  return texts
}
