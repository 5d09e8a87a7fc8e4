import type { JsonObject } from '../../core/json.js'
import { nextStep } from '../../core/task/next-step.js'
import type { TaskState } from '../../core/task/state.js'
import { unavailableMetrics } from '../../core/watch/watch.js'
import { type App, contextOf } from '../app.js'
import { pendingVoteView } from '../councils/pending-vote.js'
import { noTask, ok, type Result } from '../result.js'
import { isoTime } from '../wire.js'
import { violationView } from './interrupts.js'
import { taskView } from './views.js'

/** One task with what only a look at its contract tells: how its rules stand, and the next legal step. */
export async function showTask(app: App, taskId: string): Promise<Result<JsonObject>> {
  const state = await app.ledger.read(taskId)
  if (state === null) return noTask(taskId)
  const contract = await app.contracts.get(state.contract.hash)
  const context = contextOf(app, 'system')
  const isUnderWay = state.visit > 0 && state.status !== 'completed' && state.status !== 'cancelled'
  const { open, acknowledged } = state.watch
  return ok({
    ...taskView(state),
    ...heldOutCounts(state),
    checking: app.checking.isChecking(taskId),
    phase_entered_at: state.visit === 0 ? null : isoTime(state.visitStartedAt),
    // Told as a number as well: the clock of whoever asks may be another one.
    phase_seconds: isUnderWay ? Math.max(0, Math.floor((context.now - state.visitStartedAt) / 1000)) : null,
    rules: {
      open: isUnderWay && open !== null ? { ...violationView(open.violation), action: open.action } : null,
      acknowledged: isUnderWay ? [...acknowledged.keys()] : [],
      unavailable: isUnderWay ? unavailableMetrics(contract, state, context) : [],
    },
    pending_consensus: await pendingVoteView(app, contract, state),
    next_step: nextStep(contract, state),
  })
}

// What the examples are is an own call: `GET /tasks/{id}/held-out`.
function heldOutCounts({ heldOut }: TaskState): JsonObject {
  return heldOut === undefined
    ? {}
    : { held_out: { sha256: heldOut.sha256, count: heldOut.count, failures: heldOut.failures } }
}
