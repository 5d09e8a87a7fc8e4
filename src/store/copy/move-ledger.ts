import type { KeyObject } from 'node:crypto'
import { renameSync, rmSync } from 'node:fs'
import { syncDirectory } from '../../base/atomic-file.js'
import { lockDirectory } from '../directory-lock.js'
import { computeKeySeal } from '../key-seal.js'
import { readChainKey } from '../keys.js'
import { listLedgerFiles } from '../ledger-files.js'
import { hidePassword, refuseMoved, writeMovedNote } from '../moved-ledger.js'
import { holdsLedger, markPostgresMoved, refuseBusyPostgres } from '../postgres/moved-database.js'
import { verifyPostgresLedger } from '../postgres/verify-postgres.js'
import { StoreRefused, type VerifyReport } from '../store.js'
import { verifyLedger } from '../verify/verify-ledger.js'
import { type Head, readHead } from '../write/head.js'
import type { LedgerSource } from './ledger-source.js'
import type { LedgerTarget } from './ledger-target.js'
import { openPostgresSource } from './postgres-source.js'
import { createPostgresTarget } from './postgres-target.js'
import { type LedgerSummary, readVerified } from './read-verified.js'
import { openSqliteSource } from './sqlite-source.js'
import { createSqliteTarget } from './sqlite-target.js'

export interface MoveRequest {
  readonly dir: string
  readonly url: string
  readonly onProgress?: (events: number) => void
}

/** Moves the ledger of a directory into an empty PostgreSQL database. No server may run on it. */
export async function moveToPostgres(request: MoveRequest): Promise<LedgerSummary> {
  const { dir, url } = request
  const lock = lockDirectory(dir)
  try {
    refuseMoved(dir)
    const key = requireKey(dir)
    // Verified before anything is written there, and again while it is copied.
    requireGood(verifyLedger(dir))
    // A move that was killed after its commit is finished, not repeated.
    const isThere = await holdsLedger(url, { keySeal: computeKeySeal(key), head: readWrittenHead(dir, key) })
    const target = isThere ? null : await createPostgresTarget(url, key)
    const summary = await copy(request, { open: async () => openSqliteSource(dir), target })
    requireGood(await verifyPostgresLedger(url, dir))
    const { database, movedDatabase } = listLedgerFiles(dir)
    writeMovedNote(dir, { to: hidePassword(url), moved_at: new Date().toISOString(), events: summary.head.count })
    renameSync(database, movedDatabase)
    for (const suffix of ['-wal', '-shm']) rmSync(database + suffix, { force: true })
    syncDirectory(dir)
    return summary
  } finally {
    lock.release()
  }
}

/** Moves a ledger from PostgreSQL into `ledger.db` of its state directory. No node may run on it. */
export async function moveToSqlite(request: MoveRequest): Promise<LedgerSummary> {
  const { dir, url } = request
  const lock = lockDirectory(dir)
  try {
    const key = requireKey(dir)
    await refuseBusyPostgres(url)
    requireGood(await verifyPostgresLedger(url, dir))
    const target = createSqliteTarget(dir, key)
    const summary = await copy(request, { open: () => openPostgresSource(url), target })
    const report = verifyLedger(dir)
    if (!report.ok) rmSync(listLedgerFiles(dir).database, { force: true })
    requireGood(report)
    await markPostgresMoved(url)
    const { moved, movedDatabase } = listLedgerFiles(dir)
    rmSync(moved, { force: true })
    rmSync(movedDatabase, { force: true })
    syncDirectory(dir)
    return summary
  } finally {
    lock.release()
  }
}

async function copy(
  { dir, onProgress }: MoveRequest,
  { open, target }: { readonly open: () => Promise<LedgerSource>; readonly target: LedgerTarget | null },
): Promise<LedgerSummary> {
  const parts = readVerified(dir, open)
  try {
    let events = 0
    for (;;) {
      const { done, value } = await parts.next()
      if (done === true) {
        await target?.finish(value)
        return value
      }
      await target?.write(value)
      if (value[0] !== 'event') continue
      events += 1
      onProgress?.(events)
    }
  } catch (error) {
    await parts.return(undefined as never)
    await target?.abort()
    throw error
  }
}

function requireKey(dir: string): KeyObject {
  const key = readChainKey(dir)
  if (key === null) throw new StoreRefused('tampered', `${dir} has no ledger.key.`)
  return key
}

function readWrittenHead(dir: string, key: KeyObject): Head | null {
  const found = readHead(dir, key)
  return found.state === 'valid' ? found.head : null
}

function requireGood({ ok, problems }: VerifyReport): void {
  if (ok) return
  throw new StoreRefused('tampered', `${problems[0]?.detail ?? 'The ledger does not verify.'} Nothing was moved.`)
}
