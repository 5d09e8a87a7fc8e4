import { updateApproval } from '../approvals/evolve-approval.js'
import { findGranted } from '../approvals/tool-approval.js'
import type { Context } from '../task/command.js'
import type { TaskFact } from '../task/event.js'
import { type Decision, makeDecision, refuseUnrecorded } from '../task/refusal.js'
import type { TaskState } from '../task/state.js'
import type { InstallCommand, InstallFact } from './install-command.js'

/** Records an install. One that an agent asked for needs an approval of exactly this command. */
export function finishInstall(state: TaskState, command: InstallCommand, context: Context): Decision {
  if (state.status === 'completed' || state.status === 'cancelled')
    return refuseUnrecorded('task_not_active', `Task ${state.id} is ${state.status}.`)
  const { type: _, digest, pinned, ...record } = command
  const approval = digest === null ? null : findGranted(state, { tool: 'request_dependency', digest }, context)
  if (digest !== null && approval === null)
    return refuseUnrecorded('conflict', 'The approval of exactly this command no longer exists.')
  const facts: TaskFact[] = [{ type: 'install_finished', ...record, approvalId: approval?.id ?? null }]
  if (record.success && pinned !== null) facts.push({ type: 'tests_pinned', ...pinned })
  return makeDecision(facts)
}

/** What was installed uses up its approval; an install that failed may be tried again. */
export function applyInstallFinished(state: TaskState, { success, approvalId }: InstallFact): TaskState {
  return success && approvalId !== null ? updateApproval(state, approvalId, { status: 'used' }) : state
}
