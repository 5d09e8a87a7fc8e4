import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

/** A passkey in memory: makes and signs what a browser with an authenticator would. P-256, no attestation. */
export class SoftwareAuthenticator {
  readonly id = randomBytes(16).toString('base64url')
  readonly #key: KeyObject
  readonly #cose: Buffer
  #counter = 0

  constructor(
    private readonly origin: string,
    private readonly rpId = 'localhost',
  ) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const { x, y } = publicKey.export({ format: 'jwk' })
    this.#key = privateKey
    // A map of five: kty EC2, alg ES256, crv P-256, x, y.
    this.#cose = Buffer.concat([
      Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20]),
      Buffer.from(String(x), 'base64url'),
      Buffer.from([0x22, 0x58, 0x20]),
      Buffer.from(String(y), 'base64url'),
    ])
  }

  /** Answers `navigator.credentials.create`. */
  register(options: { readonly challenge: string }, more: { readonly origin?: string } = {}) {
    const id = Buffer.from(this.id, 'base64url')
    const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, this.#cose])
    const authData = Buffer.concat([this.#authenticatorData(0x45), attested])
    const attestation = Buffer.concat([
      Buffer.from([0xa3]),
      ...[cborText('fmt'), cborText('none'), cborText('attStmt'), Buffer.from([0xa0]), cborText('authData')],
      ...[Buffer.from([0x58, authData.length]), authData],
    ])
    return {
      ...{ id: this.id, rawId: this.id, type: 'public-key', clientExtensionResults: {} },
      response: {
        clientDataJSON: this.#clientData('webauthn.create', options.challenge, more.origin).toString('base64url'),
        attestationObject: attestation.toString('base64url'),
        transports: ['internal'],
      },
    }
  }

  /** Answers `navigator.credentials.get`. */
  sign(options: { readonly challenge: string }, more: { readonly origin?: string } = {}) {
    this.#counter += 1
    const clientData = this.#clientData('webauthn.get', options.challenge, more.origin)
    const authData = this.#authenticatorData(0x05)
    const signed = Buffer.concat([authData, createHash('sha256').update(clientData).digest()])
    return {
      ...{ id: this.id, rawId: this.id, type: 'public-key', clientExtensionResults: {} },
      response: {
        clientDataJSON: clientData.toString('base64url'),
        authenticatorData: authData.toString('base64url'),
        signature: sign('sha256', signed, this.#key).toString('base64url'),
      },
    }
  }

  #clientData(type: string, challenge: string, origin = this.origin): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
  }

  #authenticatorData(flags: number): Buffer {
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(this.#counter)
    return Buffer.concat([createHash('sha256').update(this.rpId).digest(), Buffer.from([flags]), counter])
  }
}

function cborText(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)])
}
