import type { TaskEvent } from '../../core/task/event.js'
import { isRefusal } from '../../core/task/refusal.js'

/** The code of a refusal; null for other events. The same set that a task's metrics count. */
export function findRefusalCode(event: TaskEvent): string | null {
  switch (event.type) {
    case 'rule_violated':
      return event.shadow ? null : event.code
    // Waiting for people or reviewers is not a refusal.
    case 'gate_blocked':
      return isRefusal(event) ? event.code : null
    case 'unledgered_change_found':
      return event.counted === undefined ? null : event.code
    case 'tool_denied':
    case 'changes_dropped':
    case 'transition_refused':
    case 'checkpoint_refused':
    case 'approval_refused':
    case 'question_refused':
    case 'token_refused':
      return event.code
    default:
      return null
  }
}

/** The agent or reviewer of an event. */
export function findAuthor(event: TaskEvent): string {
  const { agentId, reviewer } = event as { readonly agentId?: unknown; readonly reviewer?: unknown }
  if (typeof reviewer === 'string') return `reviewer:${reviewer}`
  return typeof agentId === 'string' ? agentId : event.actor.replace(/^agent:/, '')
}
