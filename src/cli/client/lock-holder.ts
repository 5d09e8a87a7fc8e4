import { openDatabase } from '../../store/database.js'
import { lockDirectory } from '../../store/directory-lock.js'
import { listLedgerFiles } from '../../store/ledger-files.js'
import { StoreRefused } from '../../store/store.js'
import { findLiveServerNote, type ServerNote } from './server-file.js'

/** The process that holds the state directory's lock, which must be a running server; null when there is none. */
function lockHolder(stateDir: string): number | null {
  try {
    lockDirectory(stateDir).release()
    return null
  } catch (error) {
    if (!(error instanceof StoreRefused) || error.code !== 'locked') throw error
  }
  const database = openDatabase(listLedgerFiles(stateDir).lock, { readOnly: true })
  try {
    return Number(database.prepare('SELECT pid FROM holder').get()?.pid ?? 0)
  } finally {
    database.close()
  }
}

/**
 * The server of a state directory, which for a container is its engine's to say; otherwise the lock proves that the process is a server, and not another process with its old
 * id.
 */
export function findRunningServer(stateDir: string): ServerNote | null {
  const note = findLiveServerNote(stateDir)
  if (note?.container !== undefined) return note
  return note !== null && lockHolder(stateDir) === note.pid ? note : null
}
