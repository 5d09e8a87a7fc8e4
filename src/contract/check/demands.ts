import type {
  BlockerDocument,
  ContractDocument,
  GateDocument,
  PhaseDocument,
  TransitionDocument,
  ValidationDocument,
} from '../document.js'
import { listPhasesUpTo, listReachedWithout } from './check-graph.js'

export type CheckOwner = BlockerDocument | ValidationDocument

/** One way to leave a phase, or to complete a final one, with its minimum requirements. */
interface DemandDocument {
  /** The target phase; null: the final phase is completed in place. */
  readonly to: string | null
  readonly gates: readonly GateDocument[]
  /** False if the way may be a claimed way back, which needs no artifacts and no checkpoint. */
  readonly isFull: boolean
}

/**
 * Every way out of the phase. Whether a way leads back depends on the task, so the weaker requirement is used where
 * both are possible.
 */
export function listDemands(document: ContractDocument, phase: PhaseDocument): readonly DemandDocument[] {
  const outgoing = document.transitions.filter((transition) => transition.from === phase.id)
  if (outgoing.length === 0) return [{ to: null, gates: phase.gates, isFull: true }]
  return outgoing.map((transition) => {
    const { to, gate } = transition
    const isFull = !mayLeadBack(document, transition)
    const named = gate === undefined ? null : phase.gates.filter((candidate) => candidate.id === gate)
    return { to, gates: named ?? (isFull ? phase.gates : []), isFull }
  })
}

// A way leads back only if the task can have been there before by another way.
function mayLeadBack(document: ContractDocument, transition: TransitionDocument): boolean {
  const { from, to, when } = transition
  if (when === undefined) return false
  return to === from || (listPhasesUpTo(document, from).has(to) && listReachedWithout(document, transition).has(to))
}

/** The checks that run on a way out. */
export function listChecksOfDemand(phase: PhaseDocument, demand: DemandDocument): readonly CheckOwner[] {
  const ofArtifacts = demand.isFull ? phase.required_artifacts.flatMap((artifact) => artifact.validation) : []
  return [...ofArtifacts, ...demand.gates.flatMap((gate) => gate.blockers)]
}

export function getCheckName(owner: CheckOwner): BlockerDocument['check'] {
  return 'rule' in owner ? owner.rule : owner.check
}

/** The phases that a task can enter after a RED run has recorded its tests: elsewhere `tests_unchanged` has nothing to compare. */
export function listPhasesAfterRed(document: ContractDocument): ReadonlySet<string> {
  return computeReachedAfterRed(document, () => false)
}

/** Loops that begin before RED are few; beyond this number a gate stays closed until tests are recorded. */
const LOOPS_MAX = 50

/**
 * The phases whose `tests_unchanged` holds while no tests are recorded: the only way from them to a RED run and back
 * leads through that check itself, so nothing could ever be recorded otherwise.
 */
export function listPhasesBeforeRed(document: ContractDocument): ReadonlySet<string> {
  const found = new Set<string>()
  const asking = document.phases.filter((phase) =>
    listDemands(document, phase).some((one) => requiresRecordedTests(phase, one)),
  )
  const possible = asking.length === 0 ? found : listPhasesAfterRed(document)
  while (found.size < LOOPS_MAX) {
    const after = computeReachedAfterRed(
      document,
      (phase, demand) => !found.has(phase.id) && requiresRecordedTests(phase, demand),
    )
    const closed = asking.find(({ id }) => possible.has(id) && !after.has(id) && !found.has(id))
    if (closed === undefined) break
    found.add(closed.id)
  }
  return found
}

function computeReachedAfterRed(
  document: ContractDocument,
  isClosedBefore: (phase: PhaseDocument, demand: DemandDocument) => boolean,
): ReadonlySet<string> {
  const ways = new Map(document.phases.map((phase) => [phase.id, { phase, demands: listDemands(document, phase) }]))
  const before = new Set([document.start_node])
  const after = new Set<string>()
  const follow = (from: Set<string>, isRecorded: boolean): void => {
    for (const id of from) {
      const { phase, demands = [] } = ways.get(id) ?? {}
      for (const demand of demands) {
        if (phase === undefined || demand.to === null || (!isRecorded && isClosedBefore(phase, demand))) continue
        if (isRecorded || mayRecordTests(phase, demand)) after.add(demand.to)
        else before.add(demand.to)
      }
    }
  }
  follow(before, false)
  follow(after, true)
  return after
}

function requiresRecordedTests(phase: PhaseDocument, demand: DemandDocument): boolean {
  return listChecksOfDemand(phase, demand).some(
    (owner) => owner.severity === 'blocking' && getCheckName(owner) === 'tests_unchanged',
  )
}

// The run is recorded whatever the severity of its check.
function mayRecordTests(phase: PhaseDocument, demand: DemandDocument): boolean {
  return listChecksOfDemand(phase, { ...demand, isFull: true }).some(
    (owner) => getCheckName(owner) === 'tests_are_failing',
  )
}
