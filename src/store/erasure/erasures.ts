import { createHmac, type KeyObject } from 'node:crypto'
import { isObject } from '../../core/json.js'
import { findChainKey } from '../key-ring.js'

/** The type of the event that records an erasure. */
export const ERASED_TYPE = 'data_erased'

/** An event whose texts were erased. */
interface Erasure {
  /** The hash that the event had and keeps: the chain goes on from it. */
  readonly hash: string
  /** Binds the content after the erasure to that hash. */
  readonly seal: string
  /** The event that records the erasure. */
  readonly recordedAt: number
}

/**
 * The erasures that the ledger records, the newest of each event. Their own events are verified with all others:
 * without the key nobody can write one, or a seal in it.
 */
export function readErasures(
  rows: Iterable<{ readonly seq?: unknown; readonly data?: unknown }>,
): Map<number, Erasure> {
  const found = new Map<number, Erasure>()
  for (const { seq: recordedAt, data } of rows) {
    const { erased } = JSON.parse(String(data)) as { readonly erased?: unknown }
    for (const entry of Array.isArray(erased) ? erased : []) {
      if (!isObject(entry)) continue
      const { seq, hash, seal } = entry
      if (Number(seq) < Number(recordedAt))
        found.set(Number(seq), { hash: String(hash), seal: String(seal), recordedAt: Number(recordedAt) })
    }
  }
  return found
}

/** `contentHash` is the keyed hash of the event with its new content. */
export function computeErasureSeal(key: KeyObject, hash: string, contentHash: string): string {
  return createHmac('sha256', key).update(`phaselock-erased ${hash} ${contentHash}`).digest('hex')
}

/** Whether an event has exactly the content that its erasure left. */
export function fitsErasure(
  erasure: Erasure | undefined,
  key: KeyObject,
  { hash, contentHash }: { readonly hash: unknown; readonly contentHash: string },
): boolean {
  if (erasure === undefined || erasure.hash !== hash) return false
  return erasure.seal === computeErasureSeal(findChainKey(key, erasure.recordedAt), erasure.hash, contentHash)
}
