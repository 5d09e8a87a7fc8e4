/** Chance that can be replayed: the same seed and name give the same numbers. */
export class Chance {
  #state: number

  constructor(seed: number, name: string) {
    let hash = 2166136261 ^ seed
    for (const char of name) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 16777619)
    this.#state = hash >>> 0
  }

  /** From 0 up to, and without, `below`. */
  number(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }

  pick<T>(from: readonly T[]): T {
    const one = from[this.number(from.length)]
    if (one === undefined) throw new Error('there is nothing to pick from')
    return one
  }

  shuffled<T>(from: readonly T[]): T[] {
    const left = [...from]
    for (let i = left.length - 1; i > 0; i -= 1) {
      const j = this.number(i + 1)
      const kept = left[i] as T
      left[i] = left[j] as T
      left[j] = kept
    }
    return left
  }

  /** A text of printable and unprintable characters. */
  text(charsMax: number): string {
    const length = this.number(charsMax + 1)
    return Array.from({ length }, () => this.pick(ALPHABET)).join('')
  }
}

const ALPHABET = [...'aZ09_.-/\\%?#&=+ "\'`{}[]()<>|;:,!$*~^@é漢😀\u0000\n\r\t\u001b\u202e\u0301\u007f']
