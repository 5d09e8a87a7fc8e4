import type { App } from '../app/app.js'
import { openSandbox, refuseWithoutConfinement } from '../app/tool-calls/contract-sandbox.js'
import type { Confinement } from '../confinement/confinement.js'
import type { Contract } from '../core/contract/contract.js'

/** Where an agent of the contract runs. One that needs a sandbox is not started without it. */
export async function requireSandbox(app: Pick<App, 'confinement'>, contract: Contract): Promise<Confinement> {
  const sandbox = await openSandbox(app, contract)
  const missing = refuseWithoutConfinement({ contract }, sandbox)
  if (missing !== null && !missing.ok) throw new Error(missing.detail)
  return sandbox
}
