import type { Contract } from '../contract/contract.js'
import { makeSlotFacts } from '../reviews/reviewer-slots.js'
import type { Command, Context } from './command.js'
import { decideLapse } from './crash.js'
import type { TaskFact } from './event.js'
import { type Decision, makeDecision, refuseUnrecorded } from './refusal.js'
import type { TaskState } from './state.js'
import { isWaitingForPeople } from './waiting.js'
import { refuseGoneWorktree } from './worktree.js'

const OVER: ReadonlySet<TaskState['status']> = new Set<TaskState['status']>(['completed', 'cancelled'])

export function release(state: TaskState, command: Command & { type: 'release' }): Decision {
  return makeDecision([{ type: 'task_released', agentId: state.held?.agentId ?? '', reason: command.reason }])
}

/** Ends an expired lease. Does nothing if it was extended meanwhile. */
export function endLapsedLease(contract: Contract, state: TaskState, context: Context): Decision {
  const isHeld = state.status === 'active' || state.status === 'awaiting_approval'
  if (!isHeld || state.held === null || state.held.leaseExpiresAt > context.now) return makeDecision([])
  if (isWaitingForPeople(contract, state, context.now)) return extendLease(contract, state, 'lease_extended')
  return makeDecision(decideLapse(contract, state, context.now))
}

export function extendLease(contract: Contract, state: TaskState, type: 'lease_extended' | 'token_renewed'): Decision {
  return makeDecision([{ type, agentId: state.held?.agentId ?? '', leaseSeconds: contract.enforcement.leaseSeconds }])
}

/** Suspends the task until an operator resumes it. */
export function park(state: TaskState, command: Command & { type: 'park' }): Decision {
  if (OVER.has(state.status) || state.status === 'parked')
    return refuseUnrecorded('task_not_active', `Task ${state.id} is ${state.status} already.`)
  return makeDecision([{ type: 'task_parked', reason: command.reason, code: null }])
}

export function cancel(state: TaskState, command: Command & { type: 'cancel' }): Decision {
  if (OVER.has(state.status)) return refuseUnrecorded('task_not_active', `Task ${state.id} is ${state.status} already.`)
  return makeDecision([{ type: 'task_cancelled', reason: command.reason }])
}

/** Resumes a parked task: with its agent if that one is free, else it can be claimed. */
export function resume(contract: Contract, state: TaskState, command: Command & { type: 'resume' }): Decision {
  if (state.status !== 'parked') return refuseUnrecorded('conflict', `Task ${state.id} is ${state.status}, not parked.`)
  if (command.stashFolder !== undefined)
    return refuseUnrecorded(
      'conflict',
      `Phaselock 0.2.0 stashed the work of task ${state.id}: it is in ${command.stashFolder}, not in the work tree.`,
      { remedy: 'Put it back and remove that folder, then resume. See docs/operate.md#upgrade.' },
    )
  const { leaseSeconds } = contract.enforcement
  return makeDecision([
    {
      type: 'task_resumed',
      reason: command.reason,
      keepsAgent: command.agentIsFree && state.held !== null,
      leaseSeconds,
    },
  ])
}

/** Only `resume` is told whether the work is still in the stash. */
function refuseWhileStashed({ id, stash }: TaskState): Decision | null {
  if (stash === null) return null
  return refuseUnrecorded('conflict', `Phaselock 0.2.0 stashed the work of task ${id} as ${stash}. Resume it first.`)
}

/** Rewinds the task to an earlier phase. Later artifacts and approvals become void, and so do all tokens. */
export function rewind(contract: Contract, state: TaskState, command: Command & { type: 'rewind' }): Decision {
  if (!contract.phases.has(command.to))
    return refuseUnrecorded(
      'unknown_phase',
      `There is no phase ${JSON.stringify(command.to)}. Phases: ${[...contract.phases.keys()].join(', ')}`,
    )
  if (state.status === 'cancelled' || state.visit === 0)
    return refuseUnrecorded('task_not_active', `Task ${state.id} is ${state.status}.`)
  const elsewhere = refuseWhileStashed(state) ?? refuseGoneWorktree(state)
  if (elsewhere !== null) return elsewhere
  if (command.to !== state.phase && !state.completedPhases.includes(command.to)) {
    const visited = [...new Set([...state.completedPhases, state.phase])].join(', ')
    return refuseUnrecorded(
      'conflict',
      `Task ${state.id} has not been in ${command.to}: a rewind only goes back. Phases it has been in: ${visited}`,
    )
  }
  const keepsAgent =
    state.held !== null &&
    (state.status === 'active' ||
      state.status === 'awaiting_approval' ||
      (state.status === 'parked' && command.agentIsFree))
  const { restored, reason } = command
  return makeDecision([
    { type: 'task_rewound', to: command.to, reason, keepsAgent },
    ...makeSlotFacts(contract, command.to, false),
    ...(restored === undefined || restored.pathCount === 0
      ? []
      : [{ type: 'tree_reverted', ...restored, reason } as const]),
  ])
}

export function reassign(state: TaskState, command: Command & { type: 'reassign' }): Decision {
  if (OVER.has(state.status)) return refuseUnrecorded('task_not_active', `Task ${state.id} is ${state.status}.`)
  const elsewhere = refuseWhileStashed(state)
  if (elsewhere !== null) return elsewhere
  return makeDecision([{ type: 'task_reassigned', agentId: command.agentId, reason: command.reason }])
}

/** An operator decides on changes that no allowed call explains. */
export function settleTree(state: TaskState, command: Command & { type: 'tree_accepted' | 'tree_reverted' }): Decision {
  if (OVER.has(state.status)) return refuseUnrecorded('task_not_active', `Task ${state.id} is ${state.status}.`)
  const { type, paths, pathCount, reason } = command
  return makeDecision([{ type, paths, pathCount, reason }])
}

/** An operator accepts the upstream tools as their servers list them now. */
export function acceptTools(state: TaskState, command: Command & { type: 'accept_tools' }): Decision {
  if (OVER.has(state.status)) return refuseUnrecorded('task_not_active', `Task ${state.id} is ${state.status}.`)
  return makeDecision([{ type: 'tools_accepted', upstream: command.upstream, reason: command.reason }])
}

export function update(state: TaskState, command: Command & { type: 'update' }): Decision {
  if (OVER.has(state.status)) return refuseUnrecorded('task_not_active', `Task ${state.id} is ${state.status}.`)
  const fact: TaskFact = {
    type: 'task_updated',
    title: command.title ?? state.title,
    description: command.description ?? state.description,
    metadata: command.metadata ?? state.metadata,
    priority: command.priority ?? state.priority,
  }
  return makeDecision([fact])
}
