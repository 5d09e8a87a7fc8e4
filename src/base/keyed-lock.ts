/** Runs work for each key one after the other. A failure does not stop the next work. */
export class KeyedLock {
  readonly #last = new Map<string, Promise<unknown>>()

  isHeld(key: string): boolean {
    return this.#last.has(key)
  }

  /** Resolves when nobody holds the key. */
  async free(key: string): Promise<void> {
    for (let last = this.#last.get(key); last !== undefined; last = this.#last.get(key)) await last
  }

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const mine = (this.#last.get(key) ?? Promise.resolve()).then(work)
    const settled = mine.catch(() => undefined)
    this.#last.set(key, settled)
    try {
      return await mine
    } finally {
      if (this.#last.get(key) === settled) this.#last.delete(key)
    }
  }
}
