import type { Blocker, Contract, EvidenceField, Phase, RequiredArtifact } from '../contract/contract.js'
import type { PhaseTask } from '../contract/phase-document.js'
import { type ConsensusPlan, isReviewedByVotersOnly, listNeededReviews } from '../reviews/consensus-plan.js'
import { listSlotChecks } from '../reviews/reviewer-slots.js'
import { checkKey } from '../task/command.js'
import type { TaskState } from '../task/state.js'
import { requirePhase } from '../tool-calls/offered-tools.js'
import { openTasks } from './phase-tasks.js'
import { computeDemand, type Demand, findTransition, isFinal } from './transition-rules.js'

/** A check to run, and where its outcome goes. */
export interface CheckNeeded {
  readonly key: string
  readonly blocker: Blocker
  /** The artifact whose `validation` asks for it; null for a check of a gate. */
  readonly artifact: string | null
  /** How long it may take; null: the usual limit. */
  readonly timeoutSeconds: number | null
}

export interface Needs {
  readonly visit: number
  readonly demand: Demand
  readonly artifacts: readonly RequiredArtifact[]
  readonly evidence: ReadonlyMap<string, EvidenceField>
  /** How many fields must be worth more than the agent's word. */
  readonly minVerified: number
  /** Tasks that the phase handed out, or has yet to hand out, and that are not done. */
  readonly tasksOpen: readonly PhaseTask[]
  readonly checks: readonly CheckNeeded[]
  /** Those of them that belong to the phase itself. */
  readonly phaseChecks: readonly Blocker[]
  /** The gate pins the test files: they must be listed and hashed. */
  readonly pinsTests: boolean
  /** Phaselock runs the tests itself: the agent need not, and cannot, say how they went. */
  readonly observesTests: boolean
  /** The reviews of others that the phase asks for: then the agent's own does not count. Null: it asks for none. */
  readonly reviews: readonly string[] | null
  /** Reviewers that vote on leaving the phase; null: none. */
  readonly consensus: ConsensusPlan | null
  /** All reviews come from those who vote. */
  readonly isReviewedByVote: boolean
}

/** What must be gathered before a transition can be decided; null when it is refused without looking at anything. */
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
      artifact: null,
      timeoutSeconds: gate.type === 'validation' ? gate.timeoutSeconds : null,
    })),
  )
  const artifactChecks = artifacts.flatMap((required) =>
    required.checks.map((blocker, index) => ({
      key: checkKey({ gate: null, artifact: required.type, index, check: blocker.check }),
      blocker,
      artifact: required.type,
      timeoutSeconds: null,
    })),
  )
  const phaseChecks = demand.full ? listSlotChecks(phase) : []
  const ofPhase = phaseChecks.map((blocker, index) => ({
    key: checkKey({ gate: null, artifact: null, index, check: blocker.check }),
    blocker,
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

/** What must be gathered to judge the checkpoint alone, where nothing says yet which way the phase is left. */
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
