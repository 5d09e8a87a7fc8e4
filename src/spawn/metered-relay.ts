import { type ModelRelay, type ModelRelayOptions, openModelRelay } from '../gateway/model-relay.js'
import type { TakenUsage } from '../gateway/usage-book.js'
import type { AgentLog } from './agent-log.js'

/** Answers that wait to be recorded; what comes beyond that is added to the last of them. */
const WAITING_MAX = 1000

interface Metering {
  /** Records what answers took. It never throws. */
  readonly record: (taken: readonly TakenUsage[]) => Promise<void>
  /** Where it is said that an answer did not say what it took. */
  readonly log: AgentLog
  readonly onFault: (error: unknown) => void
}

const UNTOLD = '--- An answer of the model did not state its token usage. It is not counted.'

/** A relay whose answers are counted: once it is closed, everything that they took has been recorded. */
export async function openMeteredRelay(
  options: Omit<ModelRelayOptions, 'onTaken' | 'onUntold'>,
  { record, log, onFault }: Metering,
): Promise<ModelRelay> {
  const counting = new Counting(record)
  let isUntold = false
  const relay = await openModelRelay({
    ...options,
    onTaken: (taken) => counting.add(taken),
    onUntold: () => {
      if (!isUntold) log.write([UNTOLD]).catch(onFault)
      isUntold = true
    },
  })
  const close = async (): Promise<void> => {
    await relay.close()
    await counting.waitUntilSettled()
  }
  return { path: relay.path, url: relay.url, close }
}

/** Records in the order in which answers ended. What ends meanwhile waits: no answer is held back for it. */
export class Counting {
  readonly #waiting: TakenUsage[] = []
  #work: Promise<void> | null = null

  constructor(private readonly record: Metering['record']) {}

  add(taken: TakenUsage): void {
    const last = this.#waiting.at(-1)
    if (last === undefined || this.#waiting.length < WAITING_MAX) this.#waiting.push(taken)
    else this.#waiting.splice(-1, 1, sum(last, taken))
    this.#work ??= this.#recordAll()
  }

  async waitUntilSettled(): Promise<void> {
    while (this.#work !== null) await this.#work
  }

  async #recordAll(): Promise<void> {
    while (this.#waiting.length > 0) await this.record(this.#waiting.splice(0))
    this.#work = null
  }
}

function sum(last: TakenUsage, more: TakenUsage): TakenUsage {
  return {
    ...last,
    input: last.input + more.input,
    output: last.output + more.output,
    cacheRead: last.cacheRead + more.cacheRead,
    cacheWrite: last.cacheWrite + more.cacheWrite,
  }
}
