import { findReservedNameReason } from '../../core/identity/agent-names.js'
import type { App } from '../app.js'
import { refuse } from '../result.js'

/** Refuses a name that is reserved in approvals, reviews, votes or the ledger; null when an agent may use it. */
export async function refuseReservedAgentName(app: App, id: string): Promise<ReturnType<typeof refuse> | null> {
  const { registry } = app.ledger
  const contracts = await Promise.all([...registry.contracts.keys()].map((hash) => app.contracts.get(hash)))
  const meaning = findReservedNameReason(id, registry, contracts)
  return meaning === null
    ? null
    : refuse('invalid_request', `agent_id: ${JSON.stringify(id)} cannot be used: it matches ${meaning}.`, {
        remedy: 'Choose an id that differs from it by more than case and separators.',
      })
}
