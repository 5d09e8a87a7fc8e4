import type { StoredEvent } from '../store.js'

const PAGE = 500

type Listener = (events: readonly StoredEvent[]) => void

/**
 * Delivers the events of all nodes in the order of `seq`, each once. A notice only triggers a read:
 * notices can be lost, sequence numbers cannot.
 */
export class Follower {
  readonly #listeners = new Set<Listener>()
  #last: number
  #reading: Promise<void> | null = null
  #isBehind = false

  constructor(
    after: number,
    private readonly read: (afterSeq: number, limit: number) => Promise<readonly StoredEvent[]>,
  ) {
    this.#last = after
  }

  /** The newest event that was told. */
  get last(): number {
    return this.#last
  }

  listen(listener: Listener): void {
    this.#listeners.add(listener)
  }

  /** Events that this process appended. Those of other nodes before them are read first. */
  note(events: readonly StoredEvent[]): void {
    const first = events[0]
    if (first === undefined) return
    if (first.seq === this.#last + 1) this.#tell(events)
    // Nobody waits for this read; the next one says if the database is away.
    else if (first.seq > this.#last) this.catchUp().catch(() => undefined)
  }

  /** Resolves when every event up to `seq` was told. */
  async catchUpTo(seq: number): Promise<void> {
    while (this.#last < seq) await this.catchUp()
  }

  /** Reads and tells what is new. Calls during a read share the next one. */
  catchUp(): Promise<void> {
    this.#isBehind = true
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = null
    })
    return this.#reading
  }

  async #readAll(): Promise<void> {
    while (this.#isBehind) {
      this.#isBehind = false
      const page = await this.read(this.#last, PAGE)
      this.#isBehind ||= page.length === PAGE
      this.#tell(page)
    }
  }

  #tell(events: readonly StoredEvent[]): void {
    const fresh = events.filter(({ seq }) => seq > this.#last)
    const last = fresh.at(-1)
    if (last === undefined) return
    this.#last = last.seq
    for (const listener of this.#listeners) listener(fresh)
  }
}
