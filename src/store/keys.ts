import {
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { readFileIfPresent, writeFileAtomically } from '../base/atomic-file.js'
import { readKeyRing, rememberChainKeys, rememberPublicKeys } from './key-ring.js'
import { listLedgerFiles } from './ledger-files.js'

const KEY_BYTES = 32

/** The chain key; null when there is none, it has the wrong length, or the list of replaced keys was changed. */
export function readChainKey(dir: string): KeyObject | null {
  const bytes = readFileIfPresent(listLedgerFiles(dir).key)
  if (bytes?.length !== KEY_BYTES) return null
  const key = createSecretKey(bytes)
  const ring = readKeyRing(dir, key)
  if (ring === null) return null
  rememberChainKeys(key, ring)
  return key
}

export function readSigningKey(dir: string): KeyObject | null {
  const pem = readFileIfPresent(listLedgerFiles(dir).privateKey)
  return pem === null ? null : createPrivateKey(pem)
}

export function readPublicKey(dir: string): KeyObject | null {
  const pem = readFileIfPresent(listLedgerFiles(dir).publicKey)
  if (pem === null) return null
  const publicKey = createPublicKey(pem)
  const bytes = readFileIfPresent(listLedgerFiles(dir).key)
  const ring = bytes?.length === KEY_BYTES ? readKeyRing(dir, createSecretKey(bytes)) : null
  rememberPublicKeys(publicKey, ring ?? [])
  return publicKey
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
