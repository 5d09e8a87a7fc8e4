import type { PhaseChanges, ReviewSeen } from '../../checks/check-inputs.js'
import { runCheck } from '../../checks/run-check.js'
import { findChangedBeforeRed, findChangedSetup } from '../../checks/test-setup/moved-setup.js'
import type { Contract } from '../../core/contract/contract.js'
import { gradeRun, isObserved } from '../../core/evidence/inverted-run.js'
import { findObservedSource } from '../../core/evidence/observed-evidence.js'
import type { ObservedRun } from '../../core/evidence/observed-run.js'
import type { Needs } from '../../core/gates/needs.js'
import { isRed } from '../../core/gates/ways-back.js'
import type { Json } from '../../core/json.js'
import type { ArtifactOffered, CheckOutcome } from '../../core/task/command.js'
import type { TaskState } from '../../core/task/state.js'
import type { Blob } from '../../store/store.js'
import type { WorkTree } from '../../tree/work-tree.js'
import type { App } from '../app.js'
import { blobOf } from '../blobs.js'
import { toTaskView } from '../tasks/views.js'
import { makeIgnoredMatcher } from '../test-runs/compose-view.js'
import { buildInlineView } from '../test-runs/inline-view.js'
import { type ObservedRuns, runView, toObservedView } from '../test-runs/observe-gates.js'
import { readPinnedRun } from '../test-runs/pinned-run.js'
import { needsRedAgain } from '../test-runs/red-again.js'
import { startOfWork } from '../test-runs/start-of-work.js'
import { getReserved, isHiddenBy } from '../tool-calls/contract-paths.js'
import { makeStartContentReader } from '../trees/content-at-start.js'
import type { Offer } from './handed-in.js'

interface Scene {
  readonly contract: Contract
  readonly state: TaskState
  readonly contents: { readonly ofVisit: ReadonlyMap<string, Json>; readonly all: ReadonlyMap<string, Json> }
  readonly offer: Offer
  readonly tree: WorkTree
  readonly needed: Needs
  readonly reviews: readonly ReviewSeen[] | null
  /** Changes of this visit; null if no check of the gate needs them. */
  readonly changes: PhaseChanges | null
}

/** Runs every check of the gate on the artifacts and observations so far. */
export async function runChecks(
  app: App,
  scene: Scene,
  observed: ObservedRuns,
): Promise<ReadonlyMap<string, CheckOutcome>> {
  const { contract, state, contents, offer, tree, needed } = scene
  const pinnedRun = await readPinnedRun(app, state)
  const before = makeStartContentReader(app, state)
  const start = startOfWork(app, contract, state)
  const isHidden = isHiddenBy(getReserved(app, contract, state.workspace))
  const movedInline = async () =>
    needsRedAgain(app, contract, state)
      ? []
      : (
          await buildInlineView(app, state, {
            tree,
            pins: state.pinnedTests,
            isIgnored: makeIgnoredMatcher(app, state.workspace),
          })
        ).moved
  const ran = observed.runs.get('tests')
  const shown = ran === undefined ? contents : addRun(contents, ran)
  const checks = new Map<string, CheckOutcome>()
  for (const { key, blocker, timeoutSeconds } of needed.checks) {
    const inputs = {
      ...shown,
      contract,
      evidence: offer.evidence,
      task: toTaskView(state),
      tree,
      pinnedTests: state.pinnedTests,
      movedInline,
      readPinned: (path: string, hash: string) => readPinnedText(app, state, { path, hash }),
      observed: observed.runs,
      git: observed.git,
      ...{ baseline: observed.baseline, noBaseline: observed.noBaseline },
      observedView: toObservedView(observed.runs),
      pinnedRun,
      isHidden,
      changes: scene.changes,
      contentAtStart: before,
      start,
      reviews: scene.reviews,
      hasHeldOut: state.heldOut !== undefined,
      params: blocker.params,
    }
    const outcome = await runCheck(blocker.check, inputs, timeoutSeconds)
    checks.set(key, isObserved(outcome.grade) ? addLeftOut(outcome, observed.runs) : outcome)
  }
  return checks
}

const LEFT_OUT_NAMED_MAX = 5

// Tells an agent why its file has no effect.
function addLeftOut(outcome: CheckOutcome, runs: ObservedRuns['runs']): CheckOutcome {
  const paths = [...new Set([...runs.values()].flatMap(({ leftOut }) => leftOut ?? []))]
  return outcome.result === 'holds' ? outcome : { ...outcome, found: `${outcome.found}${formatLeftOut(paths)}` }
}

/** The part of the tree that a run did not see, as text to append to its result. */
export function formatLeftOut(paths: readonly string[]): string {
  if (paths.length === 0) return ''
  const more = paths.length > LEFT_OUT_NAMED_MAX ? ` and ${paths.length - LEFT_OUT_NAMED_MAX} more` : ''
  const named = `${paths.slice(0, LEFT_OUT_NAMED_MAX).join(', ')}${more}`
  return `. Left out of the run, because it was added after RED or after work began: ${named}`
}

/** Parts that observed evidence relies on and that have changed, as text. At RED the test setup is not recorded yet. */
export async function findChangedUnderEvidence(app: App, scene: Omit<Scene, 'changes'>): Promise<readonly string[]> {
  const { contract, state, tree, needed } = scene
  const names = [...needed.evidence].flatMap(([name, field]) =>
    field.grade === 'observed' ? (findObservedSource(contract.commands.keys(), name, field.type)?.command ?? []) : [],
  )
  const start = startOfWork(app, contract, state)
  const pinnedRun = await readPinnedRun(app, state)
  const inputs = { contract, tree, pinnedRun, pinnedTests: state.pinnedTests, start, task: toTaskView(state) }
  const moved: string[] = []
  for (const name of new Set(names)) {
    const command = contract.commands.get(name)
    if (command === undefined || (needed.pinsTests && name === 'tests')) continue
    for (const text of await findChangedSetup(inputs, name, command)) moved.push(`${name}: ${text}`)
  }
  return moved
}

/** Test setup that must be restored before returning to the test phase, because it cannot be restored there. */
export async function findSetupToRestore(app: App, scene: Omit<Scene, 'changes'>): Promise<readonly string[]> {
  const { contract, state, tree, needed } = scene
  const to = needed.demand.full ? undefined : needed.demand.transition?.to
  if (to === undefined || !isRed(contract.phases.get(to)) || state.pinnedRun === null) return []
  const { pinnedTests } = state
  const start = startOfWork(app, contract, state)
  const pinnedRun = await readPinnedRun(app, state)
  const moved = await findChangedBeforeRed(
    { contract, tree, pinnedRun, pinnedTests, start, task: toTaskView(state) },
    to,
  )
  return moved.map((text) => `${text}. Put it back before ${to}, or ask for it with request_setup_change`)
}

function readPinnedText(
  app: App,
  state: TaskState,
  { path, hash }: { readonly path: string; readonly hash: string },
): string | null {
  const entry = app.views.findPinned(state.id, path, hash)
  return entry?.type === 'file' ? entry.content.toString('utf8') : null
}

function addRun(contents: Scene['contents'], run: ObservedRun): Scene['contents'] {
  const view = runView(run)
  return {
    all: new Map(contents.all).set('test_run_result', view),
    ofVisit: new Map(contents.ofVisit).set('test_run_result', view),
  }
}

/** The observed run as the artifact of the phase. The agent's own statement about an observed run does not count. */
export function buildObservedArtifact(
  needed: Needs,
  run: ObservedRun,
): { readonly offered: ArtifactOffered; readonly blob: Blob } | null {
  if (!needed.artifacts.some((artifact) => artifact.type === 'test_run_result')) return null
  const blob = blobOf(runView(run))
  const about = { sha256: blob.sha256, bytes: Buffer.byteLength(blob.content), grade: gradeRun(run) }
  return { offered: { type: 'test_run_result', ...about, problems: [] }, blob }
}
