import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolderMatcher } from '../../core/paths/commit-scope.js'
import type { TaskState } from '../../core/task/state.js'
import { openWorkTree } from '../../tree/work-tree.js'
import type { App } from '../app.js'
import type { EarlierChanges } from '../test-runs/task-views.js'
import { readEventsSince } from './phase-changes.js'

/** The paths of that list that are unchanged, and those that the task has changed. */
export async function readEarlierChanges(
  app: Pick<App, 'ledger' | 'views'>,
  state: TaskState,
): Promise<{ readonly untouched: ReadonlySet<string>; readonly all: ReadonlySet<string> }> {
  const earlier = app.views.loadEarlierChanges(state.id)
  if (earlier.length === 0) return { untouched: new Set(), all: new Set() }
  const isTouched = await makeTouchedMatcher(app, state)
  const now = await openWorkTree(state.workspace).hashEach(earlier.map(([path]) => path))
  const isSame = ([path, hash]: readonly [string, string | null]): boolean =>
    !isTouched(path) && now.get(path) === hash && (hash !== null || !isThere(state.workspace, path))
  const paths = (some: EarlierChanges): ReadonlySet<string> => new Set(some.map(([path]) => path))
  return { untouched: paths(earlier.filter(isSame)), all: paths(earlier) }
}

// A file that the task changed, committed and restored has its old content but differs from the last commit because of
// the task.
async function makeTouchedMatcher(app: Pick<App, 'ledger'>, state: TaskState): Promise<(path: string) => boolean> {
  return (await findTouched(app, state)) ?? (() => true)
}

/** Whether calls of the task changed a path, or an operator accepted its change; null where the ledger does not name all of them. */
export async function findTouched(
  app: Pick<App, 'ledger'>,
  state: TaskState,
): Promise<((path: string) => boolean) | null> {
  const { events, isWhole } = await readEventsSince(app, state, 'task')
  const paths: string[] = []
  let isComplete = isWhole
  for (const event of events) {
    if (event.type === 'tree_accepted') {
      paths.push(...event.paths)
      isComplete &&= event.pathCount <= event.paths.length
    }
    if (event.type === 'install_finished' && event.success) paths.push(...event.paths)
    if (event.type !== 'tool_finished' && event.type !== 'fact_recorded') continue
    paths.push(...(event.changes ?? []).map(({ path }) => path))
    isComplete &&= (event.changeCount ?? 0) <= (event.changes ?? []).length
  }
  return isComplete ? makeFolderMatcher(paths) : null
}

/** Whether anything stands at the path. */
export function isThere(tree: string, path: string): boolean {
  return lstatSync(join(tree, path), { throwIfNoEntry: false }) !== undefined
}
