import { readFileIfPresent, writeFileAtomically } from '../base/atomic-file.js'
import { listLedgerFiles } from './ledger-files.js'
import { StoreRefused } from './store.js'

/** Written when a ledger was moved into PostgreSQL: a server must not start on what is left here by accident. */
export interface MovedNote {
  /** Host and database, without user and password. */
  readonly to: string
  readonly moved_at: string
  readonly events: number
}

export function writeMovedNote(dir: string, note: MovedNote): void {
  writeFileAtomically(listLedgerFiles(dir).moved, `${JSON.stringify(note)}\n`)
}

/** Refuses to use the embedded store of a directory whose ledger is in PostgreSQL now. */
export function refuseMoved(dir: string): void {
  const text = readFileIfPresent(listLedgerFiles(dir).moved)?.toString('utf8')
  if (text === undefined) return
  const { to, moved_at } = parseNote(text)
  throw new StoreRefused(
    'unreachable',
    `This ledger was moved to ${to} on ${moved_at}. Set PHASELOCK_STORE to that database, or move it back with \`phaselock move --to sqlite\`.`,
  )
}

function parseNote(text: string): Pick<MovedNote, 'to' | 'moved_at'> {
  try {
    const { to, moved_at } = JSON.parse(text) as MovedNote
    return { to: String(to), moved_at: String(moved_at) }
  } catch {
    return { to: 'PostgreSQL', moved_at: 'an unknown day' }
  }
}

/** An address that may be shown. */
export function hidePassword(url: string): string {
  const { hostname, port, pathname } = new URL(url)
  return `postgres://${hostname}${port === '' ? '' : `:${port}`}${pathname}`
}
