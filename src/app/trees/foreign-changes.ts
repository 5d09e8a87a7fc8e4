import { matchesGlob } from '../../contract/glob.js'
import type { Contract } from '../../core/contract/contract.js'
import { getWritable } from '../../core/paths/writable.js'
import type { TaskState } from '../../core/task/state.js'
import { requirePhase } from '../../core/tool-calls/offered-tools.js'
import type { App } from '../app.js'
import { findTouched } from './earlier-changes.js'
import { listTasksInTree } from './list-tasks-in-tree.js'

/**
 * Whether somebody else changed a path since work on the task began: another task in the same work tree, or an
 * unrecorded change where the phase does not let the task write. Unrecorded changes where it may write count as the
 * task's own.
 */
export async function makeForeignMatcher(
  app: Pick<App, 'ledger' | 'trees'>,
  { contract, state }: { readonly contract: Contract; readonly state: TaskState },
  isWritten: (path: string) => boolean,
): Promise<(path: string) => boolean> {
  if (state.visit === 0) return () => false
  const isOwn = await findTouched(app, state)
  if (isOwn === null) return () => false
  const others = await listOthers(app, state)
  const { allowed, forbidden } = getWritable(requirePhase(contract, state.phase))
  const matches = (patterns: readonly string[], path: string) => patterns.some((one) => matchesGlob(one, path))
  const isHeld = contract.enforcement.reconcile === 'block'
  const isUnexplained = (path: string): boolean =>
    isHeld && !isWritten(path) && (matches(forbidden, path) || !matches(allowed, path))
  return (path) => !isOwn(path) && (isUnexplained(path) || others.some((isTouched) => isTouched(path)))
}

async function listOthers(
  app: Pick<App, 'ledger' | 'trees'>,
  state: TaskState,
): Promise<readonly ((path: string) => boolean)[]> {
  const others = await listTasksInTree(app, state)
  const found = await Promise.all(others.map((other) => findTouched(app, other)))
  return found.filter((isTouched) => isTouched !== null)
}
