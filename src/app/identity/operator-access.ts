import type { ConfirmSetting } from '../../core/identity/sensitive-acts.js'
import { PendingConfirmations } from './confirmations.js'
import { LoginCodes } from './login-codes.js'
import { NativeShells } from './native-shells.js'
import { PendingPasskeys } from './passkeys.js'
import { Passphrases } from './passphrases.js'

/** How operators log in and confirm what they decide, as far as it is not in the ledger. */
export interface OperatorAccess {
  /** When a sensitive act needs a passkey or passphrase besides the token. */
  readonly confirm: ConfirmSetting
  readonly codes: LoginCodes
  /** When each session was used last, since the server started. */
  readonly sessionUses: Map<string, number>
  readonly confirmations: PendingConfirmations
  readonly passphrases: Passphrases
  readonly passkeys: PendingPasskeys
  /** Agents with a shell outside the sandbox. */
  readonly shells: NativeShells
  /** When each passkey was used last and its counter, since the server started. */
  readonly passkeyUses: Map<string, { readonly at: number; readonly counter: number }>
}

export function openOperatorAccess(options: {
  readonly confirm?: ConfirmSetting
  readonly stateDir: string
  readonly now: () => number
}): OperatorAccess {
  const { confirm = 'native', stateDir, now } = options
  return {
    confirm,
    codes: new LoginCodes(now),
    sessionUses: new Map(),
    confirmations: new PendingConfirmations(now),
    passphrases: new Passphrases(stateDir, now),
    passkeys: new PendingPasskeys(now),
    passkeyUses: new Map(),
    shells: new NativeShells(now),
  }
}
