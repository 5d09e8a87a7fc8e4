import { createCipheriv, createDecipheriv, createPublicKey, randomBytes, scryptSync } from 'node:crypto'
import { join } from 'node:path'
import { readFileIfPresent, writeFileAtomically } from '../../base/atomic-file.js'
import { listLedgerFiles } from '../ledger-files.js'
import { StoreRefused } from '../store.js'

/** Files of the state directory that nobody else may have. */
export const SECRET_FILES = [
  'ledger.key',
  'ledger.ed25519',
  'ledger.keys',
  'signing.secret',
  'operator.token',
  'operator.passphrases.json',
] as const

const NEEDED: readonly string[] = ['ledger.key', 'ledger.ed25519']

/** Secret files by name, their content in base64. */
export type SecretFiles = Readonly<Record<string, string>>

// 128 MiB for half a second: a guess costs the attacker the same.
const SCRYPT = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 } as const
const KEY_BYTES = 32
const CIPHER = 'aes-256-gcm'

/** Encrypted secret files. */
export interface SealedSecrets {
  readonly salt: string
  readonly nonce: string
  readonly tag: string
  readonly text: string
}

export function readSecretFiles(dir: string): SecretFiles {
  const found = SECRET_FILES.flatMap((name) => {
    const content = readFileIfPresent(join(dir, name))
    return content === null ? [] : [[name, content.toString('base64')] as const]
  })
  const files = Object.fromEntries(found)
  for (const name of NEEDED)
    if (files[name] === undefined) throw new StoreRefused('unreadable', `${dir} has no ${name}.`)
  return files
}

export function sealSecrets(files: SecretFiles, passphrase: string): SealedSecrets {
  const salt = randomBytes(16)
  const nonce = randomBytes(12)
  const cipher = createCipheriv(CIPHER, scryptSync(passphrase, salt, KEY_BYTES, SCRYPT), nonce)
  const text = Buffer.concat([cipher.update(JSON.stringify(files)), cipher.final()]).toString('base64')
  const encode = (bytes: Buffer): string => bytes.toString('base64')
  return { salt: encode(salt), nonce: encode(nonce), tag: encode(cipher.getAuthTag()), text }
}

/** The secret files; null: it is another passphrase. */
export function openSecrets(sealed: SealedSecrets, passphrase: string): SecretFiles | null {
  const decode = (text: string): Buffer => Buffer.from(text, 'base64')
  const key = scryptSync(passphrase, decode(sealed.salt), KEY_BYTES, SCRYPT)
  const decipher = createDecipheriv(CIPHER, key, decode(sealed.nonce), { authTagLength: 16 })
  decipher.setAuthTag(decode(sealed.tag))
  try {
    return JSON.parse(Buffer.concat([decipher.update(decode(sealed.text)), decipher.final()]).toString('utf8'))
  } catch {
    // The tag does not match, and GCM says no more than that.
    return null
  }
}

/** Writes the secret files, and the public key that belongs to the private one. */
export function writeSecretFiles(dir: string, files: SecretFiles): void {
  for (const name of SECRET_FILES) {
    const content = files[name]
    if (content !== undefined) writeFileAtomically(join(dir, name), Buffer.from(content, 'base64'))
  }
  const pem = Buffer.from(files['ledger.ed25519'] ?? '', 'base64')
  const publicKey = createPublicKey(pem).export({ type: 'spki', format: 'pem' })
  writeFileAtomically(listLedgerFiles(dir).publicKey, publicKey)
}
