import { existsSync } from 'node:fs'
import { listLedgerFiles } from '../../store/ledger-files.js'
import { EXIT, Stop } from '../exit.js'
import { findGivenStateDir } from '../places.js'
import { listLikelyStateDirs } from './connection.js'
import { findLiveServerNote } from './server-file.js'

/** The state directory whose ledger a command means: the one named, else one with a server, else one with a ledger. */
export function findLedgerStateDir(option: string | undefined): string | null {
  const given = findGivenStateDir(option)
  if (given !== null) {
    if (hasLedger(given)) return given
    throw new Stop(EXIT.refused, `There is no ledger in ${given}.`)
  }
  const dirs = listLikelyStateDirs().filter(hasLedger)
  return dirs.find((dir) => findLiveServerNote(dir) !== null) ?? dirs[0] ?? null
}

// A ledger in PostgreSQL has only its keys here.
function hasLedger(dir: string): boolean {
  const { database, key } = listLedgerFiles(dir)
  return existsSync(database) || existsSync(key)
}
