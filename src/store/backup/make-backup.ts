import { createHash, createPublicKey, type Hash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { syncDirectory } from '../../base/atomic-file.js'
import { openPostgresSource } from '../copy/postgres-source.js'
import { type LedgerSummary, readVerified } from '../copy/read-verified.js'
import { openSqliteSource } from '../copy/sqlite-source.js'
import { readSigningKey } from '../keys.js'
import { listLedgerFiles } from '../ledger-files.js'
import { formatCheckpointName, listCheckpoints } from '../seals/seal-file.js'
import { StoreRefused } from '../store.js'
import type { StorePlace } from '../store-place.js'
import { type BackupHeader, writeBackupFile } from './backup-file.js'
import { readSecretFiles, sealSecrets } from './backup-keys.js'
import { readStateFiles, type StateFile } from './state-files.js'

/** The number of this form of parts. */
export const BACKUP_SCHEMA = 1

/** The last line of a backup. */
export interface BackupManifest {
  readonly head: { readonly count: number; readonly hash: string }
  readonly streams: number
  readonly merkle_root: string
  readonly counts: Readonly<Record<string, number>>
  /** SHA-256 over the lines of each kind. */
  readonly digests: Readonly<Record<string, string>>
}

/** Where the private keys go: nowhere, into the file, or into the file under a passphrase. */
export type KeyChoice =
  | { readonly kind: 'none' }
  | { readonly kind: 'plain' }
  | { readonly kind: 'encrypted'; readonly passphrase: string }

export interface BackupRequest extends StorePlace {
  readonly to: string
  readonly keys: KeyChoice
  readonly programVersion: string
  readonly onProgress?: (events: number) => void
}

export interface MadeBackup extends BackupManifest {
  readonly file: string
  readonly sha256: string
  readonly bytes: number
}

/**
 * Writes a backup of a ledger to a new file, while its server may go on. Every event is verified on the way. The file
 * appears under its name only when it is whole and durable.
 */
export async function makeBackup(request: BackupRequest): Promise<MadeBackup> {
  const { dir, url, to, keys } = request
  if (existsSync(to)) throw new StoreRefused('unreadable', `${to} exists. Name a new file.`)
  const signingKey = readSigningKey(dir)
  if (signingKey === null) throw new StoreRefused('tampered', 'ledger.ed25519 is missing: the backup cannot be signed.')
  const header: BackupHeader = {
    created_at: new Date().toISOString(),
    program_version: request.programVersion,
    schema: BACKUP_SCHEMA,
    store: url === null ? 'sqlite' : 'postgres',
    keys: keys.kind,
    public_key: createPublicKey(signingKey).export({ type: 'spki', format: 'pem' }).toString(),
  }
  const partial = join(dirname(to), `.${basename(to)}.partial`)
  rmSync(partial, { force: true })
  const made: { manifest: BackupManifest | null } = { manifest: null }
  try {
    const lines = writeLines(request, (manifest) => {
      made.manifest = manifest
    })
    const written = await writeBackupFile(partial, { header, signingKey }, lines)
    if (made.manifest === null) throw new Error('a backup without a manifest')
    if (existsSync(to)) throw new StoreRefused('unreadable', `${to} exists. Name a new file.`)
    renameSync(partial, to)
    syncDirectory(dirname(to))
    return { file: to, ...written, ...made.manifest }
  } catch (error) {
    rmSync(partial, { force: true })
    throw error
  }
}

async function* writeLines(
  { dir, url, keys, onProgress }: BackupRequest,
  onManifest: (manifest: BackupManifest) => void,
): AsyncGenerator<string> {
  const tally = new LineTally()
  if (keys.kind !== 'none') {
    const files = readSecretFiles(dir)
    yield tally.add(['secrets', keys.kind === 'encrypted' ? sealSecrets(files, keys.passphrase) : files])
  }
  const parts = readVerified(dir, async () => (url === null ? openSqliteSource(dir) : openPostgresSource(url)))
  let summary: LedgerSummary | null = null
  try {
    while (summary === null) {
      const { done, value } = await parts.next()
      if (done === true) summary = value
      else {
        yield tally.add(value)
        if (value[0] === 'event') onProgress?.(tally.count('event'))
      }
    }
  } finally {
    // Closes the snapshot also when the file cannot be written.
    await parts.return(undefined as never)
  }
  for (const { path, content } of listFiles(dir, summary.head.count))
    yield tally.add(['file', path, content.toString('base64')])
  const { head, streams, merkleRoot } = summary
  const manifest = { head, streams, merkle_root: merkleRoot, ...tally.read() }
  onManifest(manifest)
  yield JSON.stringify(['end', manifest])
}

/** Counts the lines of each kind, and computes their digests. */
export class LineTally {
  readonly #kinds = new Map<string, { count: number; readonly hash: Hash }>()

  add(part: readonly [string, ...unknown[]]): string {
    const line = JSON.stringify(part)
    this.take(part[0], line)
    return line
  }

  take(kind: string, line: string): void {
    const known = this.#kinds.get(kind) ?? { count: 0, hash: createHash('sha256') }
    known.count += 1
    known.hash.update(`${line}\n`)
    this.#kinds.set(kind, known)
  }

  count(kind: string): number {
    return this.#kinds.get(kind)?.count ?? 0
  }

  /** The counts and digests; once, at the end. */
  read(): Pick<BackupManifest, 'counts' | 'digests'> {
    const kinds = [...this.#kinds].sort(([a], [b]) => (a < b ? -1 : 1))
    return {
      counts: Object.fromEntries(kinds.map(([kind, { count }]) => [kind, count])),
      digests: Object.fromEntries(kinds.map(([kind, { hash }]) => [kind, hash.digest('hex')])),
    }
  }
}

function* listFiles(dir: string, last: number): Generator<StateFile> {
  const folder = listLedgerFiles(dir).checkpoints
  for (const seq of listCheckpoints(dir)) {
    if (seq > last) continue
    const name = formatCheckpointName(seq)
    yield { path: `checkpoints/${name}`, content: readFileSync(join(folder, name)) }
  }
  yield* readStateFiles(dir)
}
