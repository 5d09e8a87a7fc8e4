import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Command } from '../core/task/command.js'
import { StoreUnavailable, type TaskRow } from '../store/store.js'
import { type App, contextOf } from './app.js'
import { formatStream } from './ledger/entries.js'

const SWEEP_MS = 1000
const PER_SWEEP_MAX = 200

/** Expires leases and approvals, and checks for alerts. The task's state decides, not the search result. */
export function startSweep(app: App, onFault: (error: unknown) => void): () => void {
  const tour = new AlertTour(app)
  let running = false
  const timer = setInterval(() => {
    if (running) return
    running = true
    sweep(app)
      .then(() => tour.next())
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
  const rows = await app.ledger.store.listOverdue({ now: app.now(), limit: PER_SWEEP_MAX })
  for (const row of rows) {
    if (await app.ledger.isElsewhere(formatStream(row.id))) continue
    const contract = await app.contracts.get(row.contract).catch(() => null)
    // A task whose contract cannot be loaded must not stop the sweep of the others.
    if (contract === null) continue
    const commands: readonly Command[] = [{ type: 'expire_approval' }, { type: 'lapse_lease' }]
    for (const command of commands)
      await app.ledger.apply({ taskId: row.id, contract }, command, contextOf(app, 'system'))
  }
}

const TOURED = ['active', 'awaiting_approval', 'interrupted', 'queued', 'parked'] as const

/** Cycles through all open tasks, one page per call, so that a sweep costs the same however many there are. */
class AlertTour {
  #status = 0
  #cursor: string | null = null

  constructor(private readonly app: App) {}

  async next(): Promise<void> {
    const status = TOURED[this.#status % TOURED.length] ?? 'active'
    const cursor = this.#cursor
    const page = await this.app.ledger.store.queryTasks({
      status,
      limit: PER_SWEEP_MAX,
      ...(cursor === null ? {} : { cursor }),
    })
    this.#cursor = page.nextCursor
    if (page.nextCursor === null) this.#status = (this.#status + 1) % TOURED.length
    for (const row of page.items) {
      await this.#look(row)
      // A task that is not in memory is read whole: requests must not wait for two hundred of them.
      await nextTurn()
    }
  }

  async #look(row: TaskRow): Promise<void> {
    const contract = await this.app.contracts.get(row.contract).catch(() => null)
    if (contract === null || (contract.alerts ?? []).length === 0) return
    if (await this.app.ledger.isElsewhere(formatStream(row.id))) return this.#copy(row.id)
    const command: Command = { type: 'check_alerts' }
    const handled = await this.app.ledger.apply({ taskId: row.id, contract }, command, contextOf(this.app, 'system'))
    if (handled !== null) this.app.alerts.put(handled.state)
  }

  // Its own node decides; every node shows its alerts.
  async #copy(taskId: string): Promise<void> {
    const state = await this.app.ledger.read(taskId)
    if (state !== null) this.app.alerts.put(state)
  }
}
