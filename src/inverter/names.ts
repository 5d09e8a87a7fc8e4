import { createHash } from 'node:crypto'

/** Random numbers that depend on the seed alone. */
export class Chance {
  private count = 0
  private bytes: Buffer = Buffer.alloc(0)
  constructor(private readonly seed: string) {}

  /** An integer from 0 to `below`, which is not included. */
  drawBelow(below: number): number {
    if (this.bytes.length < 4) {
      this.bytes = createHash('sha256').update(`${this.seed}\0${this.count}`).digest()
      this.count += 1
    }
    const value = this.bytes.readUInt32LE(0)
    this.bytes = this.bytes.subarray(4)
    return value % below
  }

  drawWord(length: number): string {
    return Array.from({ length }, () => String.fromCharCode(97 + this.drawBelow(26))).join('')
  }
}

/** Gives each `$name` in a text a random name that the source does not use. */
export class Names {
  private readonly given = new Map<string, string>()
  constructor(
    private readonly chance: Chance,
    private readonly source: string,
  ) {}

  fill(text: string): string {
    return text.replace(/\$([A-Za-z]\w*)/g, (_, name: string) => this.nameFor(name))
  }

  private nameFor(name: string): string {
    const known = this.given.get(name)
    if (known !== undefined) return known
    const taken = new Set(this.given.values())
    let fresh = `_${this.chance.drawWord(7)}`
    while (this.source.includes(fresh) || taken.has(fresh)) fresh = `_${this.chance.drawWord(7)}`
    this.given.set(name, fresh)
    return fresh
  }
}

/** What a helper needs to know to change values; the same in both twins but for `constant`. */
export interface HelperNumbers {
  /** Bit 16 of `mixBits` of it says whether this twin is the turned one. */
  readonly constant: number
  readonly multiplier: number
  readonly rounds: number
  /** -3 to 3 without 0. */
  readonly step: number
  readonly place: number
  readonly word: string
}

export function drawNumbers(chance: Chance): Omit<HelperNumbers, 'constant'> {
  const step = chance.drawBelow(3) + 1
  return {
    ...{ multiplier: 32_769 + 2 * chance.drawBelow(16_000), rounds: 40 + chance.drawBelow(40) },
    ...{ step: chance.drawBelow(2) === 0 ? step : -step, place: chance.drawBelow(1000), word: chance.drawWord(7) },
  }
}

/** A constant that stands for turned or unturned. Which of the two can only be found out by computing the hash. */
export function drawConstant(chance: Chance, numbers: Omit<HelperNumbers, 'constant'>, isTurned: boolean): number {
  for (;;) {
    const constant = chance.drawBelow(2 ** 32)
    if (isTurnedConstant(constant, numbers) === isTurned) return constant
  }
}

// The helpers compute the same in JavaScript and Python, with operators alone: there is no function to replace.
function isTurnedConstant(constant: number, numbers: Omit<HelperNumbers, 'constant'>): boolean {
  let hash = constant
  for (let round = 0; round < numbers.rounds; round += 1) {
    hash = (hash ^ (hash >>> 15)) >>> 0
    const high = ((hash >>> 16) * numbers.multiplier) & 65_535
    hash = ((hash & 65_535) * numbers.multiplier + high * 65_536 + round) % 4_294_967_296
  }
  return ((hash >>> 16) & 1) === 1
}
