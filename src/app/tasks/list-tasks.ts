import type { JsonObject } from '../../core/json.js'
import type { TaskFilter } from '../../store/store.js'
import type { App } from '../app.js'
import { toIsoTime } from '../wire.js'
import { toPendingView, toTaskRowView } from './views.js'

const REASON_CHARS_MAX = 300

/** Tasks, newest first; with `withProgress` each says how far it is, for views that show many tasks at once. */
export async function listTasks(app: App, filter: TaskFilter, withProgress: boolean): Promise<JsonObject> {
  const page = await app.ledger.store.queryTasks(filter)
  const tasks: JsonObject[] = []
  for (const row of page.items) {
    const view = toTaskRowView(row, app.checking.isChecking(row.id))
    tasks.push(withProgress ? { ...view, progress: await readProgress(app, row.id) } : view)
  }
  return { tasks, next_cursor: page.nextCursor }
}

async function readProgress(app: App, taskId: string): Promise<JsonObject | null> {
  const state = await app.ledger.read(taskId)
  if (state === null) return null
  return {
    visit: state.visit,
    phase_entered_at: state.visit === 0 ? null : toIsoTime(state.visitStartedAt),
    completed_phases: state.completedPhases,
    refusals: state.refusalsTotal,
    pending_approval: toPendingView(state),
    parked_reason: state.parkedReason?.slice(0, REASON_CHARS_MAX).toWellFormed() ?? null,
    lease_seconds: (await app.contracts.get(state.contract.hash)).enforcement.leaseSeconds,
  }
}
