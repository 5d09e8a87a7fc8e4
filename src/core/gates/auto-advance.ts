import type { Contract } from '../contract/contract.js'
import type { TaskState } from '../task/state.js'
import { demandOf, isFinal } from './transition-rules.js'

/**
 * Where Phaselock itself would take the task as soon as the checks hold: along the first transition without a claim
 * that is held by gates which all advance by themselves. Null: only the agent can ask.
 */
export function autoTarget(contract: Contract, state: TaskState): string | null {
  const phase = contract.phases.get(state.phase)
  if (state.status !== 'active' || state.held === null || phase === undefined) return null
  const advances = (gates: readonly { type: string; autoAdvance: boolean }[]): boolean =>
    gates.length > 0 && gates.every((gate) => gate.type === 'validation' && gate.autoAdvance)
  if (isFinal(contract, phase)) return advances(phase.gates) ? phase.id : null
  const open = contract.transitions.filter((one) => one.from === phase.id && one.when === null)
  return open.find((one) => advances(demandOf(contract, state, one).gates))?.to ?? null
}
