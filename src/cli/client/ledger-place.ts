import { existsSync } from 'node:fs'
import { ledgerFiles } from '../../store/ledger-files.js'
import { EXIT, Stop } from '../exit.js'
import { givenStateDir } from '../places.js'
import { likelyStateDirs } from './connection.js'
import { liveServerNote } from './server-file.js'

/** The state directory whose ledger a command means: the one named, else one with a server, else one with a ledger. */
export function ledgerStateDir(option: string | undefined): string | null {
  const given = givenStateDir(option)
  if (given !== null) {
    if (existsSync(ledgerFiles(given).database)) return given
    throw new Stop(EXIT.refused, `There is no ledger in ${given}.`)
  }
  const dirs = likelyStateDirs().filter((dir) => existsSync(ledgerFiles(dir).database))
  return dirs.find((dir) => liveServerNote(dir) !== null) ?? dirs[0] ?? null
}
