import type { JsonObject } from '../../core/json.js'
import { nextStep } from '../../core/task/next-step.js'
import type { TaskState } from '../../core/task/state.js'
import { listUnavailableMetrics } from '../../core/watch/watch.js'
import { type App, contextOf } from '../app.js'
import { toPendingVoteView } from '../councils/pending-vote.js'
import { noTask, ok, type Result } from '../result.js'
import { toIsoTime } from '../wire.js'
import { toViolationView } from './interrupts.js'
import { toTaskView } from './views.js'

/** One task with details that need its contract: the status of its rules and the next legal step. */
export async function showTask(app: App, taskId: string): Promise<Result<JsonObject>> {
  const state = await app.ledger.read(taskId)
  if (state === null) return noTask(taskId)
  const contract = await app.contracts.get(state.contract.hash)
  const context = contextOf(app, 'system')
  const isUnderWay = state.visit > 0 && state.status !== 'completed' && state.status !== 'cancelled'
  const { open, acknowledged } = state.watch
  return ok({
    ...toTaskView(state),
    ...toHeldOutCounts(state),
    checking: app.checking.isChecking(taskId),
    lease_seconds: contract.enforcement.leaseSeconds,
    phase_entered_at: state.visit === 0 ? null : toIsoTime(state.visitStartedAt),
    // Also sent as a number, because the client's clock may differ.
    phase_seconds: isUnderWay ? Math.max(0, Math.floor((context.now - state.visitStartedAt) / 1000)) : null,
    rules: {
      open: isUnderWay && open !== null ? { ...toViolationView(open.violation), action: open.action } : null,
      acknowledged: isUnderWay ? [...acknowledged.keys()] : [],
      unavailable: isUnderWay ? listUnavailableMetrics(contract, state, context) : [],
    },
    pending_consensus: await toPendingVoteView(app, contract, state),
    next_step: nextStep(contract, state, app.checking.findGateRun(taskId)),
  })
}

// The examples themselves have their own call: `GET /tasks/{id}/held-out`.
function toHeldOutCounts({ heldOut }: TaskState): JsonObject {
  return heldOut === undefined
    ? {}
    : { held_out: { sha256: heldOut.sha256, count: heldOut.count, failures: heldOut.failures } }
}
