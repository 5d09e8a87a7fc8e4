import type { TaskState } from '../../core/task/state.js'
import type { App } from '../app.js'

/** Whether the agent's own tools are bound by hooks, and the hooks saw no call of it in this visit. */
export async function areHooksSilent({ ledger }: App, state: TaskState): Promise<boolean> {
  const agentId = state.held?.agentId
  if (agentId === undefined || !ledger.registry.access.boundByHooks.has(agentId)) return false
  const { items } = await ledger.store.query({ taskId: state.id, agentId, types: ['fact_recorded'], limit: 1 })
  const [last] = items
  return last === undefined || last.at < state.visitStartedAt
}
