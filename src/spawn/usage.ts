import { type App, contextOf } from '../app/app.js'
import type { Refusal } from '../core/refusal.js'
import type { Spawn } from '../core/spawns.js'
import type { TaskState } from '../core/state.js'
import type { Usage } from '../participants/participant.js'

/** Counts what the model of an agent took, as its harness wrote it, for the task that it works on. */
export async function recordUsage(
  app: App,
  { agentId, taskId, program, review }: Spawn,
  usage: Usage | null,
): Promise<void> {
  if (usage === null || review !== null || usage.input + usage.output + usage.cacheRead + usage.cacheWrite === 0) return
  const state = await app.ledger.peek(taskId)
  if (state === null) return
  const contract = await app.contracts.get(state.contract.hash)
  const context = contextOf(app, 'system')
  const guard = (now: TaskState): Refusal | null =>
    isOf(app, agentId, now) ? null : { code: 'task_not_active', detail: 'Its agent is gone.' }
  const about = { grade: 'observed', model: program.model, usageId: null, occurredAt: context.now } as const
  await app.ledger.apply({ taskId, contract }, { type: 'record_usage', ...usage, ...about }, context, { guard })
}

// Some harnesses say only at their end what they took, and that comes after the task.
function isOf(app: App, agentId: string, now: TaskState): boolean {
  if (now.held !== null) return now.held.agentId === agentId
  return now.status === 'completed' && app.ledger.registry.spawns.get(agentId)?.ended === null
}
