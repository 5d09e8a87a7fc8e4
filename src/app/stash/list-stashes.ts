import type { JsonObject } from '../../core/json.js'
import type { TaskState } from '../../core/task/state.js'
import type { App } from '../app.js'
import { toIsoTime } from '../wire.js'
import { type Stash, StashShelf } from './stash-store.js'

const PATHS_TOLD_MAX = 200
const COMMITS_STAY =
  'The task made commits: they stay in the git repository, and the work tree now differs from the newest of them.'

/** All stashes, newest first. */
export async function listStashes(app: App): Promise<JsonObject> {
  const stashes: JsonObject[] = []
  for (const stash of new StashShelf(app.keptDir).list())
    stashes.push(toStashView(stash, await app.ledger.read(stash.taskId)))
  return { stashes }
}

export function toStashView(stash: Stash, state: TaskState | null): JsonObject {
  const isWhole = stash.stage === 'saved'
  return {
    id: stash.id,
    name: stash.name,
    task_id: stash.taskId,
    task_title: state?.title ?? null,
    task_status: state?.status ?? null,
    phase: stash.phase,
    saved_at: toIsoTime(stash.savedAt),
    saved_by: stash.actor,
    reason: stash.reason,
    workspace: stash.tree,
    // `lost`: its task continued or ended without it. Its files are still there.
    status: !isWhole ? 'unfinished' : state?.stash === stash.id && state.status === 'parked' ? 'saved' : 'lost',
    bytes: stash.bytes,
    paths: stash.paths.slice(0, PATHS_TOLD_MAX).map(({ path, was, now }) => ({
      path,
      kind: was === null ? 'created' : now === null ? 'deleted' : 'modified',
    })),
    path_count: stash.paths.length,
  }
}

export function buildStashAnswer(stash: Stash, state: TaskState, hasCommits: boolean): JsonObject {
  return { ...toStashView(stash, state), warnings: hasCommits ? [COMMITS_STAY] : [] }
}
