import type { Contract } from '../contract/contract.js'
import type { AgentCrash } from '../contract/contract-parts.js'
import type { Command } from './command.js'
import type { TaskFact } from './event.js'
import { type Decision, makeDecision } from './refusal.js'
import type { TaskState } from './state.js'

// A sensible maximum; a time too far away cannot be written as a date.
const BACKOFF_SECONDS_MAX = 30 * 24 * 3600

/** Default for agents that Phaselock starts: they must not be restarted without end. */
export const SPAWNED_CRASH: AgentCrash = { action: 'retry', maxRetries: 3, backoffSeconds: 60 }

/** The policy for the current holder of the task; undefined: it can be claimed again at once, without limit. */
export function findCrashRule(contract: Contract, state: TaskState): AgentCrash | undefined {
  return contract.agentCrash ?? (state.held?.isSpawned === true ? SPAWNED_CRASH : undefined)
}

/** Ends a lease: the task can be claimed again after the contract's back-off, or is parked. */
export function decideLapse(contract: Contract, state: TaskState, now: number): readonly TaskFact[] {
  return decideLoss(contract, state, { now, loss: { type: 'lease_lapsed', agentId: state.held?.agentId ?? '' } })
}

/**
 * The process of an agent that Phaselock started has ended before the task was done: like an expired lease, but at
 * once.
 */
export function dropAgent(
  contract: Contract,
  state: TaskState,
  command: Command & { type: 'drop_agent' },
  now: number,
): Decision {
  const { agentId, instance, reason } = command
  const isHeld = state.status === 'active' || state.status === 'awaiting_approval'
  if (!isHeld || state.held?.agentId !== agentId || state.held.instance !== instance) return makeDecision([])
  return makeDecision(decideLoss(contract, state, { now, loss: { type: 'agent_dropped', agentId, reason } }))
}

type Loss = TaskFact & { type: 'lease_lapsed' | 'agent_dropped' }

function decideLoss(
  contract: Contract,
  state: TaskState,
  { now, loss }: { readonly now: number; readonly loss: Loss },
): readonly TaskFact[] {
  const crash = findCrashRule(contract, state)
  if (crash === undefined) return [loss]
  const count = state.crashes + 1
  if (crash.action === 'park' || count > crash.maxRetries)
    return [loss, { type: 'task_parked', reason: formatParkReason(state, loss, { crash, count }), code: null }]
  const seconds = Math.min(crash.backoffSeconds * count, BACKOFF_SECONDS_MAX)
  // The agent is restarted after the back-off; until then nobody else gets its task.
  const reserved = state.held?.isSpawned === true ? { isReserved: true as const } : {}
  return [{ ...loss, claimableAt: now + seconds * 1000, ...reserved }]
}

function formatParkReason(
  state: TaskState,
  loss: Loss,
  { crash, count }: { readonly crash: AgentCrash; readonly count: number },
): string {
  const times = count === 1 ? 'once' : `${count} times without leaving ${state.phase}`
  const rule = crash.action === 'park' ? 'action park' : `max_retries ${crash.maxRetries}`
  const what = loss.type === 'lease_lapsed' ? 'Agents lost the lease' : 'Agents were dropped'
  const last = loss.type === 'lease_lapsed' ? loss.agentId : `${loss.agentId}: ${loss.reason}`
  return `${what} ${times} (recovery.agent_crash: ${rule}); the last was ${last}`
}
