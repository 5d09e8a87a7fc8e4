import { randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { listPasskeysOf, type Passkey } from '../../core/identity/operator-access.js'
import type { JsonObject } from '../../core/json.js'
import type { App } from '../app.js'
import { ok, type Result, refuse, toProblem } from '../result.js'
import { toIsoTime, toIsoTimeOrNull } from '../wire.js'

const PENDING_MS = 5 * 60 * 1000
const TIMEOUT_MS = 5 * 60 * 1000
// ES256, EdDSA, RS256.
const ALGORITHMS = [-7, -8, -257] as const

/** Challenges for new passkeys: the newest of each operator, five minutes, once. */
export class PendingPasskeys {
  readonly #challenges = new Map<string, { readonly challenge: string; readonly expiresAt: number }>()

  constructor(private readonly now: () => number) {}

  add(operator: string): string {
    const challenge = randomBytes(32).toString('base64url')
    this.#challenges.set(operator, { challenge, expiresAt: this.now() + PENDING_MS })
    return challenge
  }

  take(operator: string): string | null {
    const pending = this.#challenges.get(operator)
    this.#challenges.delete(operator)
    return pending === undefined || pending.expiresAt <= this.now() ? null : pending.challenge
  }
}

export function listPasskeys(app: App, operator: string): JsonObject {
  const passkeys = listPasskeysOf(app.ledger.registry.access, operator).map((passkey) => ({
    id: passkey.credentialId,
    name: passkey.label,
    operator: passkey.operator,
    created_at: toIsoTime(passkey.addedAt),
    last_used_at: toIsoTimeOrNull(app.operators.passkeyUses.get(passkey.credentialId)?.at ?? null),
  }))
  return { passkeys, has_passphrase: app.ledger.registry.access.passphrases.has(operator) }
}

/** The options with which a browser makes a new passkey. */
export function makePasskeyOptions(app: App, operator: string, origin: string): Result<JsonObject> {
  const rpId = findRpId(origin)
  if (!rpId.ok) return rpId
  const known = listPasskeysOf(app.ledger.registry.access, operator)
  return ok({
    options: {
      rp: { id: rpId.value, name: 'Phaselock' },
      user: { id: Buffer.from(operator).toString('base64url'), name: operator, displayName: operator },
      challenge: app.operators.passkeys.add(operator),
      pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
      timeout: TIMEOUT_MS,
      excludeCredentials: known.map(toDescriptor),
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
      attestation: 'none',
    },
  })
}

/** Registers the passkey that a browser made. */
export async function addPasskey(
  app: App,
  asked: { readonly operator: string; readonly label: string; readonly origin: string; readonly response: JsonObject },
): Promise<Result<JsonObject>> {
  const { operator, origin } = asked
  const expectedChallenge = app.operators.passkeys.take(operator)
  const rpId = findRpId(origin)
  if (!rpId.ok) return rpId
  if (expectedChallenge === null)
    return refuse('conflict', 'The challenge is older than five minutes, or was used.', {
      remedy: 'Call POST /passkeys/options again, and register the passkey with the new challenge.',
    })
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  try {
    const verified = await verifyRegistrationResponse({
      response: asked.response as unknown as RegistrationResponseJSON,
      expectedChallenge,
      expectedOrigin: origin,
      expectedRPID: rpId.value,
      requireUserVerification: false,
      supportedAlgorithmIDs: [...ALGORITHMS],
    })
    if (!verified.verified) return refuseUnverified('its signature does not hold')
    const { id, publicKey } = verified.registrationInfo.credential
    return await recordPasskey(app, asked, {
      credentialId: id,
      publicKey: Buffer.from(publicKey).toString('base64url'),
      rpId: rpId.value,
    })
  } catch (error) {
    return refuseUnverified(error instanceof Error ? error.message : 'it cannot be read')
  }
}

async function recordPasskey(
  app: App,
  asked: { readonly operator: string; readonly label: string; readonly response: JsonObject },
  made: Pick<Passkey, 'credentialId' | 'publicKey' | 'rpId'>,
): Promise<Result<JsonObject>> {
  const { operator } = asked
  const label = app.redact(asked.label) as string
  if (app.redact(made.credentialId) !== made.credentialId)
    return refuse('conflict', 'The id of this passkey looks like a secret. Make another one.')
  const now = app.now()
  const transports = readTransports(asked.response)
  const refusal = await app.ledger.record(
    { type: 'passkey_added', ...made, label, operator, transports },
    { now, actor: `operator:${operator}` },
  )
  if (refusal !== null) return toProblem(refusal)
  return ok({ id: made.credentialId, name: label, created_at: toIsoTime(now) })
}

function readTransports({ response }: JsonObject): readonly string[] {
  const given = (response as { readonly transports?: unknown } | undefined)?.transports
  const known = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb']
  return Array.isArray(given) ? known.filter((transport) => given.includes(transport)) : []
}

export async function revokePasskey(app: App, operator: string, id: string): Promise<Result<JsonObject>> {
  const fact = { type: 'passkey_revoked', credentialId: id, operator } as const
  const refusal = await app.ledger.record(fact, { now: app.now(), actor: `operator:${operator}` })
  return refusal === null ? ok({ id, revoked: true }) : toProblem(refusal)
}

/** The options with which a browser signs the challenge with one of the operator's passkeys. */
export function makeSignOptions(
  app: App,
  operator: string,
  asked: { readonly challenge: string; readonly origin: string },
) {
  const rpId = findRpId(asked.origin)
  if (!rpId.ok) return rpId
  const passkeys = listPasskeysOf(app.ledger.registry.access, operator).filter((one) => one.rpId === rpId.value)
  if (passkeys.length === 0)
    return refuse('conflict', `Operator ${JSON.stringify(operator)} has no passkey for ${rpId.value}.`, {
      remedy: 'Send the passphrase as `confirmation: {passphrase}`, or register a passkey under Settings first.',
    })
  return ok({
    challenge: asked.challenge,
    rpId: rpId.value,
    timeout: TIMEOUT_MS,
    allowCredentials: passkeys.map(toDescriptor),
    userVerification: 'preferred',
  })
}

/** What the ledger keeps of a signature by a passkey, so that it can be verified later. */
export type Assertion = {
  readonly credential_id: string
  readonly authenticator_data: string
  readonly client_data: string
  readonly signature: string
}

/** Checks a signature by one of the operator's passkeys over the challenge. Null when it does not hold. */
export async function verifyAssertion(
  app: App,
  signed: { readonly operator: string; readonly origin: string; readonly challenge: string },
  given: JsonObject,
): Promise<Assertion | null> {
  const response = given as unknown as AuthenticationResponseJSON
  const passkey = listPasskeysOf(app.ledger.registry.access, signed.operator).find(
    (one) => one.credentialId === given.id,
  )
  if (passkey === undefined) return null
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  const uses = app.operators.passkeyUses
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: signed.challenge,
      expectedOrigin: signed.origin,
      expectedRPID: passkey.rpId,
      requireUserVerification: false,
      credential: { ...toCredential(passkey), counter: uses.get(passkey.credentialId)?.counter ?? 0 },
    })
    if (!verified) return null
    uses.set(passkey.credentialId, { at: app.now(), counter: authenticationInfo.newCounter })
  } catch {
    // The library throws for whatever does not fit: another challenge, origin, counter or shape.
    return null
  }
  const { authenticatorData, clientDataJSON, signature } = response.response
  return {
    credential_id: passkey.credentialId,
    authenticator_data: authenticatorData,
    client_data: clientDataJSON,
    signature,
  }
}

export function toCredential({ credentialId, publicKey }: Pick<Passkey, 'credentialId' | 'publicKey'>) {
  return { id: credentialId, publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')), counter: 0 }
}

function toDescriptor({ credentialId, transports }: Passkey) {
  return { id: credentialId, type: 'public-key', transports }
}

// Browsers take no address as the name of a site.
function findRpId(origin: string): Result<string> {
  const { hostname, port } = new URL(origin)
  if (isIP(hostname.replace(/^\[(.*)\]$/, '$1')) === 0) return ok(hostname)
  return refuse('invalid_request', `Passkeys do not work with the address ${hostname}.`, {
    remedy: `Open the dashboard as http://localhost:${port}/ instead.`,
  })
}

function refuseUnverified(why: string) {
  return refuse('invalid_request', `response: the passkey cannot be verified: ${why}.`)
}
