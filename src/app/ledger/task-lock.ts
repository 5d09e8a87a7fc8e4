/** Tasks on which nothing is decided for a moment, because something belongs to the state that was found. */
export class Holds {
  readonly #held = new Map<string, Promise<void>>()

  has(taskId: string): boolean {
    return this.#held.has(taskId)
  }

  async waitUntilFree(taskId: string): Promise<void> {
    for (let held = this.#held.get(taskId); held !== undefined; held = this.#held.get(taskId)) await held
  }

  async run<T>(taskId: string, work: () => Promise<T>): Promise<T> {
    // Looked at again after each wait, and taken at once: of several that wait for the same one, the next alone has it.
    for (let held = this.#held.get(taskId); held !== undefined; held = this.#held.get(taskId)) await held
    let release: () => void = () => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    this.#held.set(taskId, held)
    try {
      return await work()
    } finally {
      this.#held.delete(taskId)
      release()
    }
  }
}
