import type { EvidenceJudged } from '../../checks/evidence.js'
import type { Contract } from '../../core/contract/contract.js'
import type { Needs } from '../../core/gates/needs.js'
import type { Json } from '../../core/json.js'
import type { ArtifactOffered, GateFacts } from '../../core/task/command.js'
import type { ArtifactRef } from '../../core/task/fact-parts.js'
import type { TaskState } from '../../core/task/state.js'
import type { Blob } from '../../store/store.js'
import { openWorkTree, type WorkTree } from '../../tree/work-tree.js'
import type { App } from '../app.js'
import type { Vote } from '../councils/consensus.js'
import type { gatherReviews } from '../reviews/gather-reviews.js'
import { NOT_OBSERVED, type ObservedRuns } from '../test-runs/observe-gates.js'
import type { findTestFiles } from '../test-runs/pin-tests.js'
import type { readTestSurroundings } from '../test-runs/pinned-run.js'
import type { compareTree } from '../trees/compare-tree.js'
import type { readChanges } from '../trees/phase-changes.js'
import type { TreeComparison } from '../trees/trees.js'
import type { packEvidence } from './checkpoint.js'
import { type Offer, omitObserved } from './handed-in.js'

/** Facts known so far about a request to leave a phase. Each stage reads the results of the stages before it. */
export interface Gathering {
  readonly app: App
  readonly contract: Contract
  readonly state: TaskState
  readonly needed: Needs
  readonly offer: Offer
  /** Phaselock asks, not an agent. */
  readonly isAuto: boolean
  tree: WorkTree
  readonly blobs: Blob[]
  /** Read failures and changes during the check; each keeps the gate closed. */
  readonly problems: string[]
  offered: readonly ArtifactOffered[]
  /** What an approval is bound to. */
  bound: readonly ArtifactOffered[]
  contents: { readonly ofVisit: ReadonlyMap<string, Json>; readonly all: ReadonlyMap<string, Json> }
  vote: Vote | null
  reviews: Awaited<ReturnType<typeof gatherReviews>>['seen']
  treeHash: string | null
  /** Made for the hash of the tree, or after commands, and used once more. */
  comparison: TreeComparison | null
  /** The tree before commands; null if they have to look themselves. */
  before: TreeComparison | null
  testFiles: Awaited<ReturnType<typeof findTestFiles>> | null
  readTestSurroundings: Awaited<ReturnType<typeof readTestSurroundings>> | null
  compared: Awaited<ReturnType<typeof compareTree>>
  changes: Awaited<ReturnType<typeof readChanges>> | null
  areHooksSilent: boolean
  evidence: EvidenceJudged | null
  evidenceFacts: ReturnType<typeof packEvidence>['facts'] | null
  checks: GateFacts['checks']
  observed: ObservedRuns
  pinned: GateFacts['testFiles']
  pinnedRun: string | null
  shown: readonly ArtifactRef[]
}

export function startGathering(
  asked: Pick<Gathering, 'app' | 'contract' | 'state' | 'needed' | 'offer' | 'isAuto'>,
): Gathering {
  const { contract, state, needed, offer } = asked
  return {
    ...asked,
    offer: omitObserved(contract, needed, offer),
    tree: openWorkTree(state.workspace, { reusesNames: true }),
    ...{ blobs: [], problems: [], offered: [], bound: [], vote: null },
    ...{ contents: { ofVisit: new Map(), all: new Map() }, reviews: null, treeHash: null },
    ...{ comparison: null, before: null, testFiles: null, readTestSurroundings: null, compared: null },
    ...{ changes: null, areHooksSilent: false, evidence: null, evidenceFacts: null, checks: new Map() },
    ...{ observed: NOT_OBSERVED, pinned: null, pinnedRun: null, shown: [] },
  }
}
