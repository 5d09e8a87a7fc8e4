import { type ModelRelay, type ModelRelayOptions, openModelRelay } from '../gateway/model-relay.js'
import type { TakenUsage } from '../gateway/usage-book.js'
import type { AgentLog } from './agent-log.js'

/** Maximum number of answers waiting to be recorded; further ones are added to the last. */
const WAITING_MAX = 1000

interface Metering {
  /** Records the usage of answers. Never throws. */
  readonly record: (taken: readonly TakenUsage[]) => Promise<void>
  /** Where an answer without usage is reported. */
  readonly log: AgentLog
  readonly onFault: (error: unknown) => void
}

const UNTOLD = '--- An answer of the model did not state its token usage. It is not counted.'

/** A relay that counts answers: once it is closed, all usage has been recorded. */
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

/** Records in the order in which answers ended. Later ones wait, but no answer is delayed. */
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
