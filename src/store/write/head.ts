import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import { closeSync, constants, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { readFileIfPresent, writeFileAtomically } from '../../base/atomic-file.js'
import { listLedgerFiles } from '../ledger-files.js'

/** The end of the ledger: the number of its events and the newest hash. */
export interface Head {
  readonly count: number
  readonly hash: string
}

interface Slot extends Head {
  readonly generation: number
}

export type FoundHead =
  | { readonly state: 'missing' }
  | { readonly state: 'invalid'; readonly detail: string }
  /**
   * `torn`: one slot is unreadable. A write torn by power loss leaves the database ahead of the other slot, because the
   * commit comes first; a torn head with a database that is not ahead was tampered with.
   */
  | { readonly state: 'valid'; readonly head: Head; readonly generation: number; readonly torn: boolean }

const SLOT_BYTES = 512
// Slots are a page apart: a torn write of one cannot reach the other.
const SLOT_STRIDE = 4_096
const SLOT_TEXT = /^phaselock-head 1 (\d{1,15}) (\d{1,15}) ([0-9a-f]{64}) ([0-9a-f]{64})\n *$/

export function readHead(dir: string, key: KeyObject): FoundHead {
  const bytes = readFileIfPresent(listLedgerFiles(dir).head)
  if (bytes === null) return { state: 'missing' }
  if (bytes.length !== 2 * SLOT_STRIDE) return { state: 'invalid', detail: `it has ${bytes.length} bytes` }
  const slots = [0, 1].map((index) =>
    readSlot(bytes.subarray(index * SLOT_STRIDE, index * SLOT_STRIDE + SLOT_BYTES), key),
  )
  const [even, odd] = slots
  if (even && odd) {
    const [older, newer] = even.generation < odd.generation ? [even, odd] : [odd, even]
    if (newer.generation !== older.generation + 1 || newer.count < older.count) {
      return { state: 'invalid', detail: 'its two slots do not follow each other' }
    }
    return { state: 'valid', head: newer, generation: newer.generation, torn: false }
  }
  const slot = even ?? odd
  if (!slot) return { state: 'invalid', detail: 'no slot carries the seal of ledger.key' }
  return { state: 'valid', head: slot, generation: slot.generation, torn: true }
}

function readSlot(bytes: Buffer, key: KeyObject): Slot | null {
  const match = SLOT_TEXT.exec(bytes.toString('latin1'))
  if (match === null) return null
  const [, generation, count, hash = '', seal = ''] = match
  const slot = { generation: Number(generation), count: Number(count), hash }
  const expected = computeSeal(slot, key)
  return timingSafeEqual(Buffer.from(seal), Buffer.from(expected)) ? slot : null
}

function computeSeal(slot: Slot, key: KeyObject): string {
  return createHmac('sha256', key)
    .update(`phaselock-head 1 ${slot.generation} ${slot.count} ${slot.hash}`)
    .digest('hex')
}

function encodeSlot(slot: Slot, key: KeyObject): Buffer {
  const text = `phaselock-head 1 ${slot.generation} ${slot.count} ${slot.hash} ${computeSeal(slot, key)}\n`
  return Buffer.from(text.padEnd(SLOT_BYTES, ' '))
}

/** Overwrites the older slot in place and syncs it. The caller increments the generation. */
export function writeHeadSlot(dir: string, key: KeyObject, slot: Slot): void {
  const file = openForWriting(dir)
  try {
    writeSlot(file, key, slot)
    fdatasyncSync(file)
  } finally {
    closeSync(file)
  }
}

// Opened for each write: writing must fail if the head was moved or replaced meanwhile.
function openForWriting(dir: string): number {
  return openSync(listLedgerFiles(dir).head, constants.O_WRONLY | constants.O_NOFOLLOW)
}

function writeSlot(file: number, key: KeyObject, slot: Slot): void {
  const bytes = encodeSlot(slot, key)
  const written = writeSync(file, bytes, 0, SLOT_BYTES, (slot.generation % 2) * SLOT_STRIDE)
  if (written !== SLOT_BYTES) throw new Error(`the head was written in part (${written} of ${SLOT_BYTES} bytes)`)
}

/** Rewrites the whole file, both slots with the same head: for a new ledger and for repair. Returns the generation. */
export function writeWholeHead(dir: string, key: KeyObject, options: { head: Head; generation: number }): number {
  const bytes = Buffer.alloc(2 * SLOT_STRIDE, ' ')
  const newer = options.generation + 2
  for (const generation of [newer - 1, newer]) {
    encodeSlot({ ...options.head, generation }, key).copy(bytes, (generation % 2) * SLOT_STRIDE)
  }
  writeFileAtomically(listLedgerFiles(dir).head, bytes)
  return newer
}
