import type { Contract } from '../../core/contract/contract.js'
import type { TaskState } from '../../core/task/state.js'
import type { App } from '../app.js'
import { findTouched } from './earlier-changes.js'

const OTHERS_MAX = 500

/**
 * Whether a path was changed by somebody else since work on the task began: by another task in the same work tree, or by nobody
 * whom the ledger knows. Without a comparison that blocks (`reconcile: block`) everything that differs is the task's.
 */
export async function makeForeignMatcher(
  app: Pick<App, 'ledger'>,
  { contract, state }: { readonly contract: Contract; readonly state: TaskState },
  isWritten: (path: string) => boolean,
): Promise<(path: string) => boolean> {
  if (contract.enforcement.reconcile !== 'block' || state.visit === 0) return () => false
  const isOwn = await findTouched(app, state)
  if (isOwn === null) return () => false
  const others = await listOthers(app, state)
  return (path) => !isOwn(path) && (!isWritten(path) || others.some((isTouched) => isTouched(path)))
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
