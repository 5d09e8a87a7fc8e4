import { createHmac, type KeyObject } from 'node:crypto'

/** A one-way image of the key, which distinguishes a wrong key from a changed event. */
export function computeKeySeal(key: KeyObject): string {
  return createHmac('sha256', key).update('phaselock ledger key').digest('hex')
}
