import type { App } from '../app/app.js'
import { refuseReservedAgentName } from '../app/identity/agent-names.js'
import { refuse } from '../app/result.js'
import { openSandbox, refuseWithoutConfinement } from '../app/tool-calls/contract-sandbox.js'
import type { SpawnAdapter } from '../core/contract/agent-programs.js'
import type { Contract } from '../core/contract/contract.js'
import { type Surroundings, startProblem } from './agent-process.js'
import type { ChosenProgram } from './spawn-request.js'
import type { Tmux } from './tmux.js'

/** What to start, and how. */
export interface SpawnHow {
  readonly chosen: ChosenProgram
  readonly contract: Contract
  readonly adapter: SpawnAdapter
}

/** Why the agent could not be started here; null when it can. */
export async function findSpawnProblem(
  app: App,
  { chosen, contract, adapter }: SpawnHow,
  { around, tmux }: { readonly around: Surroundings; readonly tmux: Tmux },
): Promise<ReturnType<typeof refuse> | null> {
  const named = await refuseReservedAgentName(app, chosen.agentId)
  if (named !== null) return named
  const walled = refuseWithoutConfinement({ contract }, await openSandbox(app, contract))
  if (walled !== null && !walled.ok) return refuse(walled.code, walled.detail, walled.extra)
  const problem = startProblem(chosen, around)
  if (problem !== null) return refuse('agent_unavailable', `The agent cannot be started: ${problem}.`)
  if (adapter === 'tmux' && !(await tmux.isThere()))
    return refuse('agent_unavailable', 'tmux is not installed here. Install tmux, or use the adapter subprocess.')
  return null
}
