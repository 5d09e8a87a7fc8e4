import { type GitFacts, readGitFacts } from '../../checks/git-facts.js'
import { hashBesideProject } from '../../checks/observed-runs/beside-project.js'
import { formatTouched } from '../../checks/observed-runs/format-touched.js'
import { runKey } from '../../checks/observed-runs/observe.js'
import { observeRepeatedly } from '../../checks/observed-runs/repeat-runs.js'
import type { ShownPlace } from '../../checks/observed-runs/run-in-view.js'
import { explainCoverageFailures, hasOnlyOldFailures, pickGreenAgainst } from '../../checks/red-green/green-run.js'
import type { Confinement } from '../../confinement/confinement.js'
import type { Contract } from '../../core/contract/contract.js'
import { gradeRun, toInvertedView } from '../../core/evidence/inverted-run.js'
import {
  type Baseline,
  type ObservedRun,
  type ObservedRunMember,
  toTroubleView,
} from '../../core/evidence/observed-run.js'
import { comparesWithStart } from '../../core/evidence/red-gate.js'
import type { Needs } from '../../core/gates/needs.js'
import type { Json, JsonObject } from '../../core/json.js'
import type { TaskState } from '../../core/task/state.js'
import type { Blob } from '../../store/store.js'
import { requireFingerprint } from '../../tree/fingerprint.js'
import { findTouched } from '../../tree/stamps.js'
import type { TreeIndex } from '../../tree/tree-contents.js'
import { openWorkTree, type WorkTree } from '../../tree/work-tree.js'
import type { App } from '../app.js'
import { blobOf } from '../blobs.js'
import { getReserved } from '../tool-calls/contract-paths.js'
import { openSandbox, refuseWithoutConfinement } from '../tool-calls/contract-sandbox.js'
import { needsGit, selectCommands } from '../transitions/commands-for.js'
import { commitRulesOf } from '../trees/commit-rules.js'
import type { TreeComparison } from '../trees/trees.js'
import { findCompiled } from './build-caches.js'
import { type ComposedView, composeViewOf } from './compose-view.js'
import { holdAgainstSources } from './declared-tests.js'
import { gatherInvertedRun, type InvertedResult } from './inverted-run.js'
import { readPinnedRun } from './pinned-run.js'
import { needsRedAgain, runRedAgain } from './red-again.js'
import { composeStartingCode } from './starting-code.js'

const TESTS_TOLD_MAX = 2000

export interface ObservedRuns {
  readonly runs: ReadonlyMap<string, ObservedRun>
  readonly refs: readonly JsonObject[]
  readonly blobs: readonly Blob[]
  readonly problems: readonly string[]
  readonly git: GitFacts | null
  /** The baseline; null: not required, or not available. */
  readonly baseline: Baseline | null
  readonly noBaseline: string | null
  /** The tree after the commands; null: none was run. */
  readonly after: TreeComparison | null
}

/** Runs everything that the gates need to observe, each once. */
export async function observeFor(
  app: App,
  contract: Contract,
  state: TaskState,
  work: {
    readonly needed: Needs
    /** The tree as it was a moment ago, with what `LOOK` asks for. */
    readonly before?: TreeComparison | null
  },
): Promise<ObservedRuns> {
  const commands = selectCommands(contract, work.needed)
  const asksGit = needsGit(contract, work.needed)
  if (commands.size === 0 && !asksGit) return NOT_OBSERVED
  const confinement = await openSandbox(app, contract)
  const refused = refuseWithoutConfinement({ contract }, confinement)
  if (refused !== null && !refused.ok) return { ...NOT_OBSERVED, problems: [refused.detail] }
  const hasBaseline = state.baseline !== null || !commands.has('tests') || !comparesWithStart(contract)
  const base = await gatherBaseline(app, contract, state, commands.has('tests'))
  if ('problem' in base) return { ...NOT_OBSERVED, problems: [base.problem] }
  // While a baseline was waited for, files may have changed.
  const known = hasBaseline ? work.before : null
  const { index, fingerprint, stamps } = known ?? (await app.trees.compare(state.workspace, LOOK))
  // The listing of that look is not used: what the view leaves out is listed as late as possible.
  const tree = openWorkTree(state.workspace, { reusesNames: true })
  const treeHash = requireFingerprint(fingerprint)
  const beside = hashBesideProject(state.workspace, index)
  const bare = {
    confinement,
    tree: state.workspace,
    hidden: getReserved(app, contract, state.workspace).hidden,
    signal: new AbortController().signal,
    redact: (text: string) => String(app.redact(text)),
    ...(await findCompiled(app, state.workspace, confinement)),
  }
  const composed =
    commands.size === 0
      ? null
      : await buildComposedView(app, contract, state, { ...work, tree, index, place: bare, treeHash, base })
  if (typeof composed === 'string') return { ...NOT_OBSERVED, problems: [composed] }
  const place = composed === null ? bare : { ...bare, view: composed }
  const runs = new Map<string, ObservedRun>()
  const refs: JsonObject[] = []
  const blobs: Blob[] = []
  const fresh = new Map<string, ObservedRun>()
  let wasInverted: InvertedResult | null = null
  for (const [name, command] of commands) {
    const times = name === 'tests' ? (contract.tests.repeat ?? 1) : 1
    const inputs = `${await runKey(tree, treeHash, command)} ${beside} ${composed?.digest} ${times}`
    // What a service holds is not part of the tree.
    const key = beside === null || command.services !== undefined ? null : inputs
    const before = key === null ? undefined : app.observations.get(key)
    const ran = before ?? (await observeRepeatedly(place, { name, command, treeHash }, times))
    const about = { run: ran, command, composed, baseline: base.baseline }
    const plain = name === 'tests' ? await holdAgainstSources(app, contract, state, about) : ran
    // A stopped or void run says nothing about the tree; the next one may succeed.
    const isUnusable = plain.wasStopped || plain.isVoid === true
    if (before === undefined) fresh.set(isUnusable || key === null ? '' : key, plain)
    const turned = { plain, command, composed, place, key, needed: work.needed, baseline: base.baseline }
    const inverted = name === 'tests' ? await gatherInvertedRun(app, contract, state, turned) : null
    if (inverted?.isFresh === true) wasInverted = inverted
    const run = inverted === null ? plain : { ...plain, inverted: inverted.run }
    const blob = blobOf(runView(run))
    runs.set(name, run)
    const code = isLaterRed(work.needed, state) ? { code: 'at_start' } : {}
    refs.push({ ...toRunRef(run, { sha256: blob.sha256, isCached: before !== undefined }), ...code })
    blobs.push(blob)
  }
  const [tests, coverage] = [runs.get('tests'), runs.get('coverage')]
  if (tests !== undefined && coverage !== undefined && base.baseline !== null) {
    const pinnedRun = await readPinnedRun(app, state)
    runs.set('coverage', explainCoverageFailures(coverage, tests, pickGreenAgainst({ contract, pinnedRun, ...base })))
  }
  const git = asksGit ? await readGitFacts(place, index, await commitRulesOf(app, contract, state)) : null
  const hasRun = fresh.size > 0 || wasInverted !== null
  const after = hasRun ? await app.trees.compare(state.workspace, { stamps: true, files: true }) : null
  const touched = after === null ? [] : findTouched(stamps, after.stamps)
  // A test that passed before may be flaky: it runs again when the agent asks again.
  const isKept = (run: ObservedRun): boolean => base.baseline === null || !hasOnlyOldFailures(run, base.baseline)
  if (touched.length === 0) wasInverted?.keep()
  if (touched.length === 0)
    for (const [key, run] of fresh) if (key !== '' && isKept(run)) app.observations.set(key, run)
  return { runs, refs, blobs, problems: formatTouched(touched), git, after, ...base }
}

/** What commands need to know about the tree before they run. */
export const LOOK = { except: [], stamps: true, files: true } as const

const DISTURBED = 'Files changed while the tests of the starting tree ran. Request the transition again'

// Waits for the run that started at the claim, or starts one.
async function gatherBaseline(
  app: App,
  contract: Contract,
  state: TaskState,
  isNeeded: boolean,
): Promise<Pick<ObservedRuns, 'baseline' | 'noBaseline'> | { readonly problem: string }> {
  if (!isNeeded || !comparesWithStart(contract)) return { baseline: null, noBaseline: null }
  try {
    const made = await app.baselines.getOrRun(app, contract, state)
    if (made === null) return { problem: DISTURBED }
    return 'why' in made ? { baseline: null, noBaseline: made.why } : { baseline: made, noBaseline: null }
  } catch (error) {
    const why = error instanceof Error ? error.message : 'unknown error'
    return { problem: `The tests of the starting tree could not be run: ${why}` }
  }
}

async function buildComposedView(
  app: App,
  contract: Contract,
  state: TaskState,
  work: {
    readonly needed: Needs
    readonly tree: WorkTree
    readonly index: TreeIndex
    readonly place: ShownPlace & { readonly confinement: Pick<Confinement, 'start' | 'provider'> }
    readonly treeHash: string
    readonly base: Pick<ObservedRuns, 'baseline' | 'noBaseline'>
  },
): Promise<ComposedView | string> {
  try {
    const isRedMissing = !work.needed.pinsTests && needsRedAgain(app, contract, state)
    const problem = isRedMissing ? await runRedAgain(app, contract, state, work) : null
    if (problem !== null) return problem
    const pinnedRun = await readPinnedRun(app, state)
    const composed = await composeViewOf(app, contract, state, { ...work, pinnedRun })
    if (!isLaterRed(work.needed, state)) return composed
    if (work.place.confinement.provider === 'none') return NEEDS_SANDBOX
    return await composeStartingCode(app, contract, state, { composed, now: work.index, pinned: pinnedRun })
  } catch (error) {
    return `The tree for the commands cannot be composed: ${error instanceof Error ? error.message : 'unreadable'}`
  }
}

/** Tests that failed before must fail again with the code that the task started from. */
function isLaterRed(needed: Needs, state: TaskState): boolean {
  return needed.pinsTests && state.wasRed === true
}

const NEEDS_SANDBOX = 'Tests seen failing earlier are run with the starting code of the task, which needs the sandbox'

/** State before anything was run. */
export const NOT_OBSERVED: ObservedRuns = {
  ...{ runs: new Map(), refs: [], blobs: [], problems: [], git: null },
  ...{ baseline: null, noBaseline: null, after: null },
}

/** The record as shown by reviewers' views, expressions and the artifact `test_run_result`. */
export function runView(run: ObservedRun): { readonly [K in ObservedRunMember]?: Json } & JsonObject {
  const { counts } = run
  return {
    command: run.command,
    exit_code: run.exitCode,
    passed: counts?.passed ?? 0,
    failed: counts?.failed ?? 0,
    skipped: counts?.skipped ?? 0,
    counts_known: counts !== null,
    tests: run.tests.slice(0, TESTS_TOLD_MAX).map(({ id, status }) => ({ id, status })),
    tests_total: run.tests.length,
    load_failures: run.loadFailures.slice(0, 50).map(({ file, kind, message }) => ({ file, kind, message })),
    ...(run.coverage === null ? {} : { coverage: run.coverage }),
    ...(run.problem === null ? {} : { problem: run.problem }),
    ...(run.trouble === undefined ? {} : toTroubleView(run.trouble)),
    ...signalView(run),
    ...toLeftOutView(run),
    ...(run.inverted === undefined ? {} : { inverted: toInvertedView(run.inverted, TESTS_TOLD_MAX) }),
    duration_ms: run.durationMs,
    tree_hash: run.treeHash,
    grade: gradeRun(run),
  }
}

const LEFT_OUT_TOLD_MAX = 50

function toLeftOutView({ leftOut = [] }: ObservedRun): JsonObject {
  return leftOut.length === 0 ? {} : { left_out: leftOut.slice(0, LEFT_OUT_TOLD_MAX), left_out_total: leftOut.length }
}

/** Extra permissions that the contract gave the run. */
export function signalView({ allowedSigusr1, services }: ObservedRun): JsonObject {
  return {
    ...(allowedSigusr1 === true ? { sigusr1: 'allowed' } : {}),
    ...(services === undefined ? {} : { services: services.map((use) => ({ ...use })) }),
  }
}

function toRunRef(run: ObservedRun, about: { readonly sha256: string; readonly isCached: boolean }): JsonObject {
  const { counts } = run
  return {
    name: run.name,
    command: run.command,
    exit_code: run.exitCode,
    passed: counts?.passed ?? null,
    failed: counts?.failed ?? null,
    skipped: counts?.skipped ?? null,
    ...(run.loadFailures.length === 0 ? {} : { not_loaded: run.loadFailures.length }),
    problem: run.problem,
    ...signalView(run),
    ...toLeftOutView(run),
    ...(run.inverted === undefined ? {} : { inverted: toInvertedView(run.inverted, 0) }),
    duration_ms: run.durationMs,
    tree_hash: run.treeHash,
    grade: gradeRun(run),
    sha256: about.sha256,
    cached: about.isCached,
  }
}

export function toObservedView(runs: ReadonlyMap<string, ObservedRun>): Readonly<Record<string, Json>> {
  return Object.fromEntries([...runs].map(([name, run]) => [name, runView(run)]))
}
