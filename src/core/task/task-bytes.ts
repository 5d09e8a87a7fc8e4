import type { TaskState } from './state.js'

/** How many bytes a task may add to its work tree in total, unless the server was started with another limit. */
export const TASK_BYTES_MAX = 1024 ** 3

// An empty file takes an inode, and an empty folder a block: many of them would fill a disk too.
const ENTRY_BYTES_MIN = 512
const FOLDER_BYTES_MIN = 4096

/** Minimum size counted for a new file, link or folder. (REQ-TASKBYTES-2) */
export function getMinimumBytes(type: 'file' | 'link' | 'directory'): number {
  return type === 'directory' ? FOLDER_BYTES_MIN : ENTRY_BYTES_MIN
}

/** Why the task may not add this many bytes; null when it may. Deletions are not subtracted. */
export function findBytesProblem(
  state: Pick<TaskState, 'bytesAdded'>,
  added: number,
  bytesMax: number = TASK_BYTES_MAX,
): string | null {
  const total = state.bytesAdded + added
  if (added === 0 || total <= bytesMax) return null
  return `would add too much: the task would have added ${total} bytes to its work tree, and the maximum is ${bytesMax}`
}
