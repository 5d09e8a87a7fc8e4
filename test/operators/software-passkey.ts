import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

const PRESENT_AND_VERIFIED = 0x05
const HAS_CREDENTIAL = 0x40
// CBOR: {"fmt": "none", "attStmt": {}, "authData": <bytes with a length of two bytes>}
const ATTESTATION_HEAD = Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746159', 'hex')
// COSE: {1: 2 (EC2), 3: -7 (ES256), -1: 1 (P-256), -2: x, -3: y}
const COSE_HEAD = Buffer.from('a5010203262001215820', 'hex')
const COSE_Y = Buffer.from('225820', 'hex')

/** A passkey in software: answers the options of the server as a browser with an authenticator does. */
export class SoftwarePasskey {
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  readonly #rawId = randomBytes(32)
  readonly id = this.#rawId.toString('base64url')
  #uses = 0

  /** RegistrationResponseJSON for PublicKeyCredentialCreationOptionsJSON. */
  register(options: { readonly challenge: string; readonly rp: { readonly id: string } }, origin: string) {
    const { x = '', y = '' } = this.#keys.publicKey.export({ format: 'jwk' })
    const length = Buffer.alloc(2)
    length.writeUInt16BE(this.#rawId.length)
    const key = Buffer.concat([COSE_HEAD, Buffer.from(x, 'base64url'), COSE_Y, Buffer.from(y, 'base64url')])
    const credential = Buffer.concat([Buffer.alloc(16), length, this.#rawId, key])
    const data = Buffer.concat([this.#makeData(options.rp.id, HAS_CREDENTIAL), credential])
    const size = Buffer.alloc(2)
    size.writeUInt16BE(data.length)
    return this.#wrap({
      clientDataJSON: encodeClientData('webauthn.create', options.challenge, origin).toString('base64url'),
      attestationObject: Buffer.concat([ATTESTATION_HEAD, size, data]).toString('base64url'),
      transports: ['internal'],
    })
  }

  /** AuthenticationResponseJSON for PublicKeyCredentialRequestOptionsJSON. */
  confirm(options: { readonly challenge: string; readonly rpId: string }, origin: string) {
    const client = encodeClientData('webauthn.get', options.challenge, origin)
    const data = this.#makeData(options.rpId, 0)
    const signed = Buffer.concat([data, createHash('sha256').update(client).digest()])
    return this.#wrap({
      clientDataJSON: client.toString('base64url'),
      authenticatorData: data.toString('base64url'),
      signature: sign('sha256', signed, this.#keys.privateKey).toString('base64url'),
    })
  }

  #wrap<Response extends object>(response: Response) {
    return { id: this.id, rawId: this.id, type: 'public-key' as const, clientExtensionResults: {}, response }
  }

  #makeData(rpId: string, flags: number): Buffer {
    this.#uses += 1
    const rest = Buffer.alloc(5)
    rest.writeUInt8(PRESENT_AND_VERIFIED | flags)
    rest.writeUInt32BE(this.#uses, 1)
    return Buffer.concat([createHash('sha256').update(rpId).digest(), rest])
  }
}

function encodeClientData(type: string, challenge: string, origin: string): Buffer {
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
}
