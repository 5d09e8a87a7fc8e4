import type { SpawnOutcome } from '../core/contract/agent-programs.js'
import type { TaskState } from '../core/task/state.js'

export interface TaskEnd {
  readonly outcome: SpawnOutcome
  readonly reason: string
}

/** Why the agent has no more work on the task; null while it has. */
export function findEnd(state: TaskState | null, agentId: string): TaskEnd | null {
  if (state === null) return { outcome: 'taken', reason: 'The task is gone.' }
  if (state.status === 'completed') return { outcome: 'completed', reason: 'The task is completed.' }
  if (state.status === 'cancelled') return { outcome: 'cancelled', reason: 'The task was cancelled.' }
  if (state.status === 'parked') return { outcome: 'parked', reason: state.parkedReason ?? 'The task was parked.' }
  if (state.held?.agentId === agentId || state.reservedFor === agentId) return null
  if (state.held !== null) return { outcome: 'taken', reason: `The task is held by agent ${state.held.agentId}.` }
  if (state.reservedFor !== null)
    return { outcome: 'taken', reason: `The task is reserved for agent ${state.reservedFor}.` }
  return { outcome: 'released', reason: 'The task was released.' }
}

/** True while the process of this instance has the task. */
export function isHeldBy(state: TaskState | null, agentId: string, instance: string): boolean {
  return (
    state?.held?.agentId === agentId &&
    state.held.instance === instance &&
    (state.status === 'active' || state.status === 'awaiting_approval')
  )
}

/**
 * What people have to do before the agent can continue; null when nothing. An agent that ended meanwhile did nothing
 * wrong.
 */
export function findAwaitedAnswer(state: TaskState): string | null {
  if (state.status === 'awaiting_approval') return 'an approval'
  return [...state.questions.values()].some((question) => question.status === 'open') ? 'an answer' : null
}
