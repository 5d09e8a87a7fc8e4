import { createHmac, createPublicKey, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFileIfPresent } from '../base/atomic-file.js'
import { listLedgerFiles } from './ledger-files.js'
import { StoreRefused } from './store.js'

/** Keys that were replaced: they still verify what was written with them. */
export interface EarlierKeys {
  /** The last event that was written with them. */
  readonly through: number
  /** The chain key, in base64. */
  readonly key: string
  readonly public_key: string
}

/** The content of `ledger.keys`, oldest first, sealed with the current chain key. */
export function formatKeyRing(earlier: readonly EarlierKeys[], current: KeyObject): string {
  return `${JSON.stringify({ earlier, seal: computeSeal(earlier, current) })}\n`
}

/** The replaced keys; null: the file was changed. */
export function readKeyRing(dir: string, current: KeyObject): readonly EarlierKeys[] | null {
  const text = readFileIfPresent(listLedgerFiles(dir).keyRing)?.toString('utf8')
  if (text === undefined) return []
  try {
    const { earlier, seal } = JSON.parse(text) as { readonly earlier: readonly EarlierKeys[]; readonly seal: string }
    const expected = Buffer.from(computeSeal(earlier, current))
    const given = Buffer.from(String(seal))
    return given.length === expected.length && timingSafeEqual(given, expected) ? earlier : null
  } catch {
    return null
  }
}

function computeSeal(earlier: readonly EarlierKeys[], current: KeyObject): string {
  return createHmac('sha256', current)
    .update(`phaselock-keys ${JSON.stringify(earlier)}`)
    .digest('hex')
}

interface Earlier {
  readonly through: number
  readonly key: KeyObject
}

// By the current key: functions that verify get one key, and find here which one an event was written with.
const earlierChainKeys = new WeakMap<KeyObject, readonly Earlier[]>()
const earlierPublicKeys = new WeakMap<KeyObject, readonly Earlier[]>()

export function rememberChainKeys(current: KeyObject, ring: readonly EarlierKeys[]): void {
  const keys = ring.map(({ through, key }) => ({ through, key: createSecretKey(Buffer.from(key, 'base64')) }))
  earlierChainKeys.set(current, keys)
}

export function rememberPublicKeys(current: KeyObject, ring: readonly EarlierKeys[]): void {
  earlierPublicKeys.set(
    current,
    ring.map(({ through, public_key: pem }) => ({ through, key: createPublicKey(pem) })),
  )
}

/** The chain key that the event with this number was written with. */
export function findChainKey(current: KeyObject, seq: number): KeyObject {
  return earlierChainKeys.get(current)?.find(({ through }) => seq <= through)?.key ?? current
}

/** The key that verifies the checkpoint at this event. */
export function findPublicKey(current: KeyObject, seq: number): KeyObject {
  return earlierPublicKeys.get(current)?.find(({ through }) => seq <= through)?.key ?? current
}

/** A server must not start between two sets of keys. */
export function refuseRotating(dir: string): void {
  if (existsSync(listLedgerFiles(dir).rotating))
    throw new StoreRefused(
      'unreachable',
      'A rotation of the ledger keys was interrupted. Finish it: phaselock secret rotate-ledger.',
    )
}
