import { type App, contextOf } from '../app/app.js'
import { isConfinedReviewer } from '../app/reviews/reviews.js'
import { checkTool } from '../app/tool-calls/use-tool.js'
import type { Spawn } from '../core/contract/agent-programs.js'
import type { Bearer } from '../core/identity/admit.js'
import type { Refusal } from '../core/task/refusal.js'
import type { TaskState } from '../core/task/state.js'
import type { AgentReport, UsageTold } from './agent-output.js'

/** Records the usage of an agent's model in the ledger, and the tools that it requested in vain. */
export async function recordTold(app: App, spawn: Spawn, { usages, turnedAway }: AgentReport): Promise<void> {
  // Reviewers' usage is not part of the agent's work, which the rules of the phase limit.
  if (spawn.review === null) for (const usage of usages) await recordUsage(app, spawn, usage)
  for (const tool of turnedAway) await recordTurnedAway(app, spawn, tool)
}

// Decided like a call over MCP: an agent that keeps asking for such tools uses up its refusals.
async function recordTurnedAway(app: App, spawn: Spawn, tool: string): Promise<void> {
  const bearer = await findBearer(app, spawn)
  if (bearer !== null) await checkTool(app, { bearer, taskId: spawn.taskId, tool, args: {} })
}

async function findBearer(app: App, { agentId, taskId, review }: Spawn): Promise<Bearer | null> {
  if (review === null)
    return { kind: 'agent', agentId, instance: app.ledger.registry.spawns.get(agentId)?.instance ?? '' }
  const state = await app.ledger.peek(taskId)
  const reviewer = state?.reviewers.get(review.name)
  if (state === null || reviewer?.visit !== review.visit) return null
  const { phase, visit, grant } = reviewer
  const bearer = { kind: 'review', reviewer: review.name, taskId, phase, visit, grant } as const
  // Skip reviewers that an operator added under the same name.
  return isConfinedReviewer(bearer) ? { ...bearer, contract: state.contract.hash } : null
}

async function recordUsage(app: App, { agentId, taskId, program }: Spawn, told: UsageTold): Promise<void> {
  const { input, output, cacheRead, cacheWrite } = told
  if (input + output + cacheRead + cacheWrite === 0) return
  const state = await app.ledger.peek(taskId)
  if (state === null) return
  const contract = await app.contracts.get(state.contract.hash)
  const context = contextOf(app, 'system')
  const guard = (now: TaskState): Refusal | null =>
    isOf(app, agentId, now) ? null : { code: 'task_not_active', detail: 'Its agent is gone.' }
  const command = {
    ...({ type: 'record_usage', grade: 'observed', model: told.model ?? program.model } as const),
    ...{ input, output, cacheRead, cacheWrite, usageId: told.id ?? null },
    occurredAt: Math.min(told.beganAt ?? context.now, context.now),
  }
  const handled = await app.ledger.apply({ taskId, contract }, command, context, { guard })
  const violated = handled?.events.find((event) => event.type === 'rule_violated' && !event.shadow)
  if (violated?.type === 'rule_violated') app.transcripts.leaveUntold(taskId, violated.rule)
}

// Usage reported after the agent has lost its task still counts, until its process is over and another agent holds the
// task.
function isOf(app: App, agentId: string, now: TaskState): boolean {
  if (now.held !== null) return now.held.agentId === agentId
  return app.ledger.registry.spawns.get(agentId)?.ended === null
}
