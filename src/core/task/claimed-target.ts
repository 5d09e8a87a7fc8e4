import type { Contract } from '../contract/contract.js'
import { isFinal } from '../gates/transition-rules.js'
import { requirePhase } from '../tool-calls/offered-tools.js'
import type { TaskState } from './state.js'

/**
 * The target of the statements: the first transition of the contract whose `when` was stated; for the bare
 * `<phase>_complete` the only way forward, or completion of the last phase. Null: none.
 */
export function findClaimedTarget(contract: Contract, state: TaskState, claims: readonly string[]): string | null {
  const ways = contract.transitions.filter((transition) => transition.from === state.phase)
  const claimed = ways.find((way) => way.when !== null && claims.includes(way.when))
  if (claimed !== undefined) return claimed.to
  const bare = [`${state.phase}_complete`, `${state.phase.toLowerCase()}_complete`]
  if (!bare.some((claim) => claims.includes(claim))) return null
  const open = ways.filter((way) => way.when === null)
  const [only] = open
  if (only !== undefined && open.every((transition) => transition.to === only.to)) return only.to
  return isFinal(contract, requirePhase(contract, state.phase)) ? state.phase : null
}
