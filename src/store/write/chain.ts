import { createHmac, type KeyObject } from 'node:crypto'

/** The predecessor hash of a stream's first event. */
export const FIRST_PREV_HASH = '0'.repeat(64)

/** The columns of an event that its hash covers. `dataText` is the exact text that is stored. */
interface ChainedColumns {
  readonly seq: number
  readonly stream: string
  readonly version: number
  readonly type: string
  readonly at: number
  readonly actor: string
  readonly epoch: number
  readonly phase: string | null
  readonly contract: string | null
  readonly dataText: string
  readonly prevHash: string
}

/**
 * The keyed hash of one event. A JSON array is the preimage because its text is unambiguous: no value can run into the
 * next one, and null differs from the empty text.
 */
export function computeEventHash(key: KeyObject, columns: ChainedColumns): string {
  const preimage = JSON.stringify([
    columns.seq,
    columns.stream,
    columns.version,
    columns.type,
    columns.at,
    columns.actor,
    columns.epoch,
    columns.phase,
    columns.contract,
    columns.dataText,
    columns.prevHash,
  ])
  return createHmac('sha256', key).update(preimage).digest('hex')
}
