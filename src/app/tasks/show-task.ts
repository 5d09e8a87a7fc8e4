import type { JsonObject } from '../../core/json.js'
import { nextStep } from '../../core/task/next-step.js'
import type { TaskState } from '../../core/task/state.js'
import { listUnavailableMetrics } from '../../core/watch/watch.js'
import { type App, makeContext } from '../app.js'
import { toPendingVoteView } from '../councils/pending-vote.js'
import { ok, type Result, refuse } from '../result.js'
import { toIsoTime } from '../wire.js'
import { toViolationView } from './interrupts.js'
import { toTaskView } from './views.js'

/** One task with what only a look at its contract tells: how its rules stand, and the next legal step. */
export async function showTask(app: App, taskId: string): Promise<Result<JsonObject>> {
  const state = await app.ledger.read(taskId)
  if (state === null) return refuse('not_found', `There is no task ${JSON.stringify(taskId)}.`)
  const contract = await app.contracts.get(state.contract.hash)
  const context = makeContext(app, 'system')
  const isUnderWay = state.visit > 0 && state.status !== 'completed' && state.status !== 'cancelled'
  const { open, acknowledged } = state.watch
  return ok({
    ...toTaskView(state),
    ...toHeldOutCounts(state),
    checking: app.checking.isChecking(taskId),
    phase_entered_at: state.visit === 0 ? null : toIsoTime(state.visitStartedAt),
    // Told as a number as well: the clock of whoever asks may be another one.
    phase_seconds: isUnderWay ? Math.max(0, Math.floor((context.now - state.visitStartedAt) / 1000)) : null,
    rules: {
      open: isUnderWay && open !== null ? { ...toViolationView(open.violation), action: open.action } : null,
      acknowledged: isUnderWay ? [...acknowledged.keys()] : [],
      unavailable: isUnderWay ? listUnavailableMetrics(contract, state, context) : [],
    },
    pending_consensus: await toPendingVoteView(app, contract, state),
    next_step: nextStep(contract, state),
  })
}

// What the examples are is an own call: `GET /tasks/{id}/held-out`.
function toHeldOutCounts({ heldOut }: TaskState): JsonObject {
  return heldOut === undefined
    ? {}
    : { held_out: { sha256: heldOut.sha256, count: heldOut.count, failures: heldOut.failures } }
}
