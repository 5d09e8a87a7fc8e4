import { createHash } from 'node:crypto'
import type { PhaseChanges, ReviewSeen } from '../../checks/check-inputs.js'
import { runCheck } from '../../checks/run-check.js'
import { findChangedBeforeRed, findChangedSetup } from '../../checks/test-setup/moved-setup.js'
import { toCanonicalJson } from '../../contract/fingerprint.js'
import type { Contract } from '../../core/contract/contract.js'
import { gradeRun, isObserved } from '../../core/evidence/inverted-run.js'
import { findObservedSource } from '../../core/evidence/observed-evidence.js'
import type { ObservedRun } from '../../core/evidence/observed-run.js'
import type { Needs } from '../../core/gates/needs.js'
import { isRed } from '../../core/gates/ways-back.js'
import type { Json } from '../../core/json.js'
import { dependsOnReviews } from '../../core/reviews/consensus-plan.js'
import { REVIEW_ARTIFACTS } from '../../core/reviews/review.js'
import type { ArtifactOffered, CheckOutcome } from '../../core/task/command.js'
import type { TaskState } from '../../core/task/state.js'
import type { Blob } from '../../store/store.js'
import type { WorkTree } from '../../tree/work-tree.js'
import type { App } from '../app.js'
import { toTaskView } from '../tasks/views.js'
import { makeIgnoredMatcher } from '../test-runs/compose-view.js'
import { buildInlineView } from '../test-runs/inline-view.js'
import { type ObservedRuns, runView, toObservedView } from '../test-runs/observe-gates.js'
import { readPinnedRun } from '../test-runs/pinned-run.js'
import { needsRedAgain } from '../test-runs/red-again.js'
import { startOfWork } from '../test-runs/start-of-work.js'
import { makeStartContentReader } from '../trees/content-at-start.js'
import { needsGit, selectCommands, usesGit } from './commands-for.js'
import type { Offer } from './gather.js'

interface Scene {
  readonly contract: Contract
  readonly state: TaskState
  readonly contents: { readonly ofVisit: ReadonlyMap<string, Json>; readonly all: ReadonlyMap<string, Json> }
  readonly offer: Offer
  readonly tree: WorkTree
  readonly needed: Needs
  readonly reviews: readonly ReviewSeen[] | null
  /** What changed in this visit; null where no check of the gate asks. */
  readonly changes: PhaseChanges | null
}

/** Every check of the gate, over what was handed in and what was observed so far. */
export async function runChecks(
  app: App,
  scene: Scene,
  observed: ObservedRuns,
): Promise<ReadonlyMap<string, CheckOutcome>> {
  const { contract, state, contents, offer, tree, needed } = scene
  const pinnedRun = await readPinnedRun(app, state)
  const before = makeStartContentReader(app, state)
  const start = startOfWork(app, contract, state)
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
      observed: observed.runs,
      git: observed.git,
      ...{ baseline: observed.baseline, noBaseline: observed.noBaseline },
      observedView: toObservedView(observed.runs),
      pinnedRun,
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

// An agent that wonders why its file has no effect is told.
function addLeftOut(outcome: CheckOutcome, runs: ObservedRuns['runs']): CheckOutcome {
  const paths = [...new Set([...runs.values()].flatMap(({ leftOut }) => leftOut ?? []))]
  return outcome.result === 'holds' ? outcome : { ...outcome, found: `${outcome.found}${formatLeftOut(paths)}` }
}

/** What a run did not see of the tree, in words to be put after what it said. */
export function formatLeftOut(paths: readonly string[]): string {
  if (paths.length === 0) return ''
  const more = paths.length > LEFT_OUT_NAMED_MAX ? ` and ${paths.length - LEFT_OUT_NAMED_MAX} more` : ''
  const named = `${paths.slice(0, LEFT_OUT_NAMED_MAX).join(', ')}${more}`
  return `. Left out of the run, because it came since RED or since work began: ${named}`
}

/** What observed evidence relies on and is not as it was, in words. At RED how the tests are run is still to be recorded. */
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

/** Test setup that has to be put back before a way back to the phase of the tests: there nobody could. */
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

function addRun(contents: Scene['contents'], run: ObservedRun): Scene['contents'] {
  const view = runView(run)
  return {
    all: new Map(contents.all).set('test_run_result', view),
    ofVisit: new Map(contents.ofVisit).set('test_run_result', view),
  }
}

/** Whether everything that costs nothing holds: only then is it worth running the project's tests. */
export function isOpenSoFar(
  state: TaskState,
  needed: Needs,
  found: {
    readonly contract: Contract
    readonly offered: readonly ArtifactOffered[]
    readonly cheap: ReadonlyMap<string, CheckOutcome>
    readonly evidenceHolds: boolean
  },
): boolean {
  const { contract, offered, cheap } = found
  if (selectCommands(contract, needed).size === 0 && !needsGit(contract, needed)) return false
  const isObserved = (type: string): boolean => type === 'test_run_result' && contract.commands.has('tests')
  const artifactsFit = needed.artifacts.every(({ type }) => {
    if (isObserved(type) || (needed.isReviewedByVote && REVIEW_ARTIFACTS.includes(type))) return true
    const sent = offered.find((one) => one.type === type)
    const kept = state.artifacts.get(type)
    return sent === undefined ? kept?.visit === state.visit : sent.problems.length === 0
  })
  if (!artifactsFit || !found.evidenceHolds) return false
  const fillsEvidence = [...needed.evidence.values()].some((field) => field.grade === 'observed')
  return needed.checks.every(({ key, blocker, artifact }) => {
    if (needed.isReviewedByVote && dependsOnReviews(blocker, artifact)) return true
    if (blocker.severity !== 'blocking' || needsRun(contract, blocker.check, blocker.params.when)) return true
    if (fillsEvidence && blocker.check === 'expression' && /\bevidence\b/.test(String(blocker.params.when ?? '')))
      return true
    return cheap.get(key)?.result === 'holds'
  })
}

const RUN_CHECKS: ReadonlySet<string> = new Set([
  ...['work_tree_clean', 'committed', 'examples_hold', 'tests_can_fail'],
  ...['tests_are_failing', 'all_tests_pass', 'no_skipped_tests', 'coverage_threshold_met', 'command_succeeds'],
])

const READS_OBSERVED = /\bobserved\b/
const READS_RUN = /\b(observed|test_run_result)\b/
const TEST_CHECKS: ReadonlySet<string> = new Set(['tests_are_failing', 'all_tests_pass', 'no_skipped_tests'])

function needsRun(contract: Contract, check: string, when: Json | undefined): boolean {
  // Where Phaselock runs the tests, it also makes the result that an expression reads.
  if (check === 'expression')
    return (contract.commands.has('tests') ? READS_RUN : READS_OBSERVED).test(String(when ?? ''))
  if (usesGit(contract, check)) return true
  if (!RUN_CHECKS.has(check)) return false
  return !TEST_CHECKS.has(check) || contract.commands.has('tests')
}

/** The observed run as the artifact that the phase asks for. The agent's own words about a run that was observed do not count. */
export function buildObservedArtifact(
  needed: Needs,
  run: ObservedRun,
): { readonly offered: ArtifactOffered; readonly blob: Blob } | null {
  if (!needed.artifacts.some((artifact) => artifact.type === 'test_run_result')) return null
  const content = toCanonicalJson(runView(run))
  const sha256 = createHash('sha256').update(content).digest('hex')
  const bytes = Buffer.byteLength(content)
  return {
    offered: { type: 'test_run_result', sha256, bytes, grade: gradeRun(run), problems: [] },
    blob: { sha256, content },
  }
}

/** What the agent sends, without what Phaselock sees for itself or hears from reviewers. */
export function omitObserved(contract: Contract, needed: Needs, offer: Offer): Offer {
  const isOthers = (type: string): boolean =>
    (type === 'test_run_result' && contract.commands.has('tests')) ||
    (needed.reviews !== null && REVIEW_ARTIFACTS.includes(type))
  return { ...offer, artifacts: new Map([...offer.artifacts].filter(([type]) => !isOthers(type))) }
}
