import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolderMatcher } from '../../core/paths/commit-scope.js'
import type { TaskEvent } from '../../core/task/event.js'
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
    const named = listChangedPaths(event)
    paths.push(...named)
    if (event.type === 'tree_accepted') isComplete &&= event.pathCount <= named.length
    if (event.type === 'tool_finished' || event.type === 'fact_recorded')
      isComplete &&= (event.changeCount ?? 0) <= named.length
  }
  return isComplete ? makeFolderMatcher(paths) : null
}

/** The paths that an event names as changed. */
export function listChangedPaths(event: TaskEvent): readonly string[] {
  switch (event.type) {
    case 'tree_accepted':
      return event.paths
    case 'install_finished':
      return event.success ? event.paths : []
    case 'tool_finished':
    case 'fact_recorded':
      return (event.changes ?? []).map(({ path }) => path)
    default:
      return []
  }
}

/** Whether anything stands at the path. */
export function isThere(tree: string, path: string): boolean {
  return lstatSync(join(tree, path), { throwIfNoEntry: false }) !== undefined
}
