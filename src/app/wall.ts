import type { Confinement } from '../confinement/port.js'
import type { Contract } from '../core/contract.js'
import { failed, type ToolOutcome } from '../tools/port.js'

/** Why commands of this task cannot run; null when they can, be it because the contract does without a wall. */
export function unavailable(call: { readonly contract: Contract }, confinement: Confinement): ToolOutcome | null {
  if (call.contract.enforcement.confinement !== 'required' || confinement.missing.length === 0) return null
  const missing = [...new Set(confinement.missing.map((one) => one.guarantee))]
  const [first] = confinement.missing
  return failed(
    `The contract requires a confinement, and ${missing.length === 0 ? 'something' : missing.join(', ')} cannot be guaranteed here (${first?.found ?? ''}).`,
    'confinement_unavailable',
    { missing: confinement.missing.map((one) => ({ ...one })), remedy: first?.remedy ?? '' },
  )
}
