import { closeSync, constants, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The files of a ledger, by what they are for. */
export function listLedgerFiles(dir: string) {
  return {
    database: join(dir, 'ledger.db'),
    key: join(dir, 'ledger.key'),
    head: join(dir, 'ledger.head'),
    privateKey: join(dir, 'ledger.ed25519'),
    publicKey: join(dir, 'ledger.ed25519.pub'),
    checkpoints: join(dir, 'checkpoints'),
    /** Names the newest checkpoint, so that a removed checkpoint file is missed. */
    newestCheckpoint: join(dir, 'ledger.checkpoint'),
    lock: join(dir, 'server.lock'),
    /** There while a new ledger is being made; a start that finds it begins again. */
    creating: join(dir, 'ledger.creating'),
  }
}

/** Writes a whole file so that after a crash it has either the old or the new content, and survives power loss. */
export function writeFileAtomically(path: string, content: string | Uint8Array): void {
  const temporary = `${path}.tmp`
  const file = openSync(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, 0o600)
  try {
    writeSync(file, typeof content === 'string' ? Buffer.from(content) : content)
    fsyncSync(file)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
  renameSync(temporary, path)
  syncDirectory(dirname(path))
}

export function syncDirectory(dir: string): void {
  const handle = openSync(dir, constants.O_RDONLY)
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** The content, or null when there is no such file. Other faults are thrown. */
export function readFileIfPresent(path: string): Buffer | null {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
