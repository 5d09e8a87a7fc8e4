import { sha256Hex } from '../../base/sha256.js'
import { hashBesideProject } from '../../checks/observed-runs/beside-project.js'
import { observe, runKey } from '../../checks/observed-runs/observe.js'
import { observeRepeatedly } from '../../checks/observed-runs/repeat-runs.js'
import { isSource } from '../../checks/test-files/test-files.js'
import type { Contract, ObservedCommand } from '../../core/contract/contract.js'
import type { Baseline, ObservedRun } from '../../core/evidence/observed-run.js'
import { comparesCoverage } from '../../core/evidence/red-gate.js'
import type { TaskState } from '../../core/task/state.js'
import { findTouched } from '../../tree/stamps.js'
import { listDifferences, type TreeIndex } from '../../tree/tree-contents.js'
import { openWorkTree } from '../../tree/work-tree.js'
import { blobOf } from '../blobs.js'
import { contextOf, type Resources } from '../resources.js'
import { getReserved } from '../tool-calls/contract-paths.js'
import { openSandbox, refuseWithoutConfinement } from '../tool-calls/contract-sandbox.js'
import { composeFilesAtStart } from '../trees/files-at-start.js'
import { WORK_BEGAN } from '../trees/trees.js'
import { compileForTests, findCompiled } from './build-caches.js'

/**
 * Why there is no baseline, so that the older rules apply; null: it was disturbed, and is run again when a gate needs
 * it.
 */
export type NoBaseline = { readonly why: string } | null

interface BaselineWork {
  readonly signal: AbortSignal
  /** Baselines of other tasks that can be reused. */
  readonly shared: {
    kept(key: string | null, read: (sha256: string) => Promise<string | null>): Promise<Baseline | null>
    keep(key: string | null, sha256: string): void
  }
  readonly found?: TreeIndex | null
}

/**
 * The test results of the tree that work on the task began with. Recorded once per task. `found` is the tree at the
 * first claim, for tasks whose start is not recorded.
 */
export async function makeBaseline(
  app: Resources,
  contract: Contract,
  state: TaskState,
  { signal, shared, found = null }: BaselineWork,
): Promise<Baseline | NoBaseline> {
  const recorded = await readRecordedBaseline(app, state)
  if (recorded !== null) return recorded
  const command = contract.commands.get('tests')
  if (command === undefined) return { why: 'the contract does not say how tests are run' }
  const start = startOf(app, state, found)
  if (start === null) return { why: 'the work tree as it was when work began was not recorded' }
  const key = hasSources(start) ? await computeKey(contract, state, { command, start }) : null
  const kept = await shared.kept(key, (sha256) => app.ledger.store.readBlob(sha256))
  const made = kept ?? (await runOnStart(app, contract, state, { command, start, signal }))
  if (made === null || 'why' in made) return made
  await record(app, contract, state, made)
  shared.keep(key, blobOf(made).sha256)
  return made
}

/** The baseline in the ledger; null: none. */
async function readRecordedBaseline(app: Resources, { id }: TaskState): Promise<Baseline | null> {
  const sha256 = (await app.ledger.peek(id))?.baseline ?? null
  const content = sha256 === null ? null : await app.ledger.store.readBlob(sha256)
  return content === null ? null : (JSON.parse(content) as Baseline)
}

function hasSources({ entries }: TreeIndex): boolean {
  return Object.keys(entries).some(isSource)
}

/** Whether a run is needed: a tree without sources has no tests, which is cheap to find out. */
export function isWorthRunning(app: Resources, state: TaskState, found: TreeIndex | null): boolean {
  const start = startOf(app, state, found)
  return start !== null && hasSources(start)
}

function startOf(app: Resources, state: TaskState, found: TreeIndex | null): TreeIndex | null {
  return app.trees.readMark(state.workspace, state.id, WORK_BEGAN) ?? found
}

// Null if the key would be unreliable: too many files outside the project, or the command uses a service.
async function computeKey(
  contract: Contract,
  { workspace }: TaskState,
  { command, start }: { readonly command: ObservedCommand; readonly start: TreeIndex },
): Promise<string | null> {
  const beside = hashBesideProject(workspace, start)
  if (beside === null || command.services !== undefined) return null
  const entries = Object.entries(start.entries).sort(([a], [b]) => (a < b ? -1 : 1))
  const treeHash = sha256Hex(JSON.stringify(entries))
  const key = await runKey(openWorkTree(workspace), treeHash, command)
  const coverage = getCoverageCommand(contract)
  const more = coverage === undefined ? '' : ` ${await runKey(openWorkTree(workspace), treeHash, coverage)}`
  return sha256Hex(`${key} ${beside} ${contract.tests.repeat ?? 1}${more}`)
}

function getCoverageCommand(contract: Contract): ObservedCommand | undefined {
  return comparesCoverage(contract) ? contract.commands.get('coverage') : undefined
}

async function runOnStart(
  app: Resources,
  contract: Contract,
  state: TaskState,
  work: { readonly command: ObservedCommand; readonly start: TreeIndex; readonly signal: AbortSignal },
): Promise<Baseline | NoBaseline> {
  const { command, start, signal } = work
  if (!hasSources(start)) return { ...NO_TESTS, reason: 'there were no source files in the work tree' }
  const confinement = await openSandbox(app, contract)
  const refused = refuseWithoutConfinement({ contract }, confinement)
  if (refused !== null && !refused.ok) return { why: refused.detail }
  const { index: before, stamps } = await app.trees.compare(state.workspace, { stamps: true })
  const moved = listDifferences({ ...start, packages: {} }, { ...before, packages: {} }).map(({ path }) => path)
  const isInTree = confinement.provider === 'none'
  const isRecorded = app.trees.readMark(state.workspace, state.id, WORK_BEGAN) !== null
  if (moved.length > 0 && (isInTree || !isRecorded))
    return { why: `files changed before the first test run (${moved[0]})` }
  // A large uncommitted file appears with its current content.
  const { put, leftOut } = await composeFilesAtStart(app, contract, state, { start, paths: moved })
  const hidden = getReserved(app, contract, state.workspace).hidden
  const composition = { put, leftOut, pinned: [], isGuarded: () => false }
  const job = { tree: state.workspace, hidden, signal, composition }
  // Started in the background at the claim, so that gates find it finished.
  if (!isInTree) await compileForTests(app, { confinement, job, env: command.env, command: command.run })
  const place = {
    ...{ confinement, tree: state.workspace, hidden, signal },
    redact: (text: string) => String(app.redact(text)),
    ...(await findCompiled(app, state.workspace, confinement)),
    view: { composition, leftOut: [] },
  }
  const about = { name: 'tests', command, treeHash: 'start' }
  const run = await observeRepeatedly(place, about, contract.tests.repeat ?? 1)
  const coverage = getCoverageCommand(contract)
  const covered = coverage === undefined ? null : await observe(place, 'coverage', coverage, { treeHash: 'start' })
  if (signal.aborted) return null
  // Files written during the run show through its view: then it is not a run of the starting tree alone.
  const after = await app.trees.compare(state.workspace, { stamps: true })
  const changes = listDifferences(before, after.index)
  // Without a view, the run itself leaves reports and caches in the tree.
  const isDisturbed = changes.some(({ path, kind }) => !isInTree || kind !== 'created' || isSource(path))
  if (isDisturbed) return null
  if (findTouched(stamps, after.stamps).length > 0) return null
  return { ...toBaseline(run), ...(covered === null ? {} : { coverage: toCoverage(covered, run) }) }
}

// A coverage command fails with every failing test; without one, it could not do its work.
function toCoverage({ coverage, lines, ...run }: ObservedRun, tests: ObservedRun): NonNullable<Baseline['coverage']> {
  if (coverage === null || lines === undefined) return { reason: run.problem ?? `exit code ${run.exitCode}` }
  if (run.exitCode !== 0 && tests.exitCode === 0) return { reason: `\`${run.command}\` ended with ${run.exitCode}` }
  return { ...lines, percent: coverage }
}

const NO_TESTS: Baseline = {
  tests: [],
  flaky: [],
  counts: { passed: 0, failed: 0, skipped: 0 },
  isComplete: true,
  loadFailures: [],
  exitCode: 0,
  reason: null,
}

function toBaseline(run: ObservedRun): Baseline {
  const { counts, trouble, problem, exitCode, isComplete } = run
  if (counts === null || run.wasStopped) {
    const why = trouble === undefined ? (problem ?? 'nothing was reported') : `${trouble.cause}: ${trouble.detail}`
    return { ...NO_TESTS, exitCode, isComplete: false, reason: why }
  }
  return {
    tests: run.tests.map(({ id, status, file }) => ({ id, status, file })),
    flaky: run.flaky ?? [],
    counts,
    isComplete,
    loadFailures: run.loadFailures,
    exitCode,
    reason: null,
  }
}

async function record(app: Resources, contract: Contract, state: TaskState, made: Baseline): Promise<void> {
  const blob = blobOf(made)
  const { counts, reason } = made
  const command = { type: 'record_baseline', run: blob.sha256, counts, flaky: made.flaky.length, reason } as const
  await app.ledger.apply({ taskId: state.id, contract }, command, contextOf(app, 'orchestrator'), { blobs: [blob] })
}
