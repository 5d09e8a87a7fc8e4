import { type KeyObject, sign, verify } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readFileIfPresent, writeFileAtomically } from '../../base/atomic-file.js'
import { sha256Hex } from '../../base/sha256.js'
import { findPublicKey } from '../key-ring.js'
import { listLedgerFiles } from '../ledger-files.js'

/** The content of a checkpoint. Snake case: this is the form on disk. */
export interface Checkpoint {
  readonly format: 'phaselock-checkpoint/1'
  /** The last event it covers, and that event's hash. */
  readonly seq: number
  readonly hash: string
  readonly streams: number
  readonly merkle_root: string
  /** The streams that grew since the previous checkpoint, with their number of events and newest hash. */
  readonly changed: readonly (readonly [stream: string, count: number, head: string])[]
  /** SHA-256 of the previous checkpoint's file; 64 zeros for the first. */
  readonly previous: string
  readonly created_at: string
}

export function writeCheckpointFile(dir: string, checkpoint: Checkpoint, key: KeyObject): { readonly hash: string } {
  const statement = JSON.stringify(checkpoint)
  const signature = sign(null, Buffer.from(statement), key).toString('base64')
  const text = `${JSON.stringify({ ...checkpoint, signature })}\n`
  writeFileAtomically(formatCheckpointPath(dir, checkpoint.seq), text)
  return { hash: sha256Hex(text) }
}

type FoundCheckpoint =
  | { readonly state: 'missing' }
  | { readonly state: 'invalid'; readonly detail: string }
  | { readonly state: 'valid'; readonly checkpoint: Checkpoint; readonly fileHash: string }

export function readCheckpointFile(dir: string, seq: number, key: KeyObject): FoundCheckpoint {
  const text = readFileIfPresent(formatCheckpointPath(dir, seq))?.toString('utf8')
  if (text === undefined) return { state: 'missing' }
  const parsed = parseObject(text)
  if (parsed === null) return { state: 'invalid', detail: 'it is not a JSON object' }
  const { signature, ...checkpoint } = parsed
  const isSigned =
    typeof signature === 'string' &&
    verify(null, Buffer.from(JSON.stringify(checkpoint)), findPublicKey(key, seq), Buffer.from(signature, 'base64'))
  if (!isSigned) return { state: 'invalid', detail: 'its signature does not match' }
  if (checkpoint.format !== 'phaselock-checkpoint/1' || checkpoint.seq !== seq) {
    return { state: 'invalid', detail: 'it is not the checkpoint of the event that its name says' }
  }
  return { state: 'valid', checkpoint, fileHash: sha256Hex(text) }
}

// The signature guarantees the shape: only this program's key signs, and it signs checkpoints.
function parseObject(text: string): (Checkpoint & { readonly signature?: unknown }) | null {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' ? value : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** The events that have a checkpoint file, in order. */
export function listCheckpoints(dir: string): readonly number[] {
  const folder = listLedgerFiles(dir).checkpoints
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) return []
  return readdirSync(folder)
    .flatMap((name) => /^(\d{12})\.json$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)
}

function formatCheckpointPath(dir: string, seq: number): string {
  return join(listLedgerFiles(dir).checkpoints, formatCheckpointName(seq))
}

export function formatCheckpointName(seq: number): string {
  return `${String(seq).padStart(12, '0')}.json`
}
