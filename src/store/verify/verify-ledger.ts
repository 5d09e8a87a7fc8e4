import type { KeyObject } from 'node:crypto'
import { sha256Hex } from '../../base/sha256.js'
import { type Database, openDatabase } from '../database.js'
import { readChainKey, readPublicKey } from '../keys.js'
import { listLedgerFiles } from '../ledger-files.js'
import { findSchemaDifference } from '../migrations.js'
import type { VerifyProblem, VerifyReport } from '../store.js'
import { EVENT_COLUMNS } from '../wire.js'
import { FIRST_PREV_HASH } from '../write/chain.js'
import { type FoundHead, readHead } from '../write/head.js'
import { judgeEvent } from './verify-events.js'
import { type CheckpointWalk, startCheckpointWalk } from './verify-seals.js'
import { type StreamWalk, startStreamWalk } from './verify-streams.js'

/**
 * Reads the whole ledger of a directory and reports its problems, the first bad event first. Only reads, takes no lock,
 * and works on a ledger that the store refuses to open.
 */
export async function verifyDirectory(dir: string): Promise<VerifyReport> {
  return verifyLedger(dir)
}

export function verifyLedger(dir: string): VerifyReport {
  const key = readChainKey(dir)
  const publicKey = readPublicKey(dir)
  if (key === null)
    return makeFailedReport(makeProblem('key_missing', 'ledger.key is missing or damaged: nothing can be verified.'))
  if (publicKey === null) return makeFailedReport(makeProblem('key_missing', 'ledger.ed25519.pub is missing.'))
  // Outside files first, then the snapshot of the database: a server that writes meanwhile only makes it longer.
  const head = readHead(dir, key)
  const checkpoints = startCheckpointWalk(dir, key, publicKey)
  try {
    const database = openDatabase(listLedgerFiles(dir).database, { readOnly: true })
    try {
      database.exec('BEGIN')
      return walk(database, { key, head, checkpoints })
    } finally {
      database.close()
    }
  } catch (error) {
    return makeFailedReport(makeProblem('unreadable', `The database cannot be read: ${String(error)}`))
  }
}

interface Outside {
  readonly key: KeyObject
  readonly head: FoundHead
  readonly checkpoints: CheckpointWalk
}

function walk(database: Database, outside: Outside): VerifyReport {
  const streams = startStreamWalk()
  const problems: VerifyProblem[] = []
  const { count, bad } = walkEvents(database, streams, outside)
  if (bad !== null) problems.push(bad)
  problems.push(...judgeHead(database, outside.head, { count, isWhole: bad === null }))
  // After a bad event the walk stops: then the table says how far the events reach.
  problems.push(...outside.checkpoints.finish(bad === null ? count : lastSeq(database)))
  if (bad === null) problems.push(...streams.judgeTable(database))
  problems.push(...judgeBlobs(database), ...judgeDatabase(database))
  return {
    ok: problems.length === 0,
    events: count,
    streams: streams.size,
    checkpoints: outside.checkpoints.count,
    problems,
  }
}

/** Stops at the first bad event: later problems may be its consequences. */
function walkEvents(database: Database, streams: StreamWalk, { key, checkpoints }: Outside) {
  let seq = 0
  for (const row of database.prepare(`SELECT ${EVENT_COLUMNS} FROM event ORDER BY seq`).iterate()) {
    const stream = String(row.stream)
    const bad = judgeEvent(row, key, { seq: seq + 1, end: streams.end(stream) })
    if (bad !== null) return { count: seq, bad }
    seq += 1
    streams.extend(stream, { version: Number(row.version), hash: String(row.hash) })
    checkpoints.pass({ seq, hash: String(row.hash), streams })
  }
  return { count: seq, bad: null }
}

function judgeHead(
  database: Database,
  found: FoundHead,
  walked: { readonly count: number; readonly isWhole: boolean },
): readonly VerifyProblem[] {
  if (found.state === 'missing') return [makeProblem('head_missing', 'ledger.head is missing.')]
  if (found.state === 'invalid') return [makeProblem('head_invalid', `ledger.head is not valid: ${found.detail}.`)]
  const { head, torn } = found
  const last = Number(database.prepare('SELECT max(seq) AS seq FROM event').get()?.seq ?? 0)
  if (last < head.count) {
    const detail = `The database ends at event ${last}, but the ledger head says ${head.count}: events were cut off.`
    return [{ ...makeProblem('cut_tail', detail), seq: last + 1 }]
  }
  const row = database.prepare('SELECT hash FROM event WHERE seq = ?').get(head.count)
  const hash = head.count === 0 ? FIRST_PREV_HASH : row?.hash
  if (walked.isWhole && hash !== head.hash) {
    const detail = `Event ${head.count} is not the one that the ledger head names.`
    return [{ ...makeProblem('head_mismatch', detail), seq: head.count }]
  }
  if (torn && last === head.count) return [makeProblem('head_invalid', 'One half of ledger.head was damaged.')]
  return []
}

function judgeBlobs(database: Database): readonly VerifyProblem[] {
  for (const { sha256, content } of database.prepare('SELECT sha256, content FROM blob').iterate()) {
    const found = sha256Hex(content instanceof Uint8Array ? content : String(content))
    if (found !== sha256) return [makeProblem('changed_blob', `The content stored under ${sha256} was changed.`)]
  }
  return []
}

function judgeDatabase(database: Database): readonly VerifyProblem[] {
  const difference = findSchemaDifference(database)
  if (difference !== null) return [makeProblem('schema_changed', `The database's schema was changed (${difference}).`)]
  const found = database.prepare('PRAGMA integrity_check(1)').get()?.integrity_check
  return found === 'ok' ? [] : [makeProblem('corrupt_database', `The database is damaged: ${found}.`)]
}

function makeProblem(code: string, detail: string): VerifyProblem {
  return { code, detail, seq: null, stream: null, version: null }
}

function makeFailedReport(found: VerifyProblem): VerifyReport {
  return { ok: false, events: 0, streams: 0, checkpoints: 0, problems: [found] }
}

function lastSeq(database: Database): number {
  return Number(database.prepare('SELECT coalesce(max(seq), 0) AS seq FROM event').get()?.seq ?? 0)
}
