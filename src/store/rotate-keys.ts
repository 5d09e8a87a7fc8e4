import { createSecretKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { syncDirectory, writeFileAtomically } from '../base/atomic-file.js'
import { sha256Hex } from '../base/sha256.js'
import { openDatabase } from './database.js'
import { lockDirectory } from './directory-lock.js'
import { formatKeyRing, readKeyRing } from './key-ring.js'
import { computeKeySeal } from './key-seal.js'
import { readChainKey, readPublicKey } from './keys.js'
import { listLedgerFiles } from './ledger-files.js'
import { createPool } from './postgres/connect.js'
import { refuseBusyPostgres } from './postgres/moved-database.js'
import { readNewestCheckpoint, writeNewestCheckpoint } from './seals/seal-pointer.js'
import { StoreRefused } from './store.js'
import type { StorePlace } from './store-place.js'
import { type Head, readHead, writeWholeHead } from './write/head.js'

const KEY_BYTES = 32
const FILES = ['ledger.key', 'ledger.ed25519', 'ledger.ed25519.pub', 'ledger.keys'] as const
/** Written last: what is beside it is whole. */
const READY = 'ready'

/** New keys that are not used yet. */
export interface PreparedKeys {
  readonly publicKey: string
  /** SHA-256 of the public key. */
  readonly fingerprint: string
  /** Replaces the keys of a ledger whose server is stopped. What was written before still verifies with the old ones. */
  readonly apply: () => Promise<void>
}

/** Makes new keys. The caller records them in the ledger before it applies them. */
export function prepareKeys(place: StorePlace): PreparedKeys {
  const chainKey = randomBytes(KEY_BYTES)
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  return {
    publicKey: pem,
    fingerprint: sha256Hex(pem),
    async apply() {
      const { dir } = place
      const lock = lockDirectory(dir)
      try {
        const key = readChainKey(dir)
        const old = readPublicKey(dir)
        const ring = key === null ? null : readKeyRing(dir, key)
        const head = key === null ? null : readHead(dir, key)
        if (key === null || old === null || ring === null || head?.state !== 'valid')
          throw new StoreRefused('tampered', 'A key or the head of the ledger is missing or damaged.')
        const current = createSecretKey(chainKey)
        const earlier = [
          ...ring,
          {
            through: head.head.count,
            key: key.export().toString('base64'),
            public_key: old.export({ type: 'spki', format: 'pem' }).toString(),
          },
        ]
        stage(dir, {
          'ledger.key': chainKey,
          'ledger.ed25519': privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
          'ledger.ed25519.pub': pem,
          'ledger.keys': formatKeyRing(earlier, current),
        })
        await finish(place, key)
      } finally {
        lock.release()
      }
    },
  }
}

/** Finishes a rotation that was interrupted. False: there is none. */
export async function finishRotation(place: StorePlace): Promise<boolean> {
  const folder = listLedgerFiles(place.dir).rotating
  if (!existsSync(folder)) return false
  const lock = lockDirectory(place.dir)
  try {
    // Without its last file nothing was replaced yet.
    if (!existsSync(join(folder, READY))) {
      rmSync(folder, { recursive: true, force: true })
      return false
    }
    await finish(place, readOldKey(place.dir))
    return true
  } finally {
    lock.release()
  }
}

function stage(dir: string, files: Readonly<Record<(typeof FILES)[number], string | Uint8Array>>): void {
  const folder = listLedgerFiles(dir).rotating
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { mode: 0o700 })
  for (const name of FILES) writeFileAtomically(join(folder, name), files[name])
  writeFileAtomically(join(folder, READY), '')
  syncDirectory(dir)
}

// The newest of the replaced keys is the one that the head is sealed with, if the head was not written yet.
function readOldKey(dir: string): KeyObject {
  const text = readFileSync(join(listLedgerFiles(dir).rotating, 'ledger.keys'), 'utf8')
  const { earlier } = JSON.parse(text) as { readonly earlier: readonly { readonly key: string }[] }
  return createSecretKey(Buffer.from(earlier.at(-1)?.key ?? '', 'base64'))
}

/** Every step can be done again. */
async function finish(place: StorePlace, oldKey: KeyObject): Promise<void> {
  const { dir } = place
  const folder = listLedgerFiles(dir).rotating
  const current = createSecretKey(readFileSync(join(folder, 'ledger.key')))
  const head = readSealed(dir, [oldKey, current])
  const pointer = readNewestCheckpoint(dir, oldKey) ?? readNewestCheckpoint(dir, current)
  if (pointer === null) throw new StoreRefused('tampered', 'ledger.checkpoint is missing or not valid.')
  await writeKeySeal(place, computeKeySeal(current))
  for (const name of FILES) writeFileAtomically(join(dir, name), readFileSync(join(folder, name)))
  writeWholeHead(dir, current, head)
  writeNewestCheckpoint(dir, current, pointer)
  renameSync(folder, `${folder}.done`)
  rmSync(`${folder}.done`, { recursive: true, force: true })
  syncDirectory(dir)
}

function readSealed(dir: string, keys: readonly KeyObject[]): { readonly head: Head; readonly generation: number } {
  for (const key of keys) {
    const found = readHead(dir, key)
    if (found.state === 'valid') return found
  }
  throw new StoreRefused('tampered', 'ledger.head is missing or not valid.')
}

async function writeKeySeal({ dir, url }: StorePlace, seal: string): Promise<void> {
  if (url === null) {
    const database = openDatabase(listLedgerFiles(dir).database)
    try {
      database.prepare("UPDATE meta SET value = ? WHERE name = 'key_seal'").run(seal)
    } finally {
      database.close()
    }
    return
  }
  await refuseBusyPostgres(url)
  const pool = createPool(url)
  try {
    await pool.query("UPDATE meta SET value = $1 WHERE name = 'key_seal'", [seal])
  } finally {
    await pool.end()
  }
}
