import type { TaskState } from '../../core/task/state.js'
import type { App } from '../app.js'
import { formatStream } from '../ledger/entries.js'

const HELD_MAX = 500

/** The other tasks whose work in this tree has begun and is not over, whether an agent holds them or not. */
export async function listTasksInTree(
  app: Pick<App, 'ledger' | 'trees'>,
  { id, workspace }: Pick<TaskState, 'id' | 'workspace'>,
): Promise<readonly TaskState[]> {
  const ids = new Set(app.trees.tasks.list(workspace))
  // Earlier versions did not note which tasks began in a tree.
  for (const status of ['active', 'awaiting_approval'] as const)
    for (const row of (await app.ledger.store.queryTasks({ status, limit: HELD_MAX })).items) ids.add(row.id)
  ids.delete(id)
  const found: TaskState[] = []
  for (const other of ids) {
    // The same path on another node is another tree.
    if (await app.ledger.isElsewhere(formatStream(other))) continue
    const state = await app.ledger.peek(other)
    if (state !== null && state.workspace === workspace && state.visit > 0 && !isOver(state)) found.push(state)
  }
  return found
}

/** Whether an agent works on the task now. A parked task remembers its agent, which cannot go on. */
export function isWorkedOn({ status, held }: TaskState): boolean {
  return held !== null && (status === 'active' || status === 'awaiting_approval')
}

function isOver({ status }: TaskState): boolean {
  return status === 'completed' || status === 'cancelled'
}
