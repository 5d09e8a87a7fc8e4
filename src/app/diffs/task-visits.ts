import type { TaskEvent } from '../../core/task/event.js'
import type { App } from '../app.js'
import { toTaskEvent } from '../wire.js'

const PAGE = 1000
const PAGES_MAX = 10

/** One stay of a task in a phase. */
export interface TaskVisit {
  readonly visit: number
  readonly phase: string
  readonly enteredAt: number
  /** Null: the task is still there, or ended there. */
  readonly leftAt: number | null
}

/** The visits of a task, oldest first; the newest ten thousand. */
export async function listVisits(app: Pick<App, 'ledger'>, taskId: string): Promise<readonly TaskVisit[]> {
  const entered: { readonly seq: number; readonly event: TaskEvent }[] = []
  for (const type of ['phase_entered', 'task_rewound']) {
    let cursor: string | null = null
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const filter = { taskId, type, limit: PAGE, ...(cursor === null ? {} : { cursor }) }
      const found = await app.ledger.store.query(filter)
      for (const stored of found.items) entered.push({ seq: stored.seq, event: toTaskEvent(stored) })
      cursor = found.nextCursor
      if (cursor === null) break
    }
  }
  entered.sort((a, b) => a.seq - b.seq)
  const visits: TaskVisit[] = []
  for (const { event } of entered) addVisit(visits, event)
  return visits
}

/** Adds the visit that an event begins, and ends the one before. */
export function addVisit(visits: TaskVisit[], event: TaskEvent): void {
  if (event.type !== 'phase_entered' && event.type !== 'task_rewound') return
  const last = visits.at(-1)
  if (last !== undefined) visits[visits.length - 1] = { ...last, leftAt: event.at }
  const visit = event.type === 'phase_entered' ? event.visit : (last?.visit ?? 0) + 1
  visits.push({ visit, phase: event.to, enteredAt: event.at, leftAt: null })
}
