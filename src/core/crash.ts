import type { Contract } from './contract.js'
import type { TaskFact } from './event.js'
import type { TaskState } from './state.js'

/** What becomes of a task whose agent lost its lease. */
export interface AgentCrash {
  readonly action: 'retry' | 'park'
  readonly maxRetries: number
  /** Times the number of the crash: the second one waits twice as long. */
  readonly backoffSeconds: number
}

// Longer than that nobody means, and a time far enough away cannot be written as a date.
const BACKOFF_SECONDS_MAX = 30 * 24 * 3600

/** The end of a lease: the task can be claimed again, after the back-off that the contract gives, or is parked. */
export function lapseFacts(contract: Contract, state: TaskState, now: number): readonly TaskFact[] {
  const agentId = state.held?.agentId ?? ''
  const crash = contract.agentCrash
  if (crash === undefined) return [{ type: 'lease_lapsed', agentId }]
  const count = state.crashes + 1
  if (crash.action === 'park' || count > crash.maxRetries) {
    const times = count === 1 ? 'once' : `${count} times without leaving ${state.phase}`
    const rule = crash.action === 'park' ? 'action park' : `max_retries ${crash.maxRetries}`
    const reason = `Agents lost the lease ${times} (recovery.agent_crash: ${rule}); the last was ${agentId}`
    return [
      { type: 'lease_lapsed', agentId },
      { type: 'task_parked', reason, code: null },
    ]
  }
  const seconds = Math.min(crash.backoffSeconds * count, BACKOFF_SECONDS_MAX)
  return [{ type: 'lease_lapsed', agentId, claimableAt: now + seconds * 1000 }]
}
