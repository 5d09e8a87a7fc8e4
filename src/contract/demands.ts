import { upTo } from './check-graph.js'
import type { BlockerDocument, ContractDocument, GateDocument, PhaseDocument, ValidationDocument } from './document.js'

export type CheckOwner = BlockerDocument | ValidationDocument

/** One way to leave a phase, or to complete a final one, and the least that it asks for. */
export interface DemandDocument {
  /** The phase it leads to; null: the final phase is completed in place. */
  readonly to: string | null
  readonly gates: readonly GateDocument[]
  /** False where the way may be a claimed way back, which asks for no artifacts and no checkpoint. */
  readonly isFull: boolean
}

/** Every way out of the phase. Which way is a way back depends on the task, so that the weaker demand is taken where both are possible. */
export function demandsOf(document: ContractDocument, phase: PhaseDocument): readonly DemandDocument[] {
  const outgoing = document.transitions.filter((transition) => transition.from === phase.id)
  if (outgoing.length === 0) return [{ to: null, gates: phase.gates, isFull: true }]
  const before = upTo(document, phase.id)
  return outgoing.map(({ to, gate, when }) => {
    const isFull = when === undefined || !before.has(to)
    const named = gate === undefined ? null : phase.gates.filter((candidate) => candidate.id === gate)
    return { to, gates: named ?? (isFull ? phase.gates : []), isFull }
  })
}

/** The checks that a way out runs. */
export function checksOfDemand(phase: PhaseDocument, demand: DemandDocument): readonly CheckOwner[] {
  const ofArtifacts = demand.isFull ? phase.required_artifacts.flatMap((artifact) => artifact.validation) : []
  return [...ofArtifacts, ...demand.gates.flatMap((gate) => gate.blockers)]
}

export function nameOfCheck(owner: CheckOwner): BlockerDocument['check'] {
  return 'rule' in owner ? owner.rule : owner.check
}

/** The phases that a task can enter after a RED run has recorded its tests: elsewhere `tests_unchanged` has nothing to compare. */
export function phasesAfterRed(document: ContractDocument): ReadonlySet<string> {
  const phases = new Map(document.phases.map((phase) => [phase.id, phase]))
  const before = new Set([document.start_node])
  const after = new Set<string>()
  // A way that a task without recorded tests cannot go may be open to one that has them, so each phase is looked at twice.
  for (const [seen, isRecorded] of [
    [before, false],
    [after, true],
  ] as const) {
    for (const id of seen) {
      const phase = phases.get(id)
      for (const demand of phase === undefined ? [] : demandsOf(document, phase)) {
        if (phase === undefined || demand.to === null) continue
        if (!isRecorded && checksOfDemand(phase, demand).some(needsRecordedTests)) continue
        if (isRecorded || mayRecordTests(phase, demand)) after.add(demand.to)
        else seen.add(demand.to)
      }
    }
  }
  return after
}

function needsRecordedTests(owner: CheckOwner): boolean {
  return owner.severity === 'blocking' && nameOfCheck(owner) === 'tests_unchanged'
}

// The run is recorded whatever the severity of its check.
function mayRecordTests(phase: PhaseDocument, demand: DemandDocument): boolean {
  return checksOfDemand(phase, { ...demand, isFull: true }).some((owner) => nameOfCheck(owner) === 'tests_are_failing')
}
