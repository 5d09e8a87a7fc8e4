import { createHash } from 'node:crypto'
import { SIGNS } from './hide-literals.js'
import type { InvertRequest } from './invert-tests.js'

/** Random numbers that depend only on the seed. */
export class Chance {
  private count = 0
  private bytes: Buffer = Buffer.alloc(0)
  constructor(private readonly seed: string) {}

  /** An integer from 0 to `below`, exclusive. */
  drawBelow(below: number): number {
    if (this.bytes.length < 4) {
      this.bytes = createHash('sha256').update(`${this.seed}\0${this.count}`).digest()
      this.count += 1
    }
    const value = this.bytes.readUInt32LE(0)
    this.bytes = this.bytes.subarray(4)
    return value % below
  }

  shuffled(text: readonly string[]): string {
    const signs = [...text]
    for (let left = signs.length; left > 1; left -= 1) signs.push(...signs.splice(this.drawBelow(left), 1))
    return signs.join('')
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

/** What a helper needs to change values; the same in both twins except for `constant`. */
export interface HelperNumbers {
  /** Bit 16 of `mixBits` of it says whether this twin is the inverted one. */
  readonly constant: number
  readonly multiplier: number
  readonly rounds: number
  /** -3 to 3 without 0. */
  readonly step: number
  readonly place: number
  readonly word: string
  /** The alphabet of hidden literals. */
  readonly signs: string
  /** 1 when tests that survived are tried again. */
  readonly retry: 0 | 1
  /** 1 when a test with an assertion that holds reports which, instead of passing. */
  readonly names: 0 | 1
  /** How many failures of a test are recorded before one ends it. */
  readonly failures: number
}

const FAILURES_MAX = 2000

export function drawNumbers(
  chance: Chance,
  { outerOnly = false, namesLines = false, goesDown }: Pick<InvertRequest, 'outerOnly' | 'namesLines' | 'goesDown'>,
): Omit<HelperNumbers, 'constant'> {
  const step = chance.drawBelow(3) + 1
  const isDown = chance.drawBelow(2) === 1
  return {
    ...{ multiplier: 32_769 + 2 * chance.drawBelow(16_000), rounds: 40 + chance.drawBelow(40) },
    ...{ step: (goesDown ?? isDown) ? -step : step, place: chance.drawBelow(1000), word: chance.drawWord(7) },
    signs: chance.shuffled(SIGNS),
    ...{ retry: outerOnly ? 1 : 0, names: namesLines ? 1 : 0, failures: FAILURES_MAX },
  }
}

/** A constant that means inverted or not. Only computing the hash reveals which. */
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
