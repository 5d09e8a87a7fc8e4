// More than the number of waiting appends: a line on which something can still arrive is never dropped.
const BROKEN_MAX = 20_000

/** Lines of appends of which one was not written. Later appends on such a line must not be written either. */
export class Lines {
  readonly #broken = new Set<number>()

  isBroken(line: number | undefined): boolean {
    return line !== undefined && this.#broken.has(line)
  }

  break(line: number | undefined): void {
    if (line === undefined) return
    this.#broken.add(line)
    if (this.#broken.size <= BROKEN_MAX) return
    for (const oldest of this.#broken) {
      this.#broken.delete(oldest)
      return
    }
  }
}
