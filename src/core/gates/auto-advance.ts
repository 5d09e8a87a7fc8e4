import type { Contract } from '../contract/contract.js'
import type { TaskState } from '../task/state.js'
import { computeDemand, isFinal } from './transition-rules.js'

/**
 * Where Phaselock would move the task once the checks pass: the first transition without a statement whose gates all
 * advance automatically. Null: only the agent can ask.
 */
export function findAutoTarget(contract: Contract, state: TaskState): string | null {
  const phase = contract.phases.get(state.phase)
  if (state.status !== 'active' || state.held === null || phase === undefined) return null
  const advances = (gates: readonly { type: string; autoAdvance: boolean }[]): boolean =>
    gates.length > 0 && gates.every((gate) => gate.type === 'validation' && gate.autoAdvance)
  if (isFinal(contract, phase)) return advances(phase.gates) ? phase.id : null
  const open = contract.transitions.filter((transition) => transition.from === phase.id && transition.when === null)
  return open.find((transition) => advances(computeDemand(contract, state, transition).gates))?.to ?? null
}
