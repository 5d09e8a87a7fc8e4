import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import { readFileIfPresent, writeFileAtomically } from '../../base/atomic-file.js'
import { KeyedLock } from '../../base/keyed-lock.js'
import { sha256Hex } from '../../base/sha256.js'
import { isObject } from '../../core/json.js'

const FILE = 'operator.passphrases.json'
const HASH_BYTES = 32
// 64 MiB for each guess.
const COST: ScryptOptions = { N: 65_536, r: 8, p: 1, maxmem: 128 * 1024 * 1024 }
const FAILURES_MAX = 5
const FAILURES_MS = 60_000

interface Failures {
  readonly count: number
  readonly since: number
}

/**
 * Passphrases of operators, as salted scrypt hashes in a file of the state directory. The ledger has only a hash over
 * salt and hash, so that it gives nothing to guess from, and a replaced file is noticed.
 */
export class Passphrases {
  readonly #file: string
  readonly #failures = new Map<string, Failures>()
  // One at a time: each takes much memory.
  readonly #turns = new KeyedLock()

  constructor(
    stateDir: string,
    private readonly now: () => number,
  ) {
    this.#file = join(stateDir, FILE)
  }

  /** Replaces the operator's passphrase, if `record` records its verifier. */
  async set(operator: string, passphrase: string, record: (verifier: string) => Promise<boolean>): Promise<boolean> {
    return this.#turns.run('', async () => {
      const salt = randomBytes(16).toString('base64url')
      const made = { salt, hash: await hashPassphrase(passphrase, salt) }
      const kept = this.#read()
      // The older one stays until the next change: the ledger says which of them counts.
      const known = (kept[operator] ?? []).slice(0, 1)
      this.#write({ ...kept, [operator]: [made, ...known] })
      const isRecorded = await record(computeVerifier(made))
      if (isRecorded) this.#failures.delete(operator)
      else this.#write(kept)
      return isRecorded
    })
  }

  /** Seconds until the next guess is looked at; 0 when it may be made now. */
  findWait(operator: string): number {
    const failures = this.#failures.get(operator)
    if (failures === undefined || failures.count < FAILURES_MAX) return 0
    return Math.max(0, Math.ceil((failures.since + FAILURES_MS - this.now()) / 1000))
  }

  /** Whether it is the operator's passphrase. `verifier`: as the ledger has it. */
  async verify(operator: string, passphrase: string, verifier: string | undefined): Promise<boolean> {
    return this.#turns.run('', async () => {
      if (this.findWait(operator) > 0) return false
      const kept = this.#read()[operator]?.find((one) => computeVerifier(one) === verifier)
      const hash = await hashPassphrase(passphrase, kept?.salt ?? '')
      const isRight = kept !== undefined && timingSafeEqual(Buffer.from(hash), Buffer.from(kept.hash))
      if (isRight) this.#failures.delete(operator)
      else this.#countFailure(operator)
      return isRight
    })
  }

  #countFailure(operator: string): void {
    const now = this.now()
    const before = this.#failures.get(operator)
    const isOld = before === undefined || before.since + FAILURES_MS <= now
    this.#failures.set(operator, { count: isOld ? 1 : before.count + 1, since: now })
  }

  #read(): Readonly<Record<string, readonly Hashed[]>> {
    const text = readFileIfPresent(this.#file)?.toString('utf8')
    const read: unknown = text === undefined ? {} : JSON.parse(text)
    const entries = isObject(read) ? Object.entries(read) : []
    return Object.fromEntries(entries.map(([name, list]) => [name, Array.isArray(list) ? list.filter(isHashed) : []]))
  }

  #write(kept: Readonly<Record<string, unknown>>): void {
    writeFileAtomically(this.#file, `${JSON.stringify(kept)}\n`)
  }
}

interface Hashed {
  readonly salt: string
  readonly hash: string
}

function isHashed(value: unknown): value is Hashed {
  return isObject(value) && typeof value.salt === 'string' && typeof value.hash === 'string'
}

function computeVerifier({ salt, hash }: Hashed): string {
  return sha256Hex(`${salt} ${hash}`)
}

function hashPassphrase(passphrase: string, salt: string): Promise<string> {
  return new Promise((resolve, reject) => {
    scrypt(passphrase.normalize('NFKC'), salt, HASH_BYTES, COST, (error, hash) =>
      error === null ? resolve(hash.toString('base64url')) : reject(error),
    )
  })
}
