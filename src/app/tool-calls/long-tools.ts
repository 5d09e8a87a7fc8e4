import type { JsonObject } from '../../core/json.js'
import type { Result } from '../result.js'
import type { LongGates } from '../transitions/long-gates.js'

const KEPT_MS = 10 * 60_000

interface Running {
  readonly taskId: string
  readonly work: Promise<Result<JsonObject>>
  /** A caller was answered with `checking`, so the run can be joined. */
  isTold: boolean
}

/**
 * Calls of tools that run the project's tests, which may take longer than clients wait. A caller that was told to wait
 * and repeats the call joins the run, and nothing is counted.
 */
export class LongTools {
  readonly #running = new Map<string, Running>()

  constructor(private readonly gates: Pick<LongGates, 'soon'>) {}

  /** The run that the caller waits for; undefined for a new call. */
  find(key: string): Promise<Result<JsonObject>> | undefined {
    const found = this.#running.get(key)
    return found?.isTold === true ? found.work : undefined
  }

  /** The result of the run, or 'later' when the client that called at `since` must be answered now. */
  async answer(key: string, run: Omit<Running, 'isTold'>, since: number): Promise<Result<JsonObject> | 'later'> {
    const mine = { ...run, isTold: false }
    const running = this.#running.get(key) ?? mine
    this.#running.set(key, running)
    const result = await this.gates.soon(run.work, since)
    if (result === 'later') {
      running.isTold = true
      const forget = () => setTimeout(() => this.#drop(key, running), KEPT_MS).unref()
      if (running === mine) run.work.then(forget, forget)
    } else if (running.work === run.work) this.#drop(key, running)
    return result
  }

  /** The task changed its work tree: earlier test results do not answer the same call any more. */
  forget(taskId: string): void {
    for (const [key, running] of this.#running) if (running.taskId === taskId) this.#running.delete(key)
  }

  #drop(key: string, running: Running): void {
    if (this.#running.get(key) === running) this.#running.delete(key)
  }
}
