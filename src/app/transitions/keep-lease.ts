import type { Contract } from '../../core/contract/contract.js'
import type { Refusal } from '../../core/task/refusal.js'
import type { TaskState } from '../../core/task/state.js'
import { contextOf, type Resources } from '../resources.js'

/** Extends the lease of an agent that waits for Phaselock, until the returned function is called. */
export function keepLease(
  app: Resources,
  { contract, state }: { readonly contract: Contract; readonly state: TaskState },
): () => void {
  const guard = (now: TaskState): Refusal | null =>
    now.held !== null && now.epoch === state.epoch ? null : { code: 'token_stale', detail: 'The task moved on.' }
  const extend = () =>
    app.ledger.apply({ taskId: state.id, contract }, { type: 'extend_lease' }, contextOf(app, 'orchestrator'), {
      guard,
    })
  // After a temporary store failure the next turn extends it.
  const timer = setInterval(() => extend().catch(() => undefined), contract.enforcement.leaseSeconds * 500)
  return () => clearInterval(timer)
}

/** Runs the checks of a request to enter a phase while nothing else may change the task. */
export async function runWhileChecking<T>(
  app: Resources,
  { contract, state, to }: { readonly contract: Contract; readonly state: TaskState; readonly to: string },
  work: () => Promise<T>,
): Promise<T> {
  const stop = keepLease(app, { contract, state })
  app.checking.begin(state.id, 'gates', { to, since: app.now() })
  try {
    return await work()
  } finally {
    stop()
    app.checking.end(state.id)
  }
}
