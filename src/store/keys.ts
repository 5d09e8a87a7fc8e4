import {
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { listLedgerFiles, readFileIfPresent, writeFileAtomically } from './ledger-files.js'

const KEY_BYTES = 32

/** The chain key; null when there is none or it has the wrong length. */
export function readChainKey(dir: string): KeyObject | null {
  const bytes = readFileIfPresent(listLedgerFiles(dir).key)
  return bytes?.length === KEY_BYTES ? createSecretKey(bytes) : null
}

export function readSigningKey(dir: string): KeyObject | null {
  const pem = readFileIfPresent(listLedgerFiles(dir).privateKey)
  return pem === null ? null : createPrivateKey(pem)
}

export function readPublicKey(dir: string): KeyObject | null {
  const pem = readFileIfPresent(listLedgerFiles(dir).publicKey)
  return pem === null ? null : createPublicKey(pem)
}

export function createKeys(dir: string): KeyObject {
  const files = listLedgerFiles(dir)
  const bytes = randomBytes(KEY_BYTES)
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  writeFileAtomically(files.key, bytes)
  writeFileAtomically(files.privateKey, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  writeFileAtomically(files.publicKey, publicKey.export({ type: 'spki', format: 'pem' }))
  return createSecretKey(bytes)
}
