import type { StoredEvent } from '../../store/store.js'

export type { StoredEvent } from '../../store/store.js'

import type { Ledger } from './ledger.js'

type Listener = (event: StoredEvent) => void

/** Durable events as they happen, in the order of `seq`. A client that missed some reads them from the store. */
export class Feed {
  readonly #listeners = new Set<Listener>()
  #stop: () => void

  constructor(ledger: Ledger) {
    this.#stop = ledger.listen((events) => {
      for (const event of events) for (const listener of this.#listeners) listener(event)
    })
  }

  get size(): number {
    return this.#listeners.size
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  close(): void {
    this.#stop()
    this.#listeners.clear()
  }
}
