import { createHash } from 'node:crypto'
import { readPlanExamples } from '../../checks/examples/read-examples.js'
import { listGateCommands } from '../../checks/observed-runs/gate-commands.js'
import { readMarks } from '../../checks/test-files/test-marks.js'
import { readTestSetup } from '../../checks/test-setup/test-setup.js'
import { toCanonicalJson } from '../../contract/fingerprint.js'
import { isAutomatic } from '../../core/approvals/approval.js'
import type { Contract } from '../../core/contract/contract.js'
import type { PinnedHarness, PinnedRun } from '../../core/evidence/observed-run.js'
import { OBSERVED_ARTIFACT } from '../../core/gates/blockers.js'
import type { Needs } from '../../core/gates/needs.js'
import type { Json, JsonObject } from '../../core/json.js'
import { formatReviewsKey } from '../../core/reviews/review.js'
import type { ArtifactOffered, GateFacts } from '../../core/task/command.js'
import type { TaskState } from '../../core/task/state.js'
import type { Blob } from '../../store/store.js'
import type { TreeIndex } from '../../tree/tree-contents.js'
import { openWorkTree, type WorkTree } from '../../tree/work-tree.js'
import type { App } from '../app.js'
import { boundTree } from '../approvals/approval-tree-hash.js'
import { lookAtVote, type Vote } from '../councils/consensus.js'
import { gatherReviews } from '../reviews/gather-reviews.js'
import { reviewChanges } from '../reviews/review-changes.js'
import { makeIgnoredMatcher } from '../test-runs/compose-view.js'
import { judgeExamples } from '../test-runs/example-runs.js'
import { hasExampleGate } from '../test-runs/held-out.js'
import { NOT_OBSERVED, observeFor } from '../test-runs/observe-gates.js'
import { findTestFiles, keepTests } from '../test-runs/pin-tests.js'
import { pinOfRun } from '../test-runs/pinned-run.js'
import type { UnledgeredChange } from '../trees/agent-cli-files.js'
import { compareTree } from '../trees/compare-tree.js'
import { needsChanges, readChanges } from '../trees/phase-changes.js'
import { type CheckpointScene, judgeCheckpoint, omitObservedFields, packEvidence } from './checkpoint.js'
import {
  buildObservedArtifact,
  findChangedUnderEvidence,
  findSetupToRestore,
  isOpenSoFar,
  omitObserved,
  runChecks,
} from './run-checks.js'

export interface Offer {
  /** Redacted already: what is judged is what is stored. */
  readonly artifacts: ReadonlyMap<string, Json>
  readonly evidence: JsonObject
}

export interface Gathered {
  readonly facts: GateFacts
  readonly blobs: readonly Blob[]
  /** How the tree looks now, to be taken over when the phase is left. */
  readonly index: TreeIndex | null
  /** The vote on leaving the phase; null: there is none. */
  readonly vote: Vote | null
}

/** Gathers once, outside any transaction, what a transition needs to be decided. Bound to the visit it was gathered in. */
export async function gather(
  app: App,
  contract: Contract,
  state: TaskState,
  work: { readonly needed: Needs; readonly offer: Offer; readonly isAuto?: true },
): Promise<Gathered> {
  const { all, ...gathered } = await gatherBeforeExamples(app, contract, state, work)
  const about = { contract, state, needed: work.needed, tree: openWorkTree(state.workspace), all }
  const scene = { ...about, index: gathered.index, isAuto: work.isAuto === true }
  return { ...gathered, facts: await judgeExamples(app, scene, gathered.facts) }
}

async function gatherBeforeExamples(
  app: App,
  contract: Contract,
  state: TaskState,
  work: { readonly needed: Needs; readonly offer: Offer },
): Promise<Gathered & { readonly all: ReadonlyMap<string, Json> }> {
  const { needed } = work
  const offer = omitObserved(contract, needed, work.offer)
  const handed = await judgeArtifacts(app, contract, { needed, offer })
  const handedIn = await readContents(app, state, { needed, offer })
  const tree = openWorkTree(state.workspace)
  const problems: string[] = []
  const attempt = async <T>(what: string, work: () => Promise<T>): Promise<T | null> => {
    try {
      return await work()
    } catch (error) {
      problems.push(`${what}: ${error instanceof Error ? error.message : 'unreadable'}`)
      return null
    }
  }
  const list = async (what: string, work: () => Promise<readonly string[]>) =>
    problems.push(...((await attempt(what, work)) ?? []))
  const handedWork = { contract, state, needed, offered: handed.offered, evidence: offer.evidence }
  const vote = await lookAtVote(app, { ...handedWork, ofVisit: handedIn.ofVisit }, attempt)
  const reviewed = await gatherReviews(app, contract, state, {
    ...{ needed, attempt, offered: handed.offered, contents: handedIn, vote: vote?.seen.run ?? null },
  })
  const { offered, contents } = reviewed
  const hashed = await attempt('The work tree cannot be read', () => hashTree(app, state, needed))
  const { files, around } = await findTestsToPin(app, state, { contract, tree, needed, attempt })
  const compare = () => attempt('The work tree cannot be compared', () => compareTree(app, contract, state))
  const before = await compare()
  const changes = needsChanges(needed) ? await readChanges(app, state, omitCliFiles(before?.unledgered ?? [])) : null
  const seen = { contract, state, contents, offer, tree, needed, reviews: reviewed.seen, changes }
  const cheap = await runChecks(app, seen, NOT_OBSERVED)
  await list('The test setup cannot be compared', () => findSetupToRestore(app, seen))
  const checkpoint: CheckpointScene = { contract, state, needed, given: offer.evidence }
  const evidenceHolds = (await judgeCheckpoint(app, checkpoint, null)).problems.length === 0
  const isWorthIt = problems.length === 0 && isOpenSoFar(state, needed, { offered, cheap, evidenceHolds, contract })
  const observed = isWorthIt
    ? await observeFor(app, contract, state, { needed, tree, index: before?.index ?? null })
    : NOT_OBSERVED
  problems.push(...observed.problems)
  if (observed.runs.size > 0)
    await list('What commands rely on cannot be compared', () => findChangedUnderEvidence(app, seen))
  // A run takes its time: what was changed behind it, and maybe changed back, is seen now.
  const compared = observed.runs.size === 0 ? before : await compare()
  if (vote !== null && (await attempt(UNSEEN, vote.isUnchanged)) === false) problems.push(CHANGED)
  const judged = await judgeCheckpoint(app, checkpoint, observed.runs.size === 0 ? null : observed.runs)
  const evidence = packEvidence(judged)
  const final = { ...seen, offer: { ...offer, evidence: judged.evidence } }
  const checks = observed.runs.size === 0 && observed.git === null ? cheap : await runChecks(app, final, observed)
  const ran = observed.runs.get('tests')
  const artifact = ran === undefined ? null : buildObservedArtifact(needed, ran)
  const pinnedRun = around !== null && ran !== undefined ? pinOfRun(ran, around) : null
  const review = await reviewChanges(app, contract, state, { needed, index: compared?.index ?? null, checks })
  const pinned = await attempt('The test files cannot be kept', () =>
    keepTests(app, state, { contract, files, ran, tree, isIgnored: makeIgnoredMatcher(app, state.workspace) }),
  )
  return {
    index: compared?.index ?? null,
    vote,
    all: contents.all,
    blobs: [
      ...[handed, evidence, reviewed, observed, review].flatMap((one) => one.blobs),
      ...[artifact?.blob ?? [], pinnedRun ?? []].flat(),
    ],
    facts: {
      visit: needed.visit,
      artifacts: artifact === null ? offered : [...offered, artifact.offered],
      checks,
      ...evidence.facts,
      digest: hashBound(state, { needed, offer, offered: reviewed.bound, ofVisit: contents.ofVisit, treeHash: hashed }),
      problems,
      testFiles: pinned,
      observed: observed.refs,
      pinnedRun: pinnedRun?.sha256 ?? null,
      shown: review.shown,
      unledgered: compared?.unledgered ?? [],
      reviewsKey: formatReviewsKey(state),
      consensus: vote?.seen ?? null,
    },
  }
}

const UNSEEN = 'What the reviewers vote on cannot be read'
const CHANGED = 'The work was changed while the gates were checked. Ask again'

async function findTestsToPin(
  app: App,
  state: TaskState,
  one: {
    readonly contract: Contract
    readonly tree: WorkTree
    readonly needed: Needs
    readonly attempt: <T>(what: string, work: () => Promise<T>) => Promise<T | null>
  },
) {
  const { contract, tree, needed, attempt } = one
  const isIgnored = makeIgnoredMatcher(app, state.workspace)
  if (!needed.pinsTests) return { files: null, around: null }
  const files = await attempt('The test files cannot be recorded', () => findTestFiles(contract, tree, isIgnored))
  const around = await attempt('How the tests are run cannot be recorded', () => recordTestSetup(contract, tree))
  return { files, around }
}

/** What decides how tests and commands of gates are run, as it is recorded at RED. */
export async function recordTestSetup(
  contract: Contract,
  tree: WorkTree,
): Promise<Pick<PinnedRun, 'harness' | 'commands' | 'marks'>> {
  if (!contract.commands.has('tests')) return {}
  const commands: Record<string, PinnedHarness> = {}
  for (const [key, command] of listGateCommands(contract))
    commands[key] = await readTestSetup(tree, contract, [], { of: 'command', commands: [command] })
  return { harness: await readTestSetup(tree, contract), commands, marks: await readMarks(tree, contract) }
}

// What an agent CLI keeps for itself is no change of the phase.
function omitCliFiles(unledgered: readonly UnledgeredChange[]): readonly UnledgeredChange[] {
  return unledgered.filter((change) => change.agentCli?.problem !== null)
}

async function judgeArtifacts(app: App, contract: Contract, work: { readonly needed: Needs; readonly offer: Offer }) {
  const offered: ArtifactOffered[] = []
  const blobs: Blob[] = []
  for (const [type, content] of work.offer.artifacts) {
    const required = work.needed.artifacts.find((artifact) => artifact.type === type)
    const text = toCanonicalJson(content)
    const sha256 = createHash('sha256').update(text).digest('hex')
    const validate =
      required?.schema === null || required === undefined
        ? requireObject
        : await app.contracts.getValidator(contract.hash, required.schema)
    const problems = [...validate(content), ...findExampleProblems(contract, type, content)]
    offered.push({ type, sha256, bytes: Buffer.byteLength(text), grade: 'reported', problems })
    if (required !== undefined && problems.length === 0) blobs.push({ sha256, content: text })
  }
  return { offered, blobs }
}

// A contract that runs no examples may mean something else by the word.
function findExampleProblems(contract: Contract, type: string, content: Json): ArtifactOffered['problems'] {
  return type === 'plan_document' && hasExampleGate(contract) ? readPlanExamples(content).problems : []
}

function requireObject(value: unknown): readonly { pointer: string; message: string }[] {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
    ? []
    : [{ pointer: '', message: 'must be an object' }]
}

// Checks judge what was sent even where its schema refuses it: the gate stays closed either way, and the agent learns more.
async function readContents(
  app: App,
  state: TaskState,
  work: { readonly needed: Needs; readonly offer: Offer },
): Promise<{ ofVisit: Map<string, Json>; all: Map<string, Json> }> {
  const all = new Map<string, Json>()
  const ofVisit = new Map<string, Json>()
  for (const [type, kept] of state.artifacts) {
    const text = await app.ledger.store.readBlob(kept.sha256)
    if (text === null) continue
    const content = JSON.parse(text) as Json
    all.set(type, content)
    if (kept.visit === state.visit) ofVisit.set(type, content)
  }
  for (const { type } of work.needed.artifacts) {
    const content = work.offer.artifacts.get(type)
    if (content === undefined) continue
    all.set(type, content)
    ofVisit.set(type, content)
  }
  return { all, ofVisit }
}

interface BoundContent {
  readonly needed: Needs
  readonly offer: Offer
  readonly offered: readonly ArtifactOffered[]
  readonly ofVisit: ReadonlyMap<string, Json>
  readonly treeHash: string | null
}

// What an approver sees is what is bound: where it leads, the artifacts and evidence of the visit, and the work tree.
function hashBound(state: TaskState, { needed, offer, offered, ofVisit, treeHash: tree }: BoundContent): string {
  const artifacts: Record<string, Json> = {}
  for (const type of ofVisit.keys()) {
    // What a run said follows from the tree, which is bound already; how long it took does not.
    if (needed.observesTests && type === OBSERVED_ARTIFACT) continue
    artifacts[type] = offered.find((one) => one.type === type)?.sha256 ?? state.artifacts.get(type)?.sha256 ?? null
  }
  const to = needed.demand.transition?.to ?? state.phase
  return createHash('sha256')
    .update(
      toCanonicalJson({
        task: state.id,
        visit: state.visit,
        to,
        artifacts,
        evidence: omitObservedFields(needed, offer.evidence),
        tree,
      }),
    )
    .digest('hex')
}

async function hashTree(app: App, state: TaskState, needed: Needs): Promise<string | null> {
  return needed.demand.gates.every(isAutomatic) ? null : boundTree(app, state.workspace)
}
