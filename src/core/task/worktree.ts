import { assertUnreachable } from '../unreachable.js'
import type { Command } from './command.js'
import { type Decision, makeDecision, refuseUnrecorded } from './refusal.js'
import type { TaskState } from './state.js'
import type { TreeFact } from './tree-event.js'

type EndWorktree = Command & { type: 'end_worktree' }

/** An operator decides on the work of a task that has its own tree. (REQ-TREES-4) */
export function endWorktree(state: TaskState, command: EndWorktree): Decision {
  const refused = refuseWorktreeEnd(state, command.end, command.force)
  if (refused !== null) return refused
  const { reason } = command
  if (command.end === 'discard') return makeDecision([{ type: 'worktree_discarded', reason }])
  if (command.end === 'hand_over')
    return makeDecision([{ type: 'worktree_handed_over', commit: command.commit ?? '', reason }])
  return makeDecision([
    {
      type: 'worktree_merged',
      commit: command.commit ?? '',
      into: command.into ?? '',
      result: command.result ?? '',
      keepsTree: !isOver(state),
      reason,
    },
  ])
}

/** Why the work cannot be merged or discarded now; null: it can. */
export function refuseWorktreeEnd(state: TaskState, end: EndWorktree['end'], force: boolean): Decision | null {
  const gone = refuseGoneWorktree(state)
  if (gone !== null) return gone
  if (state.worktree === null) return refuseUnrecorded('conflict', `Task ${state.id} has no work tree of its own.`)
  if (end === 'merge' && state.status !== 'completed' && !force)
    return refuseUnrecorded(
      'conflict',
      `Task ${state.id} is ${state.status}, not completed; use force to merge it anyway.`,
    )
  if (end === 'merge' && state.held !== null && !isOver(state) && state.status !== 'parked')
    return refuseUnrecorded(
      'conflict',
      `Agent ${state.held.agentId} works on task ${state.id}; run phaselock task reassign ${state.id} first.`,
    )
  if (end === 'hand_over' && !isOver(state))
    return refuseUnrecorded(
      'conflict',
      `Task ${state.id} is ${state.status}; only completed or cancelled tasks can be handed over.`,
    )
  if (end === 'discard' && state.status !== 'cancelled' && !(state.status === 'completed' && force))
    return refuseUnrecorded(
      'conflict',
      `Task ${state.id} is ${state.status}; only the work of cancelled tasks can be discarded.`,
    )
  return null
}

/** Why nobody can continue the task: its tree was removed. Null: it has no own tree, or the tree exists. */
export function refuseGoneWorktree(state: TaskState): Decision | null {
  if (state.worktree === null || state.worktree.status === 'open') return null
  const became = state.worktree.status.replace('_', ' ')
  return refuseUnrecorded('conflict', `The work tree of task ${state.id} was ${became} already.`)
}

/** The state after an operator decided on the work tree. */
export function applyWorktreeEvent(
  state: TaskState,
  event: Extract<TreeFact, { type: `worktree_${string}` }>,
): TaskState {
  if (state.worktree === null) return state
  switch (event.type) {
    case 'worktree_merged':
      return {
        ...state,
        worktree: { ...state.worktree, status: event.keepsTree ? 'open' : 'merged', commit: event.commit },
      }
    case 'worktree_handed_over':
      return { ...state, worktree: { ...state.worktree, status: 'handed_over', commit: event.commit } }
    case 'worktree_discarded':
      return { ...state, worktree: { ...state.worktree, status: 'discarded' } }
    default:
      return assertUnreachable(event)
  }
}

function isOver(state: TaskState): boolean {
  return state.status === 'completed' || state.status === 'cancelled'
}
