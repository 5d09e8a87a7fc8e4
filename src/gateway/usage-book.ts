import { randomUUID } from 'node:crypto'
import type { MeteredUsage } from './usage-meter.js'

/** The usage of one answer of a model, under a unique name. */
export interface TakenUsage extends MeteredUsage {
  readonly id: string
  /** When its first byte came, in milliseconds. */
  readonly beganAt: number
}

/** Shorter ids are counters, and repeat: some endpoints count from one to a thousand. */
const ID_CHARS_MIN = 16
const IDS_MAX = 10_000

/** Names answers: by the model's own id if that is unique. */
export class TakenBook {
  readonly #asked = new Set<string>()

  /** `isAsked`: the model was asked again, so this is a new answer; otherwise one may be read again. */
  name(metered: MeteredUsage, isAsked: boolean): Omit<TakenUsage, 'beganAt'> {
    const { id } = metered
    if (id === null || id.length < ID_CHARS_MIN || (isAsked && this.#asked.has(id)))
      return { ...metered, id: `answer-${randomUUID()}` }
    if (isAsked) this.#keep(id)
    return { ...metered, id }
  }

  #keep(id: string): void {
    this.#asked.add(id)
    for (const oldest of this.#asked) {
      if (this.#asked.size <= IDS_MAX) return
      this.#asked.delete(oldest)
    }
  }
}
