import type { Command } from './command.js'
import { type Decision, describeParked, makeDecision, refuseUnrecorded } from './refusal.js'
import type { TaskState } from './state.js'

type StashCommand = Command & { type: 'stash' | 'drop_stash' }

/** An operator stashes a task with its work. The task cannot continue until the work is restored. */
export function stash(state: TaskState, command: StashCommand): Decision {
  if (state.status === 'completed' || state.status === 'cancelled')
    return refuseUnrecorded('task_not_active', `Task ${state.id} is ${state.status}.`)
  if (state.stash !== null)
    return refuseUnrecorded('conflict', `Task ${state.id} is stashed as ${state.stash} already.`)
  if (state.status === 'parked')
    return refuseUnrecorded('conflict', `${describeParked(state.id, state.parkedReason)} Resume it first.`)
  if (state.visit === 0) return refuseUnrecorded('conflict', `Work on task ${state.id} has not started.`)
  return makeDecision([{ type: 'task_parked', reason: `stashed: ${command.reason}`, code: null, stash: command.stash }])
}

/** The stash is dropped. The task stays parked until an operator decides. */
export function dropStash(state: TaskState, command: StashCommand): Decision {
  if (state.stash !== command.stash || state.status !== 'parked')
    return refuseUnrecorded('conflict', `Task ${state.id} is not stashed as ${command.stash}.`)
  const reason = `its stash ${command.stash} was dropped: ${command.reason}`
  return makeDecision([{ type: 'task_parked', reason, code: null, stash: null }])
}

/** Why a task cannot continue: its work is stashed, or the stash does not match. Null: it can. */
export function refuseWhileStashed(state: TaskState, back?: string): Decision | null {
  if (state.stash === (back ?? null)) return null
  return refuseUnrecorded(
    'conflict',
    state.stash === null
      ? `Task ${state.id} is not stashed.`
      : `The work of task ${state.id} is stashed as ${state.stash}. Bring it back first: phaselock stash pop ${state.stash}`,
  )
}
