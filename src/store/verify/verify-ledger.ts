import { sha256Hex } from '../../base/sha256.js'
import { type Database, openDatabase } from '../database.js'
import { readSqliteReplaced } from '../erasure/replaced-contents.js'
import { listLedgerFiles } from '../ledger-files.js'
import { findSchemaDifference } from '../migrations.js'
import type { VerifyProblem, VerifyReport } from '../store.js'
import { EVENT_COLUMNS } from '../wire.js'
import { countAtHead, makeFailedReport, makeProblem, type Outside, startLedgerWalk } from './ledger-walk.js'
import { readOutside } from './read-outside.js'

/**
 * Reads the whole ledger of a directory and reports its problems, the first bad event first. Only reads, takes no lock,
 * and works on a ledger that the store refuses to open.
 */
export async function verifyDirectory(dir: string): Promise<VerifyReport> {
  return verifyLedger(dir)
}

export function verifyLedger(dir: string): VerifyReport {
  const read = readOutside(dir)
  if (!read.ok) return read.report
  try {
    const database = openDatabase(listLedgerFiles(dir).database, { readOnly: true })
    try {
      database.exec('BEGIN')
      return walk(database, read.outside)
    } finally {
      database.close()
    }
  } catch (error) {
    return makeFailedReport(makeProblem('unreadable', `The database cannot be read: ${String(error)}`))
  }
}

function walk(database: Database, outside: Outside): VerifyReport {
  const ledger = startLedgerWalk(outside, readSqliteReplaced(database))
  for (const row of database.prepare(`SELECT ${EVENT_COLUMNS} FROM event ORDER BY seq`).iterate())
    if (!ledger.pass(row)) break
  return ledger.finish({
    last: Number(database.prepare('SELECT coalesce(max(seq), 0) AS seq FROM event').get()?.seq ?? 0),
    hashAtHead: database.prepare('SELECT hash FROM event WHERE seq = ?').get(countAtHead(outside))?.hash,
    streams: database.prepare('SELECT num, name FROM stream ORDER BY num').iterate(),
    others: [...judgeBlobs(database), ...judgeDatabase(database)],
  })
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
