import type { JsonObject } from '../../core/json.js'
import type { Result } from '../result.js'
import type { LongGates } from '../transitions/long-gates.js'

const KEPT_MS = 10 * 60_000

interface Running {
  readonly taskId: string
  readonly work: Promise<Result<JsonObject>>
  /** A caller was told that it still runs: from then on it can be joined. */
  isTold: boolean
}

/** Calls of tools that run the tests of the project, which may take longer than clients wait. A caller that was told to wait and makes the same call again joins the run, and nothing is counted. */
export class LongTools {
  readonly #running = new Map<string, Running>()

  constructor(private readonly gates: Pick<LongGates, 'soon'>) {}

  /** The run that the caller waits for; undefined where the call is a new one. */
  find(key: string): Promise<Result<JsonObject>> | undefined {
    const found = this.#running.get(key)
    return found?.isTold === true ? found.work : undefined
  }

  /** What comes of the run, or 'later' when the client that called at `since` waits no longer. */
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

  /** The task changed its work tree: what its tests said before is not the answer to the same call now. */
  forget(taskId: string): void {
    for (const [key, running] of this.#running) if (running.taskId === taskId) this.#running.delete(key)
  }

  #drop(key: string, running: Running): void {
    if (this.#running.get(key) === running) this.#running.delete(key)
  }
}
