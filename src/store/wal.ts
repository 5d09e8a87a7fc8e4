import { closeSync, constants, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
import { syncDirectory } from '../base/atomic-file.js'
import { listLedgerFiles } from './ledger-files.js'

const CHUNK_BYTES = 1024 * 1024

/**
 * Makes durable what the write-ahead log holds, before anything is built on it or answered from it.
 * A process that died between writing and syncing, or whose sync failed, leaves commits that only the page cache
 * holds; SQLite reads them like any others and syncs them only with the next commit. After a failed sync Linux takes
 * the pages for clean and a second sync saves nothing: so the same bytes are written again. (REQ-LEDGER-9)
 *
 * Only for the one writer, between two transactions. The -wal file carries no locks that closing it could drop.
 */
export function settleWal(dir: string): void {
  const file = openIfPresent(listLedgerFiles(dir).log)
  if (file !== null) {
    try {
      rewrite(file)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
  }
  syncDirectory(dir)
}

function openIfPresent(path: string): number | null {
  try {
    return openSync(path, constants.O_RDWR | constants.O_NOFOLLOW)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

function rewrite(file: number): void {
  const chunk = Buffer.alloc(CHUNK_BYTES)
  for (let at = 0; ; ) {
    const bytes = readSync(file, chunk, 0, CHUNK_BYTES, at)
    if (bytes === 0) return
    for (let done = 0; done < bytes; ) done += writeSync(file, chunk, done, bytes - done, at + done)
    at += bytes
  }
}
