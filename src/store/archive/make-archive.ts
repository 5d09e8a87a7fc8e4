import { createPublicKey, randomBytes } from 'node:crypto'
import { existsSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { syncDirectory } from '../../base/atomic-file.js'
import { type BackupHeader, writeBackupFile } from '../backup/backup-file.js'
import { BACKUP_SCHEMA, LineTally } from '../backup/make-backup.js'
import { type LedgerPart, toEventRow } from '../copy/ledger-part.js'
import { openPostgresSource } from '../copy/postgres-source.js'
import { readVerified } from '../copy/read-verified.js'
import { openSqliteSource } from '../copy/sqlite-source.js'
import type { Row } from '../database.js'
import { readChainKey, readSigningKey } from '../keys.js'
import { StoreRefused, type TaskRow } from '../store.js'
import type { StorePlace } from '../store-place.js'
import { formatArchivedData } from './archived-data.js'

export interface ArchiveRequest extends StorePlace {
  readonly to: string
  /** Tasks that ended before this time, in Unix milliseconds. */
  readonly before: number
  readonly programVersion: string
}

/** What an archive file holds, and how the store looks without it. */
export interface MadeArchive {
  /** A random name: the tombstones carry it. */
  readonly id: string
  readonly file: string
  readonly sha256: string
  readonly tasks: readonly string[]
  readonly events: readonly {
    readonly seq: number
    readonly hash: string
    readonly actor: string
    readonly data: string
  }[]
}

const OVER: readonly string[] = ['completed', 'cancelled']

/** Writes the events of tasks that ended long ago to a signed file. Null: there are none. Removes nothing. */
export async function makeArchive(request: ArchiveRequest): Promise<MadeArchive | null> {
  const { dir, to } = request
  const signingKey = readSigningKey(dir)
  const key = readChainKey(dir)
  if (signingKey === null || key === null) throw new StoreRefused('tampered', 'A key of the ledger is missing.')
  if (existsSync(to)) throw new StoreRefused('unreadable', `${to} exists. Name a new file.`)
  const tasks = await findEnded(request)
  if (tasks.size === 0) return null
  const id = randomBytes(16).toString('hex')
  const events: MadeArchive['events'][number][] = []
  const header: BackupHeader = {
    created_at: new Date().toISOString(),
    program_version: request.programVersion,
    schema: BACKUP_SCHEMA,
    store: request.url === null ? 'sqlite' : 'postgres',
    keys: 'none',
    archive: id,
    public_key: createPublicKey(signingKey).export({ type: 'spki', format: 'pem' }).toString(),
  }
  const lines = writeLines(request, tasks, (row) => {
    const data = formatArchivedData(key, row, id)
    events.push({ seq: Number(row.seq), hash: String(row.hash), actor: String(row.actor), data })
  })
  const partial = join(dirname(to), `.${basename(to)}.partial`)
  rmSync(partial, { force: true })
  try {
    const { sha256 } = await writeBackupFile(partial, { header, signingKey }, lines)
    renameSync(partial, to)
    syncDirectory(dirname(to))
    return { id, file: to, sha256, tasks: [...tasks], events }
  } catch (error) {
    rmSync(partial, { force: true })
    throw error
  }
}

async function* writeLines(
  place: StorePlace,
  tasks: ReadonlySet<string>,
  onEvent: (row: Row) => void,
): AsyncGenerator<string> {
  const tally = new LineTally()
  for await (const part of readParts(place)) {
    if (part[0] === 'event') {
      const row = toEventRow(part)
      if (!tasks.has(readTaskId(row))) continue
      onEvent(row)
      yield tally.add(part)
    } else if (part[0] === 'task' && tasks.has((JSON.parse(part[3]) as TaskRow).id)) yield tally.add(part)
  }
  yield JSON.stringify(['end', tally.read()])
}

/** Tasks that are over since then, and that no task waits for. */
async function findEnded({ dir, url, before }: ArchiveRequest): Promise<ReadonlySet<string>> {
  const ended = new Set<string>()
  const needed = new Set<string>()
  for await (const part of readParts({ dir, url })) {
    if (part[0] !== 'task') continue
    const { id, status, updatedAt, dependsOn } = JSON.parse(part[3]) as TaskRow
    if (!OVER.includes(status)) for (const one of dependsOn) needed.add(one)
    else if (updatedAt < before) ended.add(id)
  }
  return new Set([...ended].filter((id) => !needed.has(id)))
}

function readParts({ dir, url }: StorePlace): AsyncGenerator<LedgerPart> {
  return readVerified(dir, async () => (url === null ? openSqliteSource(dir) : openPostgresSource(url)))
}

function readTaskId({ stream }: Row): string {
  const name = String(stream)
  return name.startsWith('task:') ? name.slice('task:'.length) : ''
}
