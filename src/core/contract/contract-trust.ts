import type { KnownContract } from '../identity/registry.js'

/** The contract of a work tree as it was accepted: later changes of the file do not count. (REQ-TRUST-2) */
export interface ContractPin {
  readonly workspace: string
  readonly file: string
  /** Schemas and guides looked up next to the file, relative to its folder. */
  readonly parts: readonly string[]
  /** Files that it extends: absolute paths. Pins of earlier versions have none. */
  readonly bases?: readonly string[]
  readonly hash: string
  readonly name: string
  readonly version: string
  /** Whether an operator trusted it; otherwise it was used because it needs only the sandbox. */
  readonly isTrusted: boolean
  /** How: `init`, `trust`, `contract`, `terminal`, `registered` or `found`. */
  readonly by: string
  readonly at: number
}

/** Facts about a contract that was found in a work tree. */
interface FoundContract {
  /** Hash of the text in the work tree; null if there is none or it does not load. */
  readonly hash: string | null
  readonly pin: ContractPin | null
  /** Its entry in the ledger. */
  readonly known: KnownContract | undefined
  /** An operator revoked the trust. */
  readonly isWithdrawn: boolean
  readonly isSandboxOnly: boolean
  readonly canAsk: boolean
}

/**
 * `as_pinned`: the text is the pinned one. `pinned_text`: it differs, and the pinned one is used. `registered`: an
 * operator registered it with this server. `ask`: an operator decides. `unasked`: used without asking. `refuse`: not
 * used.
 */
export type TrustVerdict = 'as_pinned' | 'pinned_text' | 'registered' | 'ask' | 'unasked' | 'refuse'

/** Decides whether a found contract is used, and on whose authority. */
export function judgeFound(found: FoundContract): TrustVerdict {
  const { hash, pin, known } = found
  const isRegistered = known?.isTrusted === true && !found.isWithdrawn
  if (pin !== null) {
    if (hash === pin.hash) return 'as_pinned'
    // An older contract that was registered before the pin must not come back with an older file.
    return isRegistered && known.registeredAt > pin.at ? 'registered' : 'pinned_text'
  }
  if (isRegistered) return 'registered'
  if (found.canAsk) return 'ask'
  return found.isSandboxOnly ? 'unasked' : 'refuse'
}
