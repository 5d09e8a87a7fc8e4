import { parentPort, workerData } from 'node:worker_threads'
import { type Database, openDatabase } from '../database.js'
import { listLedgerFiles } from '../ledger-files.js'
import { type CheckpointState, writeCheckpoint } from '../seals/write-seal.js'
import { verifyLedger } from '../verify/verify-ledger.js'
import { countEvents, NO_COUNTS, queryEvents, readAuditStats } from './audit-reads.js'
import type { FromReader, ReaderJob, ToReader } from './reader.js'

run((workerData as { dir: string }).dir)

function run(dir: string): void {
  const port = parentPort
  if (port === null) throw new Error('reader-worker.ts runs as a worker thread only')
  let database: Database | null = null
  let checkpoint: CheckpointState | null = null
  let counted = NO_COUNTS

  function perform(job: ReaderJob): unknown {
    if (job.type === 'verify') return verifyLedger(dir)
    database ??= openDatabase(listLedgerFiles(dir).database, { readOnly: true })
    switch (job.type) {
      case 'query':
        return queryEvents(database, job.filter)
      case 'stats':
        counted = countEvents(database, counted)
        return readAuditStats(database, counted)
      case 'checkpoint':
        checkpoint = writeCheckpoint(dir, database, checkpoint)
        return checkpoint.pointer.seq
    }
  }

  port.on('message', ({ id, job }: ToReader) => {
    let answer: FromReader
    try {
      answer = { id, ok: true, json: JSON.stringify(perform(job)) }
    } catch (error) {
      database?.close()
      database = null
      checkpoint = null
      counted = NO_COUNTS
      answer = { id, ok: false, isRange: error instanceof RangeError, message: String(error) }
    }
    port.postMessage(answer)
  })
}
