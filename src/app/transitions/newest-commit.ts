import { newestCommitAt } from '../../checks/newest-commit.js'
import { rulesOf } from '../../core/watch/watch.js'
import type { App } from '../app.js'
import type { AgentCall } from '../identity/agent-call.js'
import { reservedIn } from '../tool-calls/contract-paths.js'
import { unavailable, wallOf } from '../tool-calls/contract-sandbox.js'

/** When the newest commit was made, where a rule of the phase asks for it; null: it does not, or git cannot tell. */
export async function committedAtOf(app: App, call: Pick<AgentCall, 'contract' | 'state'>): Promise<number | null> {
  const { contract, state } = call
  if (!rulesOf(contract, state).some((rule) => rule.type === 'require_commits')) return null
  const confinement = await wallOf(app, contract)
  if (unavailable({ contract }, confinement) !== null) return null
  return newestCommitAt({
    confinement,
    tree: state.workspace,
    hidden: reservedIn(app, contract, state.workspace).hidden,
    signal: new AbortController().signal,
  })
}
