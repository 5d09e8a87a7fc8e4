import type { KeyObject } from 'node:crypto'
import { chmodSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { makeDirectory, readFileIfPresent, syncDirectory } from '../base/atomic-file.js'
import { type Database, getSqliteCode, openDatabase, SQLITE } from './database.js'
import { refuseRotating } from './key-ring.js'
import { computeKeySeal } from './key-seal.js'
import { createKeys, readChainKey, readPublicKey, readSigningKey } from './keys.js'
import { listLedgerFiles } from './ledger-files.js'
import { findSchemaDifference, migrate } from './migrations.js'
import { refuseMoved } from './moved-ledger.js'
import { readNewestCheckpoint, writeNewestCheckpoint } from './seals/seal-pointer.js'
import { StoreRefused } from './store.js'
import { findFirstBadEvent } from './verify/verify-events.js'
import { settleWal } from './wal.js'
import { FIRST_PREV_HASH } from './write/chain.js'
import { type Head, readHead, writeWholeHead } from './write/head.js'

const QUICK_CHECK_BYTES_MAX = 128 * 1024 * 1024
const WHAT_TO_DO = 'Restore a backup of the whole directory; `phaselock audit verify` shows the details.'

interface OpenedLedger {
  readonly key: KeyObject
  readonly head: Head
  readonly generation: number
}

/**
 * Creates a new ledger, or checks and migrates the existing one. Throws StoreRefused for one that must not be used: it
 * never starts empty where a ledger existed.
 */
export function openLedger(dir: string): OpenedLedger {
  try {
    refuseMoved(dir)
    refuseRotating(dir)
    if (isNew(dir)) create(dir)
    const key = requireKeys(dir)
    refuseUnreadable(dir)
    settleWal(dir)
    const database = openDatabase(listLedgerFiles(dir).database)
    try {
      return check(dir, key, database)
    } finally {
      database.close()
    }
  } catch (error) {
    throw toRefusal(error)
  }
}

export function toRefusal(error: unknown): StoreRefused {
  if (error instanceof StoreRefused) return error
  const code = getSqliteCode(error)
  const message = error instanceof Error ? error.message : String(error)
  if (code === SQLITE.corrupt || code === SQLITE.notADatabase) {
    return new StoreRefused('corrupt', `The ledger's database is damaged (${message}). ${WHAT_TO_DO}`, { cause: error })
  }
  return new StoreRefused('unreadable', `The ledger cannot be opened: ${message}. Check the directory and its disk.`, {
    cause: error,
  })
}

/** A directory without any part of a ledger, or one whose creation was interrupted before the first event. */
function isNew(dir: string): boolean {
  const files = listLedgerFiles(dir)
  const parts = [files.database, files.key, files.head, files.privateKey, files.newestCheckpoint]
  const found = parts.filter((path) => statSync(path, { throwIfNoEntry: false }) !== undefined)
  if (found.length === 0) return readFilesOf(files.checkpoints).length === 0
  return readFileIfPresent(files.creating) !== null && !hasEvents(files.database)
}

function readFilesOf(dir: string): readonly string[] {
  return statSync(dir, { throwIfNoEntry: false }) === undefined ? [] : readdirSync(dir)
}

function hasEvents(path: string): boolean {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) return false
  const database = openDatabase(path)
  try {
    const table = database.prepare("SELECT 1 AS found FROM sqlite_master WHERE name = 'event'").get()
    return table !== undefined && database.prepare('SELECT 1 AS found FROM event LIMIT 1').get() !== undefined
  } finally {
    database.close()
  }
}

function create(dir: string): void {
  const files = listLedgerFiles(dir)
  writeFileSync(files.creating, '', { mode: 0o600 })
  for (const path of [files.database, files.log, `${files.database}-shm`]) rmSync(path, { force: true })
  makeDirectory(files.checkpoints)
  const key = createKeys(dir)
  writeWholeHead(dir, key, { head: { count: 0, hash: FIRST_PREV_HASH }, generation: 0 })
  writeNewestCheckpoint(dir, key, { seq: 0, hash: FIRST_PREV_HASH })
  writeFileSync(files.database, '', { mode: 0o600 })
  const database = openDatabase(files.database)
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    migrate(database)
    const seal = computeKeySeal(key)
    database.prepare("INSERT INTO meta (name, value) VALUES ('key_seal', ?)").run(seal)
  } finally {
    database.close()
  }
  rmSync(files.creating)
  syncDirectory(dir)
}

function requireKeys(dir: string): KeyObject {
  const key = readChainKey(dir)
  const missing = [
    ...(key === null ? ['ledger.key'] : []),
    ...(readSigningKey(dir) === null ? ['ledger.ed25519'] : []),
    ...(readPublicKey(dir) === null ? ['ledger.ed25519.pub'] : []),
  ]
  if (key !== null && missing.length === 0) return key
  throw new StoreRefused('tampered', `The ledger's key file ${missing.join(', ')} is missing or damaged. ${WHAT_TO_DO}`)
}

function refuseUnreadable(dir: string): void {
  const path = listLedgerFiles(dir).database
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined)
    throw new StoreRefused('corrupt', `ledger.db is missing, but its keys are there. ${WHAT_TO_DO}`)
  if (stat.size === 0) throw new StoreRefused('corrupt', `ledger.db is empty. ${WHAT_TO_DO}`)
  for (const suffix of ['', '-wal', '-shm']) {
    if (statSync(path + suffix, { throwIfNoEntry: false }) !== undefined) chmodSync(path + suffix, 0o600)
  }
}

function check(dir: string, key: KeyObject, database: Database): OpenedLedger {
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF')
  if (statSync(listLedgerFiles(dir).database).size <= QUICK_CHECK_BYTES_MAX) checkQuickly(database)
  migrate(database)
  const difference = findSchemaDifference(database)
  if (difference !== null) {
    throw new StoreRefused('tampered', `The database's schema was changed (${difference}). ${WHAT_TO_DO}`)
  }
  const seal = database.prepare("SELECT value FROM meta WHERE name = 'key_seal'").get()
  if (seal?.value !== computeKeySeal(key)) {
    throw new StoreRefused('tampered', `ledger.key is not the key that this ledger was made with. ${WHAT_TO_DO}`)
  }
  const settled = settleHead(dir, key, database)
  checkNewestCheckpoint(dir, key, settled.head)
  rmSync(listLedgerFiles(dir).creating, { force: true })
  return { key, ...settled }
}

/** Larger databases are only checked by `verify`, in the background: a start must not take minutes. */
function checkQuickly(database: Database): void {
  const found = database.prepare('PRAGMA quick_check(1)').get()?.quick_check
  if (found !== 'ok') throw new StoreRefused('corrupt', `The ledger's database is damaged (${found}). ${WHAT_TO_DO}`)
}

/**
 * Compares the database with the head outside it. Events after the head were committed but perhaps not acknowledged.
 */
function settleHead(dir: string, key: KeyObject, database: Database): { head: Head; generation: number } {
  const found = readHead(dir, key)
  const row = database.prepare('SELECT seq, hash FROM event ORDER BY seq DESC LIMIT 1').get()
  const last: Head = { count: Number(row?.seq ?? 0), hash: String(row?.hash ?? FIRST_PREV_HASH) }
  if (found.state === 'missing')
    throw refuseTampered(`ledger.head is missing, but the database has ${last.count} events.`)
  if (found.state === 'invalid') throw refuseTampered(`ledger.head is not valid: ${found.detail}.`)
  const { head, generation, torn } = found
  if (last.count < head.count) {
    throw refuseTampered(
      `The database ends at event ${last.count}, but the ledger head says ${head.count}: events were cut off.`,
    )
  }
  const hash = head.count === 0 ? FIRST_PREV_HASH : hashAt(database, head.count)
  if (hash !== head.hash) throw refuseTampered(`Event ${head.count} is not the one that the ledger head names.`)
  if (torn && last.count === head.count) throw refuseTampered('One half of ledger.head was damaged.')
  const bad = findFirstBadEvent(database, key, Math.max(0, head.count - 1))
  if (bad !== null) throw refuseTampered(`${bad.detail}`)
  if (last.count === head.count && !torn) return { head, generation }
  return { head: last, generation: writeWholeHead(dir, key, { head: last, generation }) }
}

function hashAt(database: Database, seq: number): string | null {
  const row = database.prepare('SELECT hash FROM event WHERE seq = ?').get(seq)
  return row === undefined ? null : String(row.hash)
}

function checkNewestCheckpoint(dir: string, key: KeyObject, head: Head): void {
  const newest = readNewestCheckpoint(dir, key)
  if (newest === null) throw refuseTampered('ledger.checkpoint is missing or not valid.')
  if (newest.seq > head.count) {
    throw refuseTampered(
      `The ledger was sealed at event ${newest.seq}, but the database ends at ${head.count}: it is an older copy.`,
    )
  }
}

function refuseTampered(found: string): StoreRefused {
  return new StoreRefused('tampered', `${found} ${WHAT_TO_DO}`)
}
