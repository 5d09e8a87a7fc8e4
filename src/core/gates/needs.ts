import type { Blocker, Contract, EvidenceField, Phase, RequiredArtifact } from '../contract/contract.js'
import type { ConsensusPlan } from '../contract/contract-parts.js'
import type { PhaseTask } from '../contract/phase-document.js'
import { isReviewedByVotersOnly, listNeededReviews } from '../reviews/consensus-plan.js'
import { listSlotChecks } from '../reviews/reviewer-slots.js'
import { checkKey } from '../task/command.js'
import type { TaskState } from '../task/state.js'
import { requirePhase } from '../tool-calls/offered-tools.js'
import { openTasks } from './phase-tasks.js'
import { computeDemand, type Demand, findTransition, isFinal } from './transition-rules.js'

/** A check to run, and the key of its outcome. */
interface CheckNeeded {
  readonly key: string
  readonly blocker: Blocker
  /** The gate that lists it; null for a check of an artifact or of the phase. */
  readonly gate: string | null
  /** The artifact whose `validation` requires it; null for a check of a gate. */
  readonly artifact: string | null
  /** Its time limit; null: the default. */
  readonly timeoutSeconds: number | null
}

export interface Needs {
  readonly visit: number
  readonly demand: Demand
  readonly artifacts: readonly RequiredArtifact[]
  readonly evidence: ReadonlyMap<string, EvidenceField>
  /** How many fields must be graded above `reported`. */
  readonly minVerified: number
  /** Unfinished tasks that the phase hands out. */
  readonly tasksOpen: readonly PhaseTask[]
  readonly checks: readonly CheckNeeded[]
  /** Those of them that belong to the phase itself. */
  readonly phaseChecks: readonly Blocker[]
  /** The gate pins the test files: they must be listed and hashed. */
  readonly pinsTests: boolean
  /** Phaselock runs the tests: the agent cannot report their result. */
  readonly observesTests: boolean
  /** Required reviews by others, which replace the agent's own. Null: none. */
  readonly reviews: readonly string[] | null
  /** Reviewers that vote on leaving the phase; null: none. */
  readonly consensus: ConsensusPlan | null
  /** All reviews come from voters. */
  readonly isReviewedByVote: boolean
}

/** What must be gathered to decide a transition; null when it is refused without checking anything. */
export function needs(
  contract: Contract,
  state: TaskState,
  request: { readonly target: string; readonly claims: readonly string[] },
): Needs | null {
  const phase = requirePhase(contract, state.phase)
  const inPlace = request.target === state.phase && isFinal(contract, phase)
  const transition = inPlace
    ? null
    : findTransition(contract, { from: state.phase, to: request.target, claims: request.claims })
  if (!inPlace && transition === null) return null
  const demand = computeDemand(contract, state, transition)
  const artifacts = demand.full ? phase.requiredArtifacts : []
  const gateChecks = demand.gates.flatMap((gate) =>
    gate.blockers.map((blocker, index) => ({
      key: checkKey({ gate: gate.id, artifact: null, index, check: blocker.check }),
      blocker,
      gate: gate.id,
      artifact: null,
      timeoutSeconds: gate.type === 'validation' ? gate.timeoutSeconds : null,
    })),
  )
  const artifactChecks = artifacts.flatMap((required) =>
    required.checks.map((blocker, index) => ({
      key: checkKey({ gate: null, artifact: required.type, index, check: blocker.check }),
      blocker,
      gate: null,
      artifact: required.type,
      timeoutSeconds: null,
    })),
  )
  const phaseChecks = demand.full ? listSlotChecks(phase) : []
  const ofPhase = phaseChecks.map((blocker, index) => ({
    key: checkKey({ gate: null, artifact: null, index, check: blocker.check }),
    blocker,
    gate: null,
    artifact: null,
    timeoutSeconds: null,
  }))
  const checks = [...artifactChecks, ...gateChecks, ...ofPhase]
  return {
    visit: state.visit,
    demand,
    artifacts,
    ...(demand.full ? pickCheckpointNeeds(phase, state) : NO_CHECKPOINT),
    checks,
    phaseChecks,
    pinsTests: checks.some((check) => check.blocker.check === 'tests_are_failing'),
    observesTests: contract.commands.has('tests'),
    reviews: listNeededReviews(phase),
    consensus: demand.full ? (phase.consensus ?? null) : null,
    isReviewedByVote: demand.full && isReviewedByVotersOnly(phase),
  }
}

type CheckpointNeeds = Pick<Needs, 'evidence' | 'minVerified' | 'tasksOpen'>

const NO_CHECKPOINT: CheckpointNeeds = { evidence: new Map(), minVerified: 0, tasksOpen: [] }

function pickCheckpointNeeds(phase: Phase, state: TaskState): CheckpointNeeds {
  return { evidence: phase.evidence, minVerified: phase.minVerified ?? 0, tasksOpen: openTasks(phase, state) }
}

/** What must be gathered to judge the checkpoint evidence alone, when the target is not known yet. */
export function computeCheckpointNeeds(contract: Contract, state: TaskState): Needs {
  const phase = requirePhase(contract, state.phase)
  return {
    visit: state.visit,
    demand: { transition: null, gates: [], full: true },
    artifacts: [],
    ...pickCheckpointNeeds(phase, state),
    checks: [],
    phaseChecks: [],
    pinsTests: false,
    observesTests: contract.commands.has('tests'),
    reviews: null,
    consensus: null,
    isReviewedByVote: false,
  }
}
