import { join } from 'node:path'

/** The files of a ledger, by purpose. */
export function listLedgerFiles(dir: string) {
  return {
    database: join(dir, 'ledger.db'),
    /** The write-ahead log of the database. */
    log: join(dir, 'ledger.db-wal'),
    key: join(dir, 'ledger.key'),
    head: join(dir, 'ledger.head'),
    privateKey: join(dir, 'ledger.ed25519'),
    publicKey: join(dir, 'ledger.ed25519.pub'),
    /** Replaced keys, which still verify what was written with them. */
    keyRing: join(dir, 'ledger.keys'),
    /** Exists while keys are being replaced. */
    rotating: join(dir, 'ledger.rotating'),
    checkpoints: join(dir, 'checkpoints'),
    /** Names the newest checkpoint, so that a removed checkpoint file is noticed. */
    newestCheckpoint: join(dir, 'ledger.checkpoint'),
    lock: join(dir, 'server.lock'),
    /** Says where a moved ledger is, and what it was moved from. */
    moved: join(dir, 'ledger.moved'),
    movedDatabase: join(dir, 'ledger.db.moved'),
    /** Exists while a new ledger is being created; a start that finds it begins again. */
    creating: join(dir, 'ledger.creating'),
  }
}
