import type { TaskEvent } from '../../core/task/event.js'
import type { TaskState } from '../../core/task/state.js'
import type { App } from '../app.js'
import { findTouched, listChangedPaths } from '../trees/earlier-changes.js'
import { toTaskEvent } from '../wire.js'

const PAGE = 500
const PAGES_MAX = 8
const TYPES = ['tool_finished', 'fact_recorded', 'tree_accepted', 'install_finished'] as const

/**
 * The other task that changed a path since work on this one began, by its recorded calls. Paths that this task changed
 * too are its own, and so is every path where the ledger does not name all changes.
 */
export async function findOtherTasks(
  app: Pick<App, 'ledger'>,
  state: TaskState,
  paths: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  if (paths.length === 0) return found
  const isOwn = await findTouched(app, state)
  const left = new Set(isOwn === null ? [] : paths.filter((path) => !isOwn(path)))
  const began = left.size === 0 ? null : await findBeginning(app, state.id)
  if (began === null) return found
  let cursor: string | null = null
  for (let page = 0; page < PAGES_MAX && left.size > 0; page += 1) {
    const { items, nextCursor } = await app.ledger.store.query({
      ...{ types: TYPES, afterSeq: began, limit: PAGE, searchedMax: Number.MAX_SAFE_INTEGER },
      ...(cursor === null ? {} : { cursor }),
    })
    for (const stored of items) {
      const taskId = stored.stream.replace(/^task:/, '')
      if (taskId === state.id || !(await isInTree(app, taskId, state.workspace))) continue
      for (const path of listChangedPaths(toTaskEvent(stored))) if (left.delete(path)) found.set(path, taskId)
    }
    cursor = nextCursor
    if (cursor === null) break
  }
  return found
}

/** The number of the event with which work on the task began; null: it has not. */
async function findBeginning(app: Pick<App, 'ledger'>, taskId: string): Promise<number | null> {
  const { items } = await app.ledger.store.query({
    taskId,
    type: 'phase_entered' satisfies TaskEvent['type'],
    limit: PAGE,
  })
  return items.at(-1)?.seq ?? null
}

async function isInTree(app: Pick<App, 'ledger'>, taskId: string, workspace: string): Promise<boolean> {
  return (await app.ledger.peek(taskId))?.workspace === workspace
}
