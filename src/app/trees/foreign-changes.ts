import { matchesGlob } from '../../contract/glob.js'
import type { Contract } from '../../core/contract/contract.js'
import { getWritable } from '../../core/paths/writable.js'
import type { TaskState } from '../../core/task/state.js'
import { requirePhase } from '../../core/tool-calls/offered-tools.js'
import type { App } from '../app.js'
import { findTouched } from './earlier-changes.js'

const OTHERS_MAX = 500

/**
 * Whether somebody else changed a path since work on the task began: another task in the same work tree, or an
 * unrecorded change where the phase does not let the task write. Unrecorded changes where it may write count as the
 * task's own.
 */
export async function makeForeignMatcher(
  app: Pick<App, 'ledger'>,
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
  app: Pick<App, 'ledger'>,
  { id, workspace }: TaskState,
): Promise<readonly ((path: string) => boolean)[]> {
  const active = await app.ledger.store.queryTasks({ status: 'active', limit: OTHERS_MAX })
  const states = await Promise.all(active.items.filter((one) => one.id !== id).map((one) => app.ledger.peek(one.id)))
  const here = states.filter((other) => other !== null && other.workspace === workspace && other.visit > 0)
  const found = await Promise.all(here.map((other) => (other === null ? null : findTouched(app, other))))
  return found.filter((isTouched) => isTouched !== null)
}
