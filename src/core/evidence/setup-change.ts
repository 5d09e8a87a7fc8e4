import { findGranted } from '../approvals/tool-approval.js'
import type { Command, Context } from '../task/command.js'
import { type Decision, makeDecision, refuseUnrecorded } from '../task/refusal.js'
import type { TaskState } from '../task/state.js'

/** Records approved test setup, with the run in which the tests failed under it. */
export function pinSetup(state: TaskState, command: Command & { type: 'pin_setup' }, context: Context): Decision {
  const approval = findGranted(state, { tool: 'request_setup_change', digest: command.digest }, context)
  if (approval === null) return refuseUnrecorded('conflict', 'The approval of exactly this change no longer exists.')
  const { files, run, paths, observed } = command
  const setup = { approvalId: approval.id, digest: approval.digest, paths, observed }
  return makeDecision([{ type: 'tests_pinned', files, run, setup }])
}
