import { isAutomatic } from '../../core/approvals/approval.js'
import type { Contract } from '../../core/contract/contract.js'
import type { Needs } from '../../core/gates/needs.js'
import { isOpenSoFar } from '../../core/gates/open-so-far.js'
import { AGENT_CLI_FILES } from '../../core/paths/agent-cli-files.js'
import { formatReviewsKey } from '../../core/reviews/review.js'
import type { GateFacts } from '../../core/task/command.js'
import type { TaskState } from '../../core/task/state.js'
import type { Blob } from '../../store/store.js'
import type { TreeIndex } from '../../tree/tree-contents.js'
import { openWorkTree } from '../../tree/work-tree.js'
import type { App } from '../app.js'
import { hashComparedTree } from '../approvals/approval-tree-hash.js'
import { lookAtVote, type Vote } from '../councils/consensus.js'
import { areHooksSilent } from '../hooks/hook-silence.js'
import { gatherReviews } from '../reviews/gather-reviews.js'
import { reviewChanges } from '../reviews/review-changes.js'
import { makeIgnoredMatcher } from '../test-runs/compose-view.js'
import { judgeExamples } from '../test-runs/example-runs.js'
import { LOOK, NOT_OBSERVED, observeFor } from '../test-runs/observe-gates.js'
import { findTestFiles, keepTests } from '../test-runs/pin-tests.js'
import { pinOfRun, readTestSurroundings } from '../test-runs/pinned-run.js'
import type { UnledgeredChange } from '../trees/agent-cli-files.js'
import { compareTree } from '../trees/compare-tree.js'
import { needsChanges, readChanges } from '../trees/phase-changes.js'
import type { TreeComparison } from '../trees/trees.js'
import { judgeCheckpoint, packEvidence } from './checkpoint.js'
import { selectCommands } from './commands-for.js'
import { type Gathering, startGathering } from './gathering.js'
import { computeApprovalDigest, judgeOffered, type Offer, readContents } from './handed-in.js'
import { buildObservedArtifact, findChangedUnderEvidence, findSetupToRestore, runChecks } from './run-checks.js'

export interface Gathered {
  readonly facts: GateFacts
  readonly blobs: readonly Blob[]
  /** The current tree, to be accepted when the phase is left. */
  readonly index: TreeIndex | null
  /** The vote on leaving the phase; null: there is none. */
  readonly vote: Vote | null
}

/** Cheap stages first; commands run only if everything else holds. */
const STAGES: readonly ((gathering: Gathering) => Promise<void>)[] = [
  judgeArtifacts,
  readVote,
  readReviews,
  hashTree,
  compareBefore,
  listTests,
  listChanges,
  runCheapChecks,
  compareSetup,
  judgeEvidence,
  runCommands,
  compareAfter,
  judgeAgain,
  keepRun,
  showChanges,
  pinTestFiles,
]

/** Gathers everything a transition decision needs, once and outside any transaction. Bound to its visit. */
export async function gather(
  app: App,
  contract: Contract,
  state: TaskState,
  work: { readonly needed: Needs; readonly offer: Offer; readonly isAuto: boolean },
): Promise<Gathered> {
  const gathering = startGathering({ ...work, app, contract, state })
  for (const stage of STAGES) await stage(gathering)
  // Examples run last, once nothing else keeps the gate closed.
  const { blobs, vote, contents } = gathering
  const index = gathering.compared?.index ?? null
  const tree = openWorkTree(state.workspace, { reusesNames: true })
  const facts = await judgeExamples(app, { ...gathering, tree, all: contents.all, index }, factsOf(gathering))
  return { facts, blobs, index, vote }
}

function factsOf(one: Gathering): GateFacts {
  if (one.evidenceFacts === null) throw new Error('the evidence was not judged')
  return {
    visit: one.needed.visit,
    artifacts: one.offered,
    checks: one.checks,
    ...one.evidenceFacts,
    digest: computeApprovalDigest(one),
    treeHash: one.treeHash,
    problems: one.problems,
    testFiles: one.pinned,
    observed: one.observed.refs,
    pinnedRun: one.pinnedRun,
    shown: one.shown,
    unledgered: one.compared?.unledgered ?? [],
    areHooksSilent: one.areHooksSilent,
    reviewsKey: formatReviewsKey(one.state),
    consensus: one.vote?.seen ?? null,
  }
}

// A failed stage keeps the gate closed and says why.
async function attempt<T>(one: Gathering, what: string, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    one.problems.push(`${what}: ${error instanceof Error ? error.message : 'unreadable'}`)
    return null
  }
}

async function judgeArtifacts(one: Gathering): Promise<void> {
  const handedIn = await judgeOffered(one.app, one.contract, one)
  one.offered = handedIn.offered
  one.blobs.push(...handedIn.blobs)
  one.contents = await readContents(one.app, one.state, one)
}

async function readVote(one: Gathering): Promise<void> {
  const { app, offer, contents } = one
  const scene = { ...one, evidence: offer.evidence, ofVisit: contents.ofVisit }
  one.vote = await lookAtVote(app, scene, (what, work) => attempt(one, what, work))
}

async function readReviews(one: Gathering): Promise<void> {
  const { app, contract, state, needed, offered, contents } = one
  const reviewed = await gatherReviews(app, contract, state, {
    ...{ needed, offered, contents, vote: one.vote?.seen.run ?? null },
    attempt: (what, work) => attempt(one, what, work),
  })
  one.offered = reviewed.offered
  one.bound = reviewed.bound
  one.contents = reviewed.contents
  one.reviews = reviewed.seen
  one.blobs.push(...reviewed.blobs)
}

async function hashTree(one: Gathering): Promise<void> {
  if (one.needed.demand.gates.every(isAutomatic)) return
  one.treeHash = await attempt(one, 'The work tree cannot be read', async () => {
    one.comparison = await one.app.trees.compare(one.state.workspace, { except: AGENT_CLI_FILES.keys(), files: true })
    return hashComparedTree(one.comparison)
  })
}

async function listTests(one: Gathering): Promise<void> {
  const { app, contract, state, tree } = one
  if (!one.needed.pinsTests) return
  const isIgnored = makeIgnoredMatcher(app, state.workspace)
  one.testFiles = await attempt(one, 'The test files cannot be recorded', () =>
    findTestFiles(contract, tree, isIgnored, one.compared),
  )
  one.readTestSurroundings = await attempt(one, 'How the tests are run cannot be recorded', () =>
    readTestSurroundings(contract, tree),
  )
}

async function compareBefore(one: Gathering): Promise<void> {
  const { app, contract, state, needed } = one
  const runs = one.comparison === null && selectCommands(contract, needed).size > 0
  one.compared = await attempt(one, 'The work tree cannot be compared', async () => {
    if (runs && contract.enforcement.reconcile !== 'off')
      one.before = one.comparison = await app.trees.compare(state.workspace, LOOK)
    return compareTree(app, contract, state, one.comparison)
  })
  useListing(one, one.comparison)
  one.comparison = null
  one.areHooksSilent = await areHooksSilent(one.app, one.state)
}

// Files are listed once for each look at the tree. Between a look and the checks that follow it, nothing runs: a file
// that is added there would be missed by another listing a moment earlier too, and is found by the next look. The view of
// the commands is composed from a listing of its own.
function useListing(one: Gathering, looked: Pick<TreeComparison, 'files'> | null): void {
  one.tree = openWorkTree(one.state.workspace, { reusesNames: true, files: looked?.files ?? null })
}

async function listChanges(one: Gathering): Promise<void> {
  if (needsChanges(one.needed))
    one.changes = await readChanges(one.app, one.state, omitCliFiles(one.compared?.unledgered ?? []))
}

async function runCheapChecks(one: Gathering): Promise<void> {
  one.checks = await runChecks(one.app, one, NOT_OBSERVED)
}

async function compareSetup(one: Gathering): Promise<void> {
  const moved = () => findSetupToRestore(one.app, one)
  one.problems.push(...((await attempt(one, 'The test setup cannot be compared', moved)) ?? []))
}

async function judgeEvidence(one: Gathering): Promise<void> {
  const runs = one.observed.runs.size === 0 ? null : one.observed.runs
  one.evidence = await judgeCheckpoint(one.app, { ...one, given: one.offer.evidence }, runs)
}

async function runCommands(one: Gathering): Promise<void> {
  const { app, contract, state, needed, problems } = one
  const found = { ...one, evidenceHolds: one.evidence?.problems.length === 0 }
  if (!isOpenSoFar(contract, state, needed, found)) return
  one.observed = await observeFor(app, contract, state, { needed, before: one.before })
  one.before = null
  useListing(one, one.observed.after)
  one.blobs.push(...one.observed.blobs)
  problems.push(...one.observed.problems)
  if (one.observed.runs.size === 0) return
  const moved = await attempt(one, 'The files that commands rely on cannot be compared', () =>
    findChangedUnderEvidence(app, one),
  )
  problems.push(...(moved ?? []))
}

// Changes made during a run, even if undone again, are detected now.
async function compareAfter(one: Gathering): Promise<void> {
  one.comparison = one.observed.after
  if (one.observed.runs.size > 0) await compareBefore(one)
  if (one.vote !== null && (await attempt(one, UNSEEN, one.vote.isUnchanged)) === false) one.problems.push(CHANGED)
}

const UNSEEN = 'What the reviewers vote on cannot be read'
const CHANGED = 'The work changed while the gates were checked. Request the transition again'

async function judgeAgain(one: Gathering): Promise<void> {
  const { app, offer, observed } = one
  await judgeEvidence(one)
  if (one.evidence === null) return
  const kept = packEvidence(one.evidence)
  one.evidenceFacts = kept.facts
  one.blobs.push(...kept.blobs)
  if (observed.runs.size === 0 && observed.git === null) return
  one.checks = await runChecks(app, { ...one, offer: { ...offer, evidence: one.evidence.evidence } }, observed)
}

async function keepRun(one: Gathering): Promise<void> {
  const ran = one.observed.runs.get('tests')
  if (ran === undefined) return
  const artifact = buildObservedArtifact(one.needed, ran)
  const pin = one.readTestSurroundings === null ? null : pinOfRun(ran, one.readTestSurroundings)
  if (artifact !== null) one.offered = [...one.offered, artifact.offered]
  one.pinnedRun = pin?.sha256 ?? null
  one.blobs.push(...[artifact?.blob ?? [], pin ?? []].flat())
}

async function showChanges(one: Gathering): Promise<void> {
  const index = one.compared?.index ?? null
  const review = await reviewChanges(one.app, one.contract, one.state, { ...one, index })
  one.shown = review.shown
  one.blobs.push(...review.blobs)
}

async function pinTestFiles(one: Gathering): Promise<void> {
  const { app, contract, state, tree, testFiles: files } = one
  const ran = one.observed.runs.get('tests')
  const isIgnored = makeIgnoredMatcher(app, state.workspace)
  one.pinned = await attempt(one, 'The test files cannot be kept', () =>
    keepTests(app, state, { contract, files, ran, tree, isIgnored }),
  )
}

// Files that an agent CLI writes for itself do not count as changes of the phase.
function omitCliFiles(unledgered: readonly UnledgeredChange[]): readonly UnledgeredChange[] {
  return unledgered.filter((change) => change.agentCli?.problem !== null)
}
