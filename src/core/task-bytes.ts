import type { TaskState } from './state.js'

/** How many bytes a task may add to its work tree in all, unless the server was started with another limit. */
export const TASK_BYTES_MAX = 1024 ** 3

/** Why the task may not add so many bytes more; null when it may. What it deletes does not count against what it added. */
export function findBytesProblem(
  state: Pick<TaskState, 'bytesAdded'>,
  added: number,
  bytesMax: number = TASK_BYTES_MAX,
): string | null {
  const total = state.bytesAdded + added
  if (added === 0 || total <= bytesMax) return null
  return `would bring what this task has added to its work tree to ${total} bytes; a task may add ${bytesMax} bytes in all`
}
