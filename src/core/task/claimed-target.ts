import type { Contract } from '../contract/contract.js'
import { isFinal } from '../gates/transition-rules.js'
import { requirePhase } from '../tool-calls/offered-tools.js'
import type { TaskState } from './state.js'

/**
 * Where the claims lead: the first transition, in the order of the contract, whose `when` was claimed; with the bare
 * claim `<phase>_complete` the one way on, or the completion of the last phase. Null: nowhere.
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
