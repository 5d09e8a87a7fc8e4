import { isObject, type JsonObject } from '../../core/json.js'
import { computeChallenge, type Statement } from './confirmations.js'
import { toCredential } from './passkeys.js'

/** An event of the ledger, as far as its confirmation is concerned. */
export interface ConfirmedEvent {
  readonly seq: number
  readonly stream: string
  readonly type: string
  readonly actor: string
  readonly data: JsonObject
}

export interface CheckedConfirmation {
  readonly seq: number
  readonly type: string
  readonly actor: string
  readonly method: 'passkey' | 'passphrase'
  readonly act: string
  /** Null: a passkey, and its signature holds. A passphrase proves nothing to others. */
  readonly problem: string | null
}

interface KnownPasskey {
  readonly credentialId: string
  readonly publicKey: string
  readonly rpId: string
  readonly operator: string
}

/**
 * Verifies stored confirmations from the events of the ledger alone: they have the public keys, and everything that was
 * signed. Takes the events in their order.
 */
export class ConfirmationCheck {
  readonly checked: CheckedConfirmation[] = []
  readonly #passkeys = new Map<string, KnownPasskey>()
  /** The stream and type of the event that each confirmation came with. */
  readonly #uses = new Map<string, string>()

  async take(event: ConfirmedEvent): Promise<void> {
    if (isObject(event.data.confirmation)) this.checked.push(await this.#check(event, event.data.confirmation))
    if (event.type === 'passkey_added') this.#addPasskey(event.data)
    if (event.type === 'passkey_revoked') this.#passkeys.delete(String(event.data.credential_id))
  }

  #addPasskey(data: JsonObject): void {
    const credentialId = String(data.credential_id)
    const { public_key: publicKey, rp_id: rpId, operator } = data
    this.#passkeys.set(credentialId, {
      ...{ credentialId, publicKey: String(publicKey), rpId: String(rpId), operator: String(operator) },
    })
  }

  async #check(event: ConfirmedEvent, confirmation: JsonObject): Promise<CheckedConfirmation> {
    const { seq, type, actor } = event
    const method = confirmation.method === 'passphrase' ? 'passphrase' : 'passkey'
    const problem =
      findMismatch(event, confirmation) ??
      (method === 'passkey' ? await this.#findBadSignature(event, confirmation) : null)
    return { seq, type, actor, method, act: String(confirmation.act), problem }
  }

  async #findBadSignature({ stream, type }: ConfirmedEvent, confirmation: JsonObject): Promise<string | null> {
    const passkey = this.#passkeys.get(String(confirmation.credential_id))
    if (passkey === undefined || passkey.operator !== confirmation.operator)
      return 'The operator had no such passkey at that time.'
    const nonce = String(confirmation.nonce)
    const use = `${stream} ${type}`
    if ((this.#uses.get(nonce) ?? use) !== use) return 'The same confirmation was used for something else.'
    this.#uses.set(nonce, use)
    return (await isSigned(passkey, confirmation)) ? null : 'The signature does not hold for what the event says.'
  }
}

// The event has to be the one that was confirmed.
function findMismatch({ type, actor, stream, data }: ConfirmedEvent, confirmation: JsonObject): string | null {
  if (actor !== `operator:${String(confirmation.operator)}`) return 'The confirmation is by another operator.'
  if (type === 'approval_decided') {
    const isSame =
      confirmation.act === 'decideApproval' &&
      confirmation.subject === data.approval_id &&
      confirmation.digest === data.digest &&
      confirmation.decision === data.decision
    return isSame ? null : 'The confirmation is for another approval, digest or decision.'
  }
  const { subject } = confirmation
  const isOtherTask =
    stream.startsWith('task:') && isObject(subject) && subject.id !== undefined && !stream.endsWith(String(subject.id))
  const isQuestion = type === 'question_answered' && isObject(subject) && subject.id === data.question_id
  return isOtherTask && !isQuestion ? 'The confirmation is for another task.' : null
}

async function isSigned(passkey: KnownPasskey, confirmation: JsonObject): Promise<boolean> {
  const { act, subject, digest, decision, operator, nonce } = confirmation
  const statement = { act, subject, digest, decision, operator, nonce } as Statement
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  const id = passkey.credentialId
  try {
    const { verified } = await verifyAuthenticationResponse({
      response: {
        ...{ id, rawId: id, type: 'public-key', clientExtensionResults: {} },
        response: {
          authenticatorData: String(confirmation.authenticator_data),
          clientDataJSON: String(confirmation.client_data),
          signature: String(confirmation.signature),
        },
      },
      expectedChallenge: computeChallenge(statement),
      expectedOrigin: readOrigin(String(confirmation.client_data), passkey.rpId),
      expectedRPID: passkey.rpId,
      requireUserVerification: false,
      credential: toCredential(passkey),
    })
    return verified
  } catch {
    // The library throws for whatever does not fit.
    return false
  }
}

// The port may have changed since: the origin has to be one of the host that the passkey is for.
function readOrigin(clientData: string, rpId: string): string {
  const { origin } = JSON.parse(Buffer.from(clientData, 'base64url').toString('utf8')) as { readonly origin: string }
  return new URL(origin).hostname === rpId ? origin : `https://${rpId}`
}
