import { type App, contextOf } from '../app/app.js'
import { checkTool } from '../app/use-tool.js'
import type { Refusal } from '../core/refusal.js'
import type { Spawn } from '../core/spawns.js'
import type { TaskState } from '../core/state.js'
import type { Usage } from '../participants/participant.js'
import type { Told } from './told.js'

/** Keeps what the output of a harness tells for the ledger: what its model took, and which tools it asked for in vain. */
export async function recordTold(app: App, spawn: Spawn, { usages, turnedAway }: Told): Promise<void> {
  if (spawn.review !== null) return
  for (const usage of usages) await recordUsage(app, spawn, usage)
  for (const tool of turnedAway) await recordTurnedAway(app, spawn, tool)
}

// Decided like a call that came through the door: who asks for such tools without end uses up its refusals.
async function recordTurnedAway(app: App, { agentId, taskId }: Spawn, tool: string): Promise<void> {
  const instance = app.ledger.registry.spawns.get(agentId)?.instance ?? ''
  await checkTool(app, { bearer: { kind: 'agent', agentId, instance }, taskId, tool, args: {} })
}

async function recordUsage(app: App, { agentId, taskId, program }: Spawn, usage: Usage): Promise<void> {
  if (usage.input + usage.output + usage.cacheRead + usage.cacheWrite === 0) return
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
