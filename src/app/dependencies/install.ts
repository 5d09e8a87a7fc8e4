import { existsSync, lstatSync } from 'node:fs'
import { join } from 'node:path'
import { isAtOrBelow } from '../../base/is-at-or-below.js'
import type { Confinement } from '../../confinement/confinement.js'
import { type CommandRun, runCommand } from '../../confinement/run-command.js'
import { FETCHED_INSIDE } from '../../confinement/view/fetched-packages.js'
import type { Contract } from '../../core/contract/contract.js'
import type { InstallCommand } from '../../core/dependencies/install-command.js'
import type { JsonObject } from '../../core/json.js'
import type { TaskState } from '../../core/task/state.js'
import { failTool, type ToolOutcome } from '../../tools/tool-place.js'
import { openWorkTree } from '../../tree/work-tree.js'
import type { App } from '../app.js'
import { blobOf } from '../blobs.js'
import type { ApplyOptions, CommandResult } from '../ledger/ledger.js'
import { makeIgnoredMatcher } from '../test-runs/compose-view.js'
import { findChangedDependencies } from '../test-runs/dependency-changes.js'
import { readPinnedRun, readTestSurroundings } from '../test-runs/pinned-run.js'
import { getReserved } from '../tool-calls/contract-paths.js'
import { openSandbox, refuseWithoutConfinement } from '../tool-calls/contract-sandbox.js'
import { makeLeftoverMatcher } from '../tool-calls/ignored-paths.js'
import { failMissingTree } from '../trees/missing-tree.js'
import { keepPrevious } from '../trees/reconcile.js'
import { makeWriteTree, NotWritten, recordWithTree, type TreeChange } from '../trees/tree-changes.js'
import { toLines } from '../trees/tree-journal.js'
import { sortInstallChanges } from './install-changes.js'
import { pickInstallVariables } from './install-environment.js'
import { pinDependencies } from './pin-dependencies.js'

const INSTALL_MS_MAX = 15 * 60_000
const OUTPUT_LINES_MAX = 40
const OUTPUT_CHARS_MAX = 8000
const PACKAGE_FOLDER = /(^|\/)(node_modules|\.venv|venv)(\/|$)/

/** An install that an operator requested or approved. */
interface InstallOrder {
  readonly words: readonly string[]
  /** Relative to the work tree. */
  readonly cwd: string
  /** Digest of the approved command; null if an operator requested the install. */
  readonly digest: string | null
  readonly signal: AbortSignal
  /** Records the end of the install. Returns the refusal if it could not be recorded, otherwise null. */
  readonly record: (
    command: InstallCommand,
    options: Pick<ApplyOptions, 'isHolding' | 'blobs' | 'writeTree'>,
    done?: Installed,
  ) => Promise<ToolOutcome | null>
}

interface Installed {
  readonly answer: JsonObject
  readonly onRecorded: (handled: CommandResult) => void
}

/**
 * Runs a package manager with network in the sandbox, and keeps all of its changes or none. The caller has checked that
 * the install is permitted.
 */
export async function install(
  app: App,
  task: { readonly state: TaskState; readonly contract: Contract },
  order: InstallOrder,
): Promise<ToolOutcome> {
  const missing = failMissingTree(task.state)
  if (missing !== null) return missing
  const confinement = await openSandbox(app, task.contract)
  const refused = refuseWithoutConfinement(task, confinement)
  if (refused !== null) return refused
  if (confinement.provider === 'none') return failTool(NEEDS_SANDBOX, 'confinement_unavailable')
  return app.running.inTree(task.state.workspace, () => new OneInstall(app, task, order).run(confinement))
}

const NEEDS_SANDBOX =
  'Packages are installed in the sandbox only. Install by hand, then take the result over with phaselock accept.'

class OneInstall {
  readonly #tree: string
  readonly #line: string

  constructor(
    private readonly app: App,
    private readonly task: { readonly state: TaskState; readonly contract: Contract },
    private readonly order: InstallOrder,
  ) {
    this.#tree = task.state.workspace
    this.#line = order.words.join(' ')
  }

  async run(confinement: Confinement): Promise<ToolOutcome> {
    const { app, task } = this
    if (lstatSync(join(this.#tree, FETCHED_INSIDE), { throwIfNoEntry: false }) !== undefined)
      return failTool(`${this.#line}: ${FETCHED_INSIDE} is in the way: delete it first`, 'conflict')
    const stale = await this.#findStale()
    const writes = app.running.listWrites(this.#tree).length
    const before = await readTestSurroundings(task.contract, openWorkTree(this.#tree))
    const run = await this.#start(confinement)
    if (typeof run === 'string') return failTool(`${this.#line}: the command could not be started: ${run}`)
    let isTaken = false
    try {
      if (run.stopped !== null || run.exitCode !== 0) return await this.#fail(run, describeFailure(run))
      const { state } = task
      const sorted = sortInstallChanges(run.changes.list, {
        program: this.#program,
        isLeft: makeLeftoverMatcher((folder) => app.trees.isSource(this.#tree, folder)),
        isPinned: (path) => state.pinnedTests?.has(path) === true,
      })
      if (typeof sorted === 'string') return await this.#fail(run, sorted)
      const laundered = stale.find((path) => sorted.folders.some((folder) => isAtOrBelow(folder, path)))
      if (laundered !== undefined)
        return await this.#fail(
          run,
          `${laundered} was changed earlier without an install: accept it first (phaselock accept)`,
        )
      const after =
        run.changes.view === null ? before : await readTestSurroundings(task.contract, openWorkTree(run.changes.view))
      const pinned = pinDependencies(await readPinnedRun(app, state), { program: this.#program, before, after })
      if (typeof pinned === 'string') return await this.#fail(run, pinned)
      return await recordWithTree(app, state, async (change) => {
        const written = new Set(app.running.listWrites(this.#tree, writes))
        const both = sorted.kept.find(({ path }) => written.has(path))
        if (both !== undefined) return this.#fail(run, `${both.path} was written by another call meanwhile`, true)
        const blob = pinned === null ? null : blobOf(pinned)
        const { kept, paths } = sorted
        const files = Object.fromEntries(state.pinnedTests ?? [])
        const keep = (made: TreeChange): Promise<void> => {
          isTaken = true
          return this.#keep(run, made, sorted)
        }
        const answer = this.#describe(run, paths)
        const problem = await this.order.record(
          {
            ...this.#record(run, null),
            ...{ paths, changeCount: kept.length, pinned: blob === null ? null : { files, run: blob.sha256 } },
          },
          { isHolding: true, blobs: blob === null ? [] : [blob], writeTree: makeWriteTree(change, keep) },
          { answer, onRecorded: (handled) => change.confirm(handled) },
        )
        if (problem !== null) return problem
        const again = app.views.findPinsOfRerun(state)
        if (again !== null && blob !== null)
          app.views.keepPinsAgain({ id: state.id, pinnedRun: blob.sha256 }, Object.fromEntries(again))
        return { ok: true, result: answer, changes: [] }
      })
    } catch (error) {
      if (!(error instanceof NotWritten)) throw error
      return this.#fail(run, `its changes could not be written: ${error.message}`)
    } finally {
      if (!isTaken) await run.changes.discard()
    }
  }

  get #program(): string {
    return this.order.words[0] ?? ''
  }

  // Finds packages that were changed without an install: they must not be accepted together with the installed ones.
  async #findStale(): Promise<readonly string[]> {
    const { app, task } = this
    const isIgnored = makeIgnoredMatcher(app, this.#tree)
    const isLeft = makeLeftoverMatcher((folder) => app.trees.isSource(this.#tree, folder))
    const changed = await findChangedDependencies(app, task.contract, task.state, isIgnored)
    return changed.filter((path) => !isLeft(path, false) && !isLeft(path, true))
  }

  async #start(confinement: Confinement): Promise<CommandRun | string> {
    try {
      return await runCommand(confinement, {
        tree: this.#tree,
        argv: buildInstallArgv(this.#tree, this.order),
        cwd: this.order.cwd,
        env: { ...IN_TREE, ...pickInstallVariables(process.env) },
        network: true,
        writes: 'keep',
        git: 'read',
        isInstall: true,
        ...(this.#program === 'go' || this.#program === 'cargo' ? { fetches: this.#program } : {}),
        hidden: getReserved(this.app, this.task.contract, this.#tree).hidden,
        signal: this.order.signal,
        timeoutMs: INSTALL_MS_MAX,
      })
    } catch (error) {
      return error instanceof Error ? error.message.slice(0, 500) : String(error)
    }
  }

  /** Writes the changes to the tree and records them as expected. */
  async #keep(
    run: CommandRun,
    change: TreeChange,
    { kept, paths, folders }: Exclude<ReturnType<typeof sortInstallChanges>, string>,
  ): Promise<void> {
    const { app } = this
    const isIgnored = makeIgnoredMatcher(app, this.#tree)
    const counted = kept.filter(({ path }) => !PACKAGE_FOLDER.test(path) && !isIgnored(path))
    const lines = counted.flatMap(toLines)
    const replaced = counted.filter((one) => one.type === 'file' && one.kind !== 'created').map((one) => one.path)
    await keepPrevious(app, this.#tree, replaced)
    const follow = { uncovers: true, installed: { folders, paths } }
    const problem = await run.changes.commit(kept, (steps) => change.apply({ steps, lines: () => lines, follow }))
    if (problem !== null) throw new NotWritten(problem)
  }

  async #fail(run: CommandRun, why: string, isHolding = false): Promise<ToolOutcome> {
    const problem = await this.order.record({ ...this.#record(run, why), success: false }, { isHolding, blobs: [] })
    if (problem !== null) return problem
    const output = this.#lastLines(run)
    const code = run.stopped === null && run.exitCode === 0 ? 'constraint_violation' : 'tool_failed'
    const detail = `${this.#line}: ${why}; nothing was kept.${code === 'tool_failed' ? `\n${output}` : ''}`
    const remedy = code === 'constraint_violation' ? { remedy: WITHOUT_SCRIPTS } : {}
    return failTool(detail, code, { exit_code: run.exitCode, output, ...remedy })
  }

  #record(run: CommandRun, detail: string | null): InstallCommand {
    const { words: command, cwd, digest } = this.order
    const about = { type: 'finish_install', command, cwd, digest, exitCode: run.exitCode } as const
    const { durationMs } = run
    return { ...about, success: true, detail, durationMs, paths: [], changeCount: 0, pinned: null }
  }

  #describe(run: CommandRun, paths: readonly string[]): JsonObject {
    const about = { status: 'installed', command: [...this.order.words], cwd: this.order.cwd, exit_code: run.exitCode }
    return {
      ...about,
      paths: [...paths],
      output: this.#lastLines(run),
      duration_ms: run.durationMs,
      ...(paths.length === 0 ? { notes: [NOTHING_HERE] } : {}),
    }
  }

  #lastLines({ stdout, stderr }: CommandRun): string {
    const lines = `${stdout.trimEnd()}\n${stderr.trimEnd()}`.trim().split('\n').slice(-OUTPUT_LINES_MAX)
    return String(this.app.redact(lines.join('\n').slice(-OUTPUT_CHARS_MAX)))
  }
}

const WITHOUT_SCRIPTS =
  'Install without the scripts that write there (--ignore-scripts), or restore the named files first.'

const NOTHING_HERE =
  'Nothing in the work tree changed: packages installed outside it (such as by pip without a .venv in the tree) are not kept.'

// Makes package managers install into the work tree, and turns off messages for people.
const IN_TREE = {
  ...{ npm_config_update_notifier: 'false', npm_config_fund: 'false', POETRY_VIRTUALENVS_IN_PROJECT: 'true' },
  ...{ PIPENV_VENV_IN_PROJECT: '1', BUNDLE_PATH: 'vendor/bundle', PIP_DISABLE_PIP_VERSION_CHECK: '1' },
}

// Packages stored outside the work tree are fetched completely, so that later commands need no network.
const FETCHES: ReadonlyMap<string, string> = new Map([
  ['go', '"$@" && exec go mod download'],
  ['cargo', '"$@" && exec cargo fetch'],
])

function buildInstallArgv(tree: string, { words, cwd }: Pick<InstallOrder, 'words' | 'cwd'>): readonly string[] {
  const [program = '', ...rest] = words
  const fetch = FETCHES.get(program)
  if (fetch !== undefined) return ['bash', '-c', fetch, 'install', ...words]
  const python = ['.venv', 'venv'].find((name) => existsSync(join(tree, cwd, name, 'bin/python')))
  return /^pip3?$/.test(program) && python !== undefined ? [`${python}/bin/python`, '-m', 'pip', ...rest] : words
}

function describeFailure({ stopped, exitCode }: CommandRun): string {
  if (stopped === 'timeout') return `timed out after ${INSTALL_MS_MAX / 60_000} minutes`
  return stopped === null ? `exited with ${exitCode}` : 'was ended before it was done'
}
