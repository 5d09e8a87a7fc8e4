import type { Command } from '../core/command.js'
import { StoreUnavailable } from '../store/port.js'
import { type App, contextOf } from './app.js'

const SWEEP_MS = 1000
const PER_SWEEP_MAX = 200

/** Lets leases lapse and approvals expire. Whether one really has is decided on the task's state, not on what the search found. */
export function startSweep(app: App, onFault: (error: unknown) => void): () => void {
  let running = false
  const timer = setInterval(() => {
    if (running) return
    running = true
    sweep(app)
      .catch((error: unknown) => {
        if (!(error instanceof StoreUnavailable)) onFault(error)
      })
      .finally(() => {
        running = false
      })
  }, SWEEP_MS)
  timer.unref()
  return () => clearInterval(timer)
}

export async function sweep(app: App): Promise<void> {
  const rows = await app.ledger.store.overdue({ now: app.now(), limit: PER_SWEEP_MAX })
  for (const row of rows) {
    const contract = await app.contracts.get(row.contract).catch(() => null)
    // A task whose contract cannot be had must not keep all others from being swept.
    if (contract === null) continue
    const commands: readonly Command[] = [{ type: 'expire_approval' }, { type: 'lapse_lease' }]
    for (const command of commands)
      await app.ledger.apply({ taskId: row.id, contract }, command, contextOf(app, 'system'))
  }
}
