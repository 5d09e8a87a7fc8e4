import type { KeyObject } from 'node:crypto'
import { checkBackupFile, readBackupLines, refuseBackup } from '../backup/backup-file.js'
import { LineTally } from '../backup/make-backup.js'
import { parsePart, toEventRow } from '../copy/ledger-part.js'
import { openPostgresSource } from '../copy/postgres-source.js'
import { openSqliteSource } from '../copy/sqlite-source.js'
import { readChainKey } from '../keys.js'
import { StoreRefused } from '../store.js'
import type { StorePlace } from '../store-place.js'
import { computeRowHash } from '../verify/verify-events.js'
import { ARCHIVED_TYPE } from './archived-data.js'

export interface ArchiveReport {
  readonly file: string
  readonly archive: string
  readonly events: number
  readonly created_at: string
}

/**
 * Reads an archive back: every byte is what was signed, every event has the keyed hash that its tombstone in the ledger
 * kept, and none is missing. Throws StoreRefused otherwise.
 */
export async function verifyArchive(file: string, place: StorePlace): Promise<ArchiveReport> {
  const { dir } = place
  const key = readChainKey(dir)
  if (key === null) throw new StoreRefused('tampered', 'A key of the ledger is missing.')
  const backup = await checkBackupFile(file, null)
  const { archive, created_at } = backup.header
  if (archive === undefined) throw refuseBackup('It is a backup, not an archive')
  const { tombstones, recorded } = await readTombstones(place, archive)
  if (recorded !== backup.sha256) throw refuseBackup('The ledger does not record this file')
  const tally = new LineTally()
  let end: unknown = null
  for await (const line of readBackupLines(backup)) {
    const part = parsePart(line)
    if (part === null) {
      const [kind, listed] = JSON.parse(line) as readonly unknown[]
      if (kind !== 'end') throw refuseBackup('It holds a line that this program does not know')
      end = listed
      continue
    }
    tally.take(part[0], line)
    if (part[0] === 'event') takeEvent(toEventRow(part), { key, tombstones, file })
  }
  const events = tally.count('event')
  if (JSON.stringify(end) !== JSON.stringify(tally.read())) throw refuseBackup('A part of it is missing')
  const [missing] = tombstones.keys()
  if (missing !== undefined) throw refuseBackup(`Event ${missing}, which was archived, is not in ${file}`)
  return { file, archive, events, created_at }
}

function takeEvent(
  row: ReturnType<typeof toEventRow>,
  found: { readonly key: KeyObject; readonly tombstones: Map<number, string>; readonly file: string },
): void {
  const seq = Number(row.seq)
  // An event that was erased before it was archived has another content than its hash.
  const isWhole = row.hash === computeRowHash(found.key, row) || String(row.data).includes('[erased]')
  if (!isWhole) throw refuseBackup(`Event ${seq} in ${found.file} was changed: its hash does not match its content`)
  if (found.tombstones.get(seq) !== row.hash)
    throw refuseBackup(`Event ${seq} in ${found.file} is not the one that the ledger archived`)
  found.tombstones.delete(seq)
}

/** The hashes of the events that an archive must hold, and the SHA-256 that its file must have. */
async function readTombstones({ dir, url }: StorePlace, archive: string) {
  const source = url === null ? openSqliteSource(dir) : await openPostgresSource(url)
  const tombstones = new Map<number, string>()
  let recorded: unknown = null
  try {
    for await (const part of source.read()) {
      if (part[0] !== 'event') break
      const row = toEventRow(part)
      if (String(row.data).startsWith(`{"archived":"${archive}"`)) tombstones.set(Number(row.seq), String(row.hash))
      if (row.stream !== 'system' || row.type !== ARCHIVED_TYPE) continue
      const data = JSON.parse(String(row.data)) as { readonly archive?: unknown; readonly sha256?: unknown }
      if (data.archive === archive) recorded = data.sha256
    }
    return { tombstones, recorded }
  } finally {
    await source.close()
  }
}
