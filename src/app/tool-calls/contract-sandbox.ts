import type { Confinement } from '../../confinement/confinement.js'
import { SandboxUnavailable } from '../../confinement/reopening.js'
import type { Contract } from '../../core/contract/contract.js'
import { failTool, type ToolOutcome } from '../../tools/tool-place.js'
import type { Resources } from '../resources.js'

/** Where commands of a contract run: in the sandbox or, if the contract says so, without one. */
export function openSandbox(app: Pick<Resources, 'confinement'>, contract: Contract): Promise<Confinement> {
  return app.confinement(contract.enforcement.confinement === 'off' ? 'open' : 'walled')
}

/** Why commands of this task cannot run; null when they can, perhaps because the contract needs no sandbox. */
export function refuseWithoutConfinement(
  call: { readonly contract: Contract },
  confinement: Confinement,
): ToolOutcome | null {
  if (call.contract.enforcement.confinement !== 'required' || confinement.missing.length === 0) return null
  const missing = [...new Set(confinement.missing.map((one) => one.guarantee))]
  const [first] = confinement.missing
  return failTool(
    `The contract requires confinement, and ${missing.length === 0 ? 'something' : missing.join(', ')} cannot be guaranteed here (${first?.found ?? ''}).`,
    'confinement_unavailable',
    { missing: confinement.missing.map((one) => ({ ...one })), remedy: first?.remedy ?? '' },
  )
}

/** The outcome of a tool whose sandbox ended and is being opened again. Other errors are thrown again. */
export function failUnavailable(tool: string, error: unknown): ToolOutcome {
  if (!(error instanceof SandboxUnavailable)) throw error
  return failTool(`${tool}: ${error.message}`, 'sandbox_unavailable')
}
