import type { JsonObject } from '../../core/json.js'
import type { TaskState } from '../../core/task/state.js'
import { toIsoTime } from '../wire.js'

const TASKS_MAX = 10_000

/** Active alerts by task. Derived from the states of tasks; can be discarded. */
export class AlertBoard {
  readonly #tasks = new Map<string, readonly JsonObject[]>()

  put(state: TaskState): void {
    if (state.alerts.size === 0) this.#tasks.delete(state.id)
    else if (this.#tasks.has(state.id) || this.#tasks.size < TASKS_MAX) this.#tasks.set(state.id, toAlertsView(state))
  }

  drop(taskId: string): void {
    this.#tasks.delete(taskId)
  }

  /** All of them, with the task of each. */
  list(): readonly JsonObject[] {
    return [...this.#tasks].flatMap(([task_id, alerts]) => alerts.map((alert) => ({ task_id, ...alert })))
  }
}

export function toAlertsView(state: TaskState): readonly JsonObject[] {
  return [...state.alerts].map(([alert, { condition, limit, message, since }]) => ({
    ...{ alert, condition, limit, message, since: toIsoTime(since) },
  }))
}
