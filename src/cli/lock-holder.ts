import { openDatabase } from '../store/database.js'
import { ledgerFiles } from '../store/files.js'
import { lockDirectory } from '../store/lock.js'
import { StoreRefused } from '../store/port.js'

/** The process that holds the state directory's lock, which only a live server can; null when none does. */
export function lockHolder(stateDir: string): number | null {
  try {
    lockDirectory(stateDir).release()
    return null
  } catch (error) {
    if (!(error instanceof StoreRefused) || error.code !== 'locked') throw error
  }
  const database = openDatabase(ledgerFiles(stateDir).lock, { readOnly: true })
  try {
    return Number(database.prepare('SELECT pid FROM holder').get()?.pid ?? 0)
  } finally {
    database.close()
  }
}
