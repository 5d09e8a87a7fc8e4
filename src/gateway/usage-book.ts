import { randomUUID } from 'node:crypto'
import type { MeteredUsage } from './usage-meter.js'

/** What one answer of a model took, under a name that no other answer has. */
export interface TakenUsage extends MeteredUsage {
  readonly id: string
  /** When its first byte came, in milliseconds. */
  readonly beganAt: number
}

/** Shorter ones are numbers in disguise, and come again: some endpoints count from one to a thousand. */
const ID_CHARS_MIN = 16
const IDS_MAX = 10_000

/** Names answers: as their model does where that tells them apart. */
export class TakenBook {
  readonly #asked = new Set<string>()

  /** `isAsked`: the model was asked anew, so that this is an answer of its own; otherwise one may be read again. */
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
