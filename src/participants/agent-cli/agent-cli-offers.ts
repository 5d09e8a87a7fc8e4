import type { Json } from '../../core/json.js'
import type { ToolCall } from '../participant.js'
import type { Announced } from './agent-cli-process.js'

/** A call that arrived over MCP. */
export interface OfferedCall {
  readonly name: string
  /** The agent's arguments, unchecked. */
  readonly arguments: Json
}

export interface OfferAnswer {
  readonly text: string
  readonly isError: boolean
}

const CALLS_MAX = 64
const OVER = 'The turn is over: nothing that is called now counts.'
const TOO_MANY = `More than ${CALLS_MAX} calls wait for an answer already.`
/** Read-only calls are answered directly and decide nothing. */
const READS: ReadonlySet<string> = new Set(['coordination_view'])

interface Waiting extends OfferedCall {
  readonly answer: (answer: OfferAnswer) => void
}

interface Asked {
  readonly call: ToolCall
  /** Null for a call that was announced and has not arrived yet. */
  readonly answer: ((answer: OfferAnswer) => void) | null
}

/** The calls of one process, from their arrival to the judge and back. Every call gets exactly one answer. */
export class Offers {
  #waiting: Waiting[] = []
  #asked: readonly Asked[] = []
  #prepared: { readonly key: string; readonly answer: OfferAnswer }[] = []
  #isClosed = false
  /** When the first and the last of the waiting calls arrived. */
  firstAt = 0
  lastAt = 0

  constructor(
    private readonly nextId: () => string,
    private readonly onChange: () => void,
  ) {}

  get hasWaiting(): boolean {
    return this.#waiting.length > 0
  }

  add(call: OfferedCall, now: number): Promise<OfferAnswer> {
    if (this.#isClosed) return Promise.resolve({ text: OVER, isError: true })
    const prepared = this.#prepared.findIndex(({ key }) => key === formatKey(call))
    if (prepared !== -1) {
      const [found] = this.#prepared.splice(prepared, 1)
      if (found !== undefined) return Promise.resolve(found.answer)
    }
    if (this.#waiting.length >= CALLS_MAX) return Promise.resolve({ text: TOO_MANY, isError: true })
    if (this.#waiting.length === 0) this.firstAt = now
    this.lastAt = now
    return new Promise((resolve) => {
      this.#waiting.push({ name: call.name, arguments: call.arguments, answer: resolve })
      this.onChange()
    })
  }

  /**
   * The calls of one response: the waiting ones, in the order and grouping in which the model announced them.
   * Otherwise, an agent that runs its calls one after the other would have each judged alone.
   */
  take(announced: readonly Announced[]): readonly ToolCall[] {
    const waiting = this.#waiting.splice(0)
    const asked: Asked[] = []
    for (const call of announced.filter(({ name }) => !READS.has(name)).slice(0, CALLS_MAX)) {
      const at = waiting.findIndex((one) => formatKey(one) === formatKey(call))
      const [found] = at === -1 ? [] : waiting.splice(at, 1)
      asked.push({ call: this.#call(call), answer: found?.answer ?? null })
    }
    for (const one of waiting) asked.push({ call: this.#call(one), answer: one.answer })
    this.#prepared = []
    this.#asked = asked
    return asked.map(({ call }) => call)
  }

  /** Delivers results; false when they are not the awaited ones. */
  answer(results: readonly { readonly callId: string; readonly text: string; readonly isError: boolean }[]): boolean {
    const asked = this.#asked
    const found = asked.map(({ call }) => results.find(({ callId }) => callId === call.id))
    if (asked.length === 0 || found.includes(undefined)) return false
    this.#asked = []
    for (const [index, { call, answer }] of asked.entries()) {
      const result = found[index]
      if (result === undefined) continue
      const given = { text: result.text, isError: result.isError }
      if (answer !== null) answer(given)
      else this.#prepared.push({ key: formatKey(call), answer: given })
    }
    return true
  }

  /** Nothing counts any more: waiting calls are told so, and later ones too. */
  close(): void {
    this.#isClosed = true
    const over = { text: OVER, isError: true }
    for (const { answer } of [...this.#waiting.splice(0), ...this.#asked]) answer?.(over)
    this.#asked = []
  }

  #call({ name, arguments: args }: OfferedCall): ToolCall {
    return { id: this.nextId(), name, arguments: args }
  }
}

function formatKey({ name, arguments: args }: OfferedCall): string {
  return JSON.stringify([name, args])
}
