import { readNewestCommitTime } from '../../checks/newest-commit.js'
import { listRules } from '../../core/watch/watch.js'
import type { App } from '../app.js'
import type { AgentCall } from '../identity/agent-call.js'
import { getReserved } from '../tool-calls/contract-paths.js'
import { openSandbox, refuseWithoutConfinement } from '../tool-calls/contract-sandbox.js'

/** Time of the newest commit, if a rule of the phase needs it; null: not needed, or unknown to git. */
export async function readCommitTime(app: App, call: Pick<AgentCall, 'contract' | 'state'>): Promise<number | null> {
  const { contract, state } = call
  if (!listRules(contract, state).some((rule) => rule.type === 'require_commits')) return null
  const confinement = await openSandbox(app, contract)
  if (refuseWithoutConfinement({ contract }, confinement) !== null) return null
  return readNewestCommitTime({
    confinement,
    tree: state.workspace,
    hidden: getReserved(app, contract, state.workspace).hidden,
    signal: new AbortController().signal,
  })
}
