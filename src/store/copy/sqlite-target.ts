import type { KeyObject } from 'node:crypto'
import { chmodSync, closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { syncDirectory } from '../../base/atomic-file.js'
import { type Database, openDatabase } from '../database.js'
import { computeKeySeal } from '../key-seal.js'
import { listLedgerFiles } from '../ledger-files.js'
import { migrate } from '../migrations.js'
import { StoreRefused, type TaskRow } from '../store.js'
import { type LedgerPart, toEventRow } from './ledger-part.js'
import type { LedgerTarget } from './ledger-target.js'

/** A new `ledger.db` in a directory that has none. */
export function createSqliteTarget(dir: string, key: KeyObject): LedgerTarget {
  const { database: final } = listLedgerFiles(dir)
  if (existsSync(final)) throw new StoreRefused('unreadable', `${final} exists already.`)
  const path = `${final}.new`
  rmSync(path, { force: true })
  const database = openDatabase(path)
  chmodSync(path, 0o600)
  // Nobody reads it before it is whole and synced.
  database.exec('PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA trusted_schema = OFF')
  migrate(database)
  database.prepare("INSERT INTO meta (name, value) VALUES ('key_seal', ?)").run(computeKeySeal(key))
  database.exec('BEGIN')
  const write = prepareInserts(database)
  return {
    async write(part) {
      write(part)
    },
    async finish() {
      database.exec('INSERT INTO task_count SELECT status, phase, count(*) FROM task GROUP BY status, phase')
      database.exec('COMMIT')
      database.exec('PRAGMA journal_mode = WAL')
      database.close()
      syncFile(path)
      renameSync(path, final)
      syncDirectory(dir)
    },
    async abort() {
      database.close()
      rmSync(path, { force: true })
    },
  }
}

function prepareInserts(database: Database): (part: LedgerPart) => void {
  const insertEvent = database.prepare(
    `INSERT INTO event (seq, stream, version, type, at, actor, epoch, phase, contract, data, prev_hash, hash)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const insertStream = database.prepare('INSERT INTO stream (name) VALUES (?)')
  const insertTask = database.prepare(
    `INSERT INTO task (num, id, status, phase, agent_id, priority, created_at, lease_expires_at, approval_expires_at,
       open_questions, questions, open_deps, document) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const insertDependency = database.prepare('INSERT OR IGNORE INTO dependency (needs, task) VALUES (?, ?)')
  const insertBlob = database.prepare('INSERT INTO blob (sha256, content) VALUES (?, ?)')
  const insertAnswer = database.prepare(
    'INSERT INTO idempotency (principal, key, body_hash, status, answer, at) VALUES (?, ?, ?, ?, ?, ?)',
  )
  return (part) => {
    if (part[0] === 'event') {
      const [, ...values] = part
      const { version, stream } = toEventRow(part)
      if (version === 1) insertStream.run(String(stream))
      insertEvent.run(...values)
    } else if (part[0] === 'task') {
      const [, num, openDeps, document] = part
      const task = JSON.parse(document) as TaskRow
      const { leaseExpiresAt: lease, approvalExpiresAt: approval, openQuestions = 0, questions = 0 } = task
      const { id, status, phase, agentId, priority, createdAt } = task
      const place = [num, id, status, phase, agentId, priority, createdAt] as const
      insertTask.run(...place, lease, approval, openQuestions, questions, openDeps, document)
      for (const needs of task.dependsOn) insertDependency.run(needs, id)
    } else if (part[0] === 'blob') insertBlob.run(part[1], Buffer.from(part[2], 'base64'))
    else {
      const [, principal, key, bodyHash, status, answer, at] = part
      insertAnswer.run(principal, key, bodyHash, status, answer, at)
    }
  }
}

function syncFile(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
