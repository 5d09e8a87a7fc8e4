import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import { listLedgerFiles, readFileIfPresent, writeFileAtomically } from '../ledger-files.js'

/** The newest checkpoint by its event and the SHA-256 of its file. Seq 0: there is none yet. */
export interface CheckpointPointer {
  readonly seq: number
  readonly hash: string
}

const POINTER_TEXT = /^phaselock-checkpoint 1 (\d{1,15}) ([0-9a-f]{64}) ([0-9a-f]{64})\n$/

/** null: missing, or without the seal of the ledger's key. */
export function readNewestCheckpoint(dir: string, key: KeyObject): CheckpointPointer | null {
  const match = POINTER_TEXT.exec(readFileIfPresent(listLedgerFiles(dir).newestCheckpoint)?.toString('latin1') ?? '')
  if (match === null) return null
  const [, seq, hash = '', seal = ''] = match
  const pointer = { seq: Number(seq), hash }
  return timingSafeEqual(Buffer.from(seal), Buffer.from(computeSeal(pointer, key))) ? pointer : null
}

export function writeNewestCheckpoint(dir: string, key: KeyObject, pointer: CheckpointPointer): void {
  const text = `phaselock-checkpoint 1 ${pointer.seq} ${pointer.hash} ${computeSeal(pointer, key)}\n`
  writeFileAtomically(listLedgerFiles(dir).newestCheckpoint, text)
}

function computeSeal(pointer: CheckpointPointer, key: KeyObject): string {
  return createHmac('sha256', key).update(`phaselock-checkpoint 1 ${pointer.seq} ${pointer.hash}`).digest('hex')
}
