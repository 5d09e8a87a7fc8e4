import type { Confinement } from '../../confinement/confinement.js'
import type { Contract } from '../../core/contract/contract.js'
import { failTool, type ToolOutcome } from '../../tools/tool-place.js'
import type { App } from '../app.js'

/** Where commands of a contract run: behind the wall, or, because the contract says so, in the open. */
export function openSandbox(app: Pick<App, 'confinement'>, contract: Contract): Promise<Confinement> {
  return app.confinement(contract.enforcement.confinement === 'off' ? 'open' : 'walled')
}

/** Why commands of this task cannot run; null when they can, be it because the contract does without a wall. */
export function refuseWithoutConfinement(
  call: { readonly contract: Contract },
  confinement: Confinement,
): ToolOutcome | null {
  if (call.contract.enforcement.confinement !== 'required' || confinement.missing.length === 0) return null
  const missing = [...new Set(confinement.missing.map((one) => one.guarantee))]
  const [first] = confinement.missing
  return failTool(
    `The contract requires a confinement, and ${missing.length === 0 ? 'something' : missing.join(', ')} cannot be guaranteed here (${first?.found ?? ''}).`,
    'confinement_unavailable',
    { missing: confinement.missing.map((one) => ({ ...one })), remedy: first?.remedy ?? '' },
  )
}
