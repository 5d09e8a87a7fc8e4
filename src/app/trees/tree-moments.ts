import type { TaskEvent } from '../../core/task/event.js'
import type { TaskState } from '../../core/task/state.js'
import type { TreeIndex } from '../../tree/tree-contents.js'
import type { Resources } from '../resources.js'

// Ids of phases have no spaces, so these names cannot be phases.
/** The moment when a task was completed or cancelled. */
export const WORK_ENDED = 'work ended'

/** The moment when a visit began. For a visit that began with a rewind, the phase's own moment is an earlier one. */
export function formatVisitMoment(visit: number): string {
  return `visit ${visit}`
}

/** The moment when an approval was requested. */
export function formatApprovalMoment(approvalId: string): string {
  return `approval ${approvalId}`
}

/** Stores the tree of the moments that a request to leave a phase made: an approval, the next visit, the end. */
export function markMoments(
  app: Pick<Resources, 'trees'>,
  done: {
    readonly before: TaskState
    readonly after: TaskState
    readonly events: readonly TaskEvent[]
    /** The current tree, as the gates saw it. */
    readonly index: TreeIndex
  },
): void {
  const { before, after, events, index } = done
  const { workspace: tree, id } = before
  for (const event of events)
    if (event.type === 'approval_requested') app.trees.mark(tree, id, formatApprovalMoment(event.approvalId), index)
  if (!events.some((event) => event.type === 'gate_passed')) return
  app.trees.settle(tree, index)
  app.trees.mark(tree, id, after.phase)
  if (after.visit !== before.visit) app.trees.mark(tree, id, formatVisitMoment(after.visit))
  if (after.status === 'completed') app.trees.mark(tree, id, WORK_ENDED)
}
