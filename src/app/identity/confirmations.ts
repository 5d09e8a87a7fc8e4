import { createHash, randomBytes } from 'node:crypto'
import { hashJson, toCanonicalJson } from '../../contract/fingerprint.js'
import type { CallId } from '../../core/identity/permissions.js'
import type { Json, JsonObject } from '../../core/json.js'

const PENDING_MS = 5 * 60 * 1000
const PENDING_MAX = 1000

/** A call as far as it is confirmed: its body without the confirmation. */
export interface Act {
  readonly id: CallId
  readonly params: Readonly<Record<string, string>>
  readonly body: JsonObject
}

/** A passkey signs the hash of this. The hash can be computed again from the ledger. */
export type Statement = {
  readonly act: string
  /** The id of the approval, or the parameters of the path. */
  readonly subject: Json
  /** The digest of the approval, or the SHA-256 of the body. */
  readonly digest: string
  readonly decision: string
  readonly operator: string
  readonly nonce: string
}

export function makeStatement(act: Act, operator: string, nonce: string): Statement {
  const { id, params, body } = act
  if (id === 'decideApproval')
    return {
      ...{ act: id, subject: params.id ?? '', digest: String(body.digest ?? '') },
      ...{ decision: String(body.decision ?? ''), operator, nonce },
    }
  // The hash goes to the ledger: of a passphrase it would allow to guess it.
  const { passphrase: _, ...covered } = body
  return { act: id, subject: { ...params }, digest: hashJson(covered), decision: 'do', operator, nonce }
}

/** The challenge that a passkey signs: base64url of the SHA-256 over the canonical JSON of the statement. */
export function computeChallenge(statement: Statement): string {
  return createHash('sha256').update(toCanonicalJson(statement)).digest('base64url')
}

export interface PendingConfirmation {
  readonly id: string
  readonly statement: Statement
  readonly expiresAt: number
}

/** Challenges that wait for a passkey: each for one act of one operator, five minutes, once. */
export class PendingConfirmations {
  readonly #pending = new Map<string, PendingConfirmation>()

  constructor(private readonly now: () => number) {}

  add(act: Act, operator: string): PendingConfirmation {
    this.#dropExpired()
    if (this.#pending.size >= PENDING_MAX) this.#pending.delete(this.#pending.keys().next().value ?? '')
    const id = `cnf-${randomBytes(12).toString('hex')}`
    const statement = makeStatement(act, operator, randomBytes(16).toString('base64url'))
    const pending = { id, statement, expiresAt: this.now() + PENDING_MS }
    this.#pending.set(id, pending)
    return pending
  }

  /** Takes it out, whatever becomes of it: it counts once. */
  take(id: string): PendingConfirmation | null {
    this.#dropExpired()
    const pending = this.#pending.get(id) ?? null
    this.#pending.delete(id)
    return pending
  }

  #dropExpired(): void {
    const now = this.now()
    for (const [id, { expiresAt }] of this.#pending) if (expiresAt <= now) this.#pending.delete(id)
  }
}
