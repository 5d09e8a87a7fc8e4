import type { StoredEvent } from '../../store/store.js'

export type { StoredEvent } from '../../store/store.js'

import type { Ledger } from './ledger.js'

type Listener = (event: StoredEvent) => void

/** Durable events as they happen. A client that missed some reads them from the store. */
export class Feed {
  readonly #listeners = new Set<Listener>()
  readonly #followers = new Set<Listener>()
  readonly #stop: () => void
  #waiting: StoredEvent[] = []

  constructor(ledger: Ledger) {
    this.#stop = ledger.listen((events) => {
      // One transaction holds events of many callers, and they report here in any order, all before the next tick.
      if (this.#waiting.length === 0) process.nextTick(() => this.#tellFollowers())
      this.#waiting.push(...events)
      for (const event of events) {
        if (ledger.cluster?.isElsewhere(event.stream) === true) continue
        for (const listener of this.#listeners) listener(event)
      }
    })
  }

  get size(): number {
    return this.#listeners.size + this.#followers.size
  }

  /** Events of every node in the order of `seq`: for those who show them. */
  follow(listener: Listener): () => void {
    this.#followers.add(listener)
    return () => this.#followers.delete(listener)
  }

  /**
   * Events of the streams that this node decides on, and the system's: for those who act on them. They arrive before the
   * call that wrote them returns, those of one stream in order.
   */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  close(): void {
    this.#stop()
    this.#listeners.clear()
    this.#followers.clear()
  }

  #tellFollowers(): void {
    const events = this.#waiting.sort((a, b) => a.seq - b.seq)
    this.#waiting = []
    for (const event of events) for (const follower of this.#followers) follower(event)
  }
}
