import { makeDirectory } from '../../base/atomic-file.js'
import type { Database, Row } from '../database.js'
import { readChainKey, readPublicKey, readSigningKey } from '../keys.js'
import { listLedgerFiles } from '../ledger-files.js'
import { createMerkleTree, type MerkleTree, streamLeaf } from './merkle-tree.js'
import { type Checkpoint, listCheckpoints, readCheckpointFile, writeCheckpointFile } from './seal-file.js'
import { type CheckpointPointer, readNewestCheckpoint, writeNewestCheckpoint } from './seal-pointer.js'

/** State between two checkpoints, so that the next one costs only what changed. */
export interface CheckpointState {
  readonly tree: MerkleTree
  readonly pointer: CheckpointPointer
}

const STREAM_ENDS = `SELECT s.num AS num, s.name AS name, e.version AS version, e.hash AS hash
  FROM stream s JOIN event e ON e.stream = s.name
  WHERE e.version = (SELECT max(version) FROM event WHERE stream = s.name) ORDER BY s.num`

// SQLite takes the other columns from the row that has the maximum.
const CHANGED_ENDS = `SELECT s.num AS num, e.name AS name, e.version AS version, e.hash AS hash FROM
  (SELECT stream AS name, max(version) AS version, hash FROM event WHERE seq > ? GROUP BY stream) e
  JOIN stream s ON s.name = e.name ORDER BY s.num`

/** The newest event, and the ends of streams: all of them (`leaves`) or those since the last checkpoint. */
export interface SealedSnapshot {
  readonly seq: number
  readonly hash: string
  readonly changed: readonly Row[]
  readonly leaves: readonly Row[]
}

/** Signs and writes a checkpoint of all committed events; nothing when there are no new ones. */
export function writeCheckpoint(dir: string, database: Database, before: CheckpointState | null): CheckpointState {
  const pointer = before?.pointer ?? findNewestCheckpoint(dir)
  return sealSnapshot(dir, readSnapshot(database, { pointer, isFirst: before === null }), { before, pointer })
}

/** Signs and writes a checkpoint of a snapshot; nothing when it has no new events. */
export function sealSnapshot(
  dir: string,
  snapshot: SealedSnapshot,
  from: { readonly before: CheckpointState | null; readonly pointer: CheckpointPointer },
): CheckpointState {
  const chainKey = readChainKey(dir)
  const signingKey = readSigningKey(dir)
  if (chainKey === null || signingKey === null) throw new Error('a key of the ledger is missing')
  const { pointer } = from
  const tree = from.before?.tree ?? createMerkleTree()
  for (const row of snapshot.leaves) {
    tree.set(Number(row.num) - 1, streamLeaf(String(row.name), Number(row.version), String(row.hash)))
  }
  if (snapshot.seq === pointer.seq) return { tree, pointer }
  const checkpoint: Checkpoint = {
    format: 'phaselock-checkpoint/1',
    seq: snapshot.seq,
    hash: snapshot.hash,
    streams: tree.size,
    merkle_root: tree.root(),
    changed: snapshot.changed.map((row) => [String(row.name), Number(row.version), String(row.hash)]),
    previous: pointer.hash,
    created_at: new Date().toISOString(),
  }
  makeDirectory(listLedgerFiles(dir).checkpoints)
  const { hash } = writeCheckpointFile(dir, checkpoint, signingKey)
  const next = { seq: snapshot.seq, hash }
  // The pointer comes second: a crash in between leaves an extra checkpoint, never a missing one.
  writeNewestCheckpoint(dir, chainKey, next)
  return { tree, pointer: next }
}

function readSnapshot(
  database: Database,
  from: { readonly pointer: CheckpointPointer; readonly isFirst: boolean },
): SealedSnapshot {
  database.exec('BEGIN')
  try {
    const last = database.prepare('SELECT seq, hash FROM event ORDER BY seq DESC LIMIT 1').get()
    const changed: Row[] = database.prepare(CHANGED_ENDS).all(from.pointer.seq)
    const leaves = from.isFirst ? database.prepare(STREAM_ENDS).all() : changed
    return { seq: Number(last?.seq ?? 0), hash: String(last?.hash ?? ''), changed, leaves }
  } finally {
    database.exec('COMMIT')
  }
}

/** The sealed pointer, or the checkpoint written after it if a crash came in between. */
export function findNewestCheckpoint(dir: string): CheckpointPointer {
  const chainKey = readChainKey(dir)
  const publicKey = readPublicKey(dir)
  const pointer = chainKey === null ? null : readNewestCheckpoint(dir, chainKey)
  if (pointer === null || publicKey === null) throw new Error('ledger.checkpoint or a key is missing or not valid')
  // A crash may have left checkpoints that the pointer does not know: continue from the last consecutive one.
  let newest = pointer
  for (const seq of listCheckpoints(dir).filter((checkpoint) => checkpoint > pointer.seq)) {
    const found = readCheckpointFile(dir, seq, publicKey)
    if (found.state !== 'valid' || found.checkpoint.previous !== newest.hash) break
    newest = { seq, hash: found.fileHash }
  }
  return newest
}
