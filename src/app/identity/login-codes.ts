import { randomBytes } from 'node:crypto'
import { sha256Hex } from '../../base/sha256.js'
import { FIRST_OPERATOR } from '../../core/identity/registry.js'

const CODE_MS = 10 * 60 * 1000
const CODES_MAX = 100

interface LoginCode {
  readonly operator: string
  readonly isFirst: boolean
  readonly expiresAt: number
}

/** One-time codes for the login page. Only their hashes are kept, in memory: a restart ends them. */
export class LoginCodes {
  readonly #codes = new Map<string, LoginCode>()

  constructor(private readonly now: () => number) {}

  /** `isFirst`: its session may register the first passkey. */
  make(operator: string, isFirst = false): { readonly code: string; readonly expiresAt: number } {
    this.#dropExpired()
    const code = randomBytes(24).toString('base64url')
    const expiresAt = this.now() + CODE_MS
    if (this.#codes.size >= CODES_MAX) this.#codes.delete(this.#codes.keys().next().value ?? '')
    this.#codes.set(sha256Hex(code), { operator, isFirst, expiresAt })
    return { code, expiresAt }
  }

  /** The code that a starting server prints, for the operator whose token is in the state directory. */
  makeAtStart(isFirst: boolean): { readonly code: string; readonly expiresAt: number } {
    return this.make(FIRST_OPERATOR, isFirst)
  }

  /** Spends a code; null when it is wrong, used or expired. */
  take(code: string): LoginCode | null {
    this.#dropExpired()
    const key = sha256Hex(code)
    const found = this.#codes.get(key) ?? null
    this.#codes.delete(key)
    return found
  }

  #dropExpired(): void {
    const now = this.now()
    for (const [key, { expiresAt }] of this.#codes) if (expiresAt <= now) this.#codes.delete(key)
  }
}
