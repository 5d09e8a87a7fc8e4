import type { KeyObject } from 'node:crypto'
import type { Database, Row } from '../database.js'
import type { ReplacedContents } from '../erasure/replaced-contents.js'
import { findChainKey } from '../key-ring.js'
import type { VerifyProblem } from '../store.js'
import { EVENT_COLUMNS, readEnvelope } from '../wire.js'
import { computeEventHash, FIRST_PREV_HASH } from '../write/chain.js'

export interface StreamEnd {
  readonly version: number
  readonly hash: string
}

/** The first event after `afterSeq` that breaks its chain or the count, or null. */
export function findFirstBadEvent(database: Database, key: KeyObject, afterSeq: number): VerifyProblem | null {
  const before = database.prepare('SELECT version, hash FROM event WHERE stream = ? AND version = ?')
  const ends = new Map<string, StreamEnd>()
  let seq = afterSeq
  const rows = database.prepare(`SELECT ${EVENT_COLUMNS} FROM event WHERE seq > ? ORDER BY seq`).iterate(afterSeq)
  for (const row of rows) {
    seq += 1
    const stream = String(row.stream)
    const end = ends.get(stream) ?? endBefore(before.get(stream, Number(row.version) - 1))
    const problem = judgeEvent(row, key, { seq, end })
    if (problem !== null) return problem
    ends.set(stream, { version: Number(row.version), hash: String(row.hash) })
  }
  return null
}

function endBefore(row: Row | undefined): StreamEnd | null {
  return row === undefined ? null : { version: Number(row.version), hash: String(row.hash) }
}

/** Checks one row: the next number, its keyed hash or the record that its content was erased or archived, and the current end of its stream. */
export function judgeEvent(
  row: Row,
  key: KeyObject,
  expected: { readonly seq: number; readonly end: StreamEnd | null; readonly replaced?: ReplacedContents },
): VerifyProblem | null {
  const { seq, end } = expected
  const stream = String(row.stream)
  const version = Number(row.version)
  if (row.seq !== seq) {
    const detail = `Event ${seq} is missing; the next one found is ${row.seq}.`
    return { code: 'missing_event', detail, seq, stream: null, version: null }
  }
  const place = { seq, stream, version }
  const contentHash = computeRowHash(key, row)
  if (row.hash !== contentHash && expected.replaced?.fits(row, key, contentHash) !== true) {
    const detail = `Event ${seq} (${stream} version ${version}) was changed: its hash does not match its content.`
    return { code: 'changed_event', detail, ...place }
  }
  if (version !== (end?.version ?? 0) + 1 || row.prev_hash !== (end?.hash ?? FIRST_PREV_HASH)) {
    const detail = `Event ${seq} (${stream} version ${version}) does not follow version ${end?.version ?? 0} of its stream.`
    return { code: 'bad_order', detail, ...place }
  }
  return null
}

export function computeRowHash(key: KeyObject, row: Row): string {
  return computeEventHash(findChainKey(key, Number(row.seq)), { ...readEnvelope(row), dataText: String(row.data) })
}
