import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { makeDirectory, syncDirectory } from '../../base/atomic-file.js'
import { parsePart } from '../copy/ledger-part.js'
import type { LedgerTarget } from '../copy/ledger-target.js'
import { createSqliteTarget } from '../copy/sqlite-target.js'
import { lockDirectory } from '../directory-lock.js'
import { readChainKey, readPublicKey } from '../keys.js'
import { listLedgerFiles } from '../ledger-files.js'
import { listCheckpoints, readCheckpointFile } from '../seals/seal-file.js'
import { writeNewestCheckpoint } from '../seals/seal-pointer.js'
import { StoreRefused } from '../store.js'
import { verifyLedger } from '../verify/verify-ledger.js'
import { FIRST_PREV_HASH } from '../write/chain.js'
import { writeWholeHead } from '../write/head.js'
import { type CheckedBackup, checkBackupFile, readBackupLines, refuseBackup } from './backup-file.js'
import { openSecrets, readSecretFiles, type SealedSecrets, type SecretFiles, writeSecretFiles } from './backup-keys.js'
import { BACKUP_SCHEMA, type BackupManifest, LineTally } from './make-backup.js'
import { writeStateFile } from './state-files.js'

export interface RestoreRequest {
  readonly file: string
  /** The new state directory: it does not exist, or is empty. */
  readonly dir: string
  /** The key that must have signed the backup; null: the one that it names. */
  readonly publicKey: KeyObject | null
  /** A folder with the key files, for a backup without them. */
  readonly keysDir: string | null
  /** Asked only for a backup whose keys are encrypted. */
  readonly askPassphrase: () => Promise<string>
  /** Called on the verified directory before it gets its name. */
  readonly record: (dir: string, backup: CheckedBackup, manifest: BackupManifest) => Promise<void>
  readonly onProgress?: (events: number) => void
}

export interface Restored {
  readonly manifest: BackupManifest
  readonly backup: CheckedBackup
}

/**
 * Makes a state directory from a backup. Everything is written beside it and verified like any ledger; the directory
 * gets its name last. A refusal leaves nothing behind.
 */
export async function restoreBackup(request: RestoreRequest): Promise<Restored> {
  const { file, dir } = request
  requireFree(dir)
  const backup = await checkBackupFile(file, request.publicKey)
  if (backup.header.archive !== undefined) throw refuseBackup('It is an archive of single tasks, not a backup')
  if (backup.header.schema > BACKUP_SCHEMA)
    throw new StoreRefused(
      'too_new',
      `The backup has schema version ${backup.header.schema}, this program knows up to ${BACKUP_SCHEMA}. Use phaselock ${backup.header.program_version} or newer.`,
    )
  makeDirectory(dirname(dir))
  removeAbandoned(dir)
  const partial = join(dirname(dir), `.${basename(dir)}.restoring-${process.pid}`)
  mkdirSync(partial, { mode: 0o700 })
  try {
    const manifest = await fill(partial, backup, request)
    const report = verifyLedger(partial)
    if (!report.ok)
      throw refuseBackup(`It does not verify: ${report.problems[0]?.detail ?? 'no reason'}`.replace(/\.$/, ''))
    await request.record(partial, backup, manifest)
    requireFree(dir)
    renameSync(partial, dir)
    syncDirectory(dirname(dir))
    return { manifest, backup }
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    throw error
  }
}

/** What killed restores left beside the directory. */
function removeAbandoned(dir: string): void {
  const start = `.${basename(dir)}.restoring-`
  for (const name of readdirSync(dirname(dir))) {
    const pid = name.startsWith(start) ? Number(name.slice(start.length)) : Number.NaN
    if (Number.isSafeInteger(pid) && !existsSync(`/proc/${pid}`))
      rmSync(join(dirname(dir), name), { recursive: true, force: true })
  }
}

function requireFree(dir: string): void {
  const stat = lstatSync(dir, { throwIfNoEntry: false })
  if (stat === undefined) return
  if (!stat.isDirectory()) throw new StoreRefused('unreadable', `${dir} is not a folder. Name a new state directory.`)
  if (existsSync(listLedgerFiles(dir).lock)) lockDirectory(dir).release()
  if (readdirSync(dir).length > 0)
    throw new StoreRefused('unreadable', `${dir} is not empty. Name a new state directory: --state-dir DIR.`)
}

async function fill(dir: string, backup: CheckedBackup, request: RestoreRequest): Promise<BackupManifest> {
  const lines = readBackupLines(backup)
  const tally = new LineTally()
  let target: LedgerTarget | null = null
  let key: KeyObject | null = null
  let manifest: BackupManifest | null = null
  const open = (secrets: SecretFiles): void => {
    key = takeSecrets(dir, secrets, backup)
    target = createSqliteTarget(dir, key)
  }
  try {
    if (backup.header.keys === 'none') open(readKeysDir(request.keysDir))
    for await (const line of lines) {
      if (manifest !== null) throw refuseBackup('There is more after its end')
      const [kind, ...values] = parseLine(line)
      if (kind === 'end') {
        manifest = values[0] as BackupManifest
        continue
      }
      tally.take(kind, line)
      if (kind === 'secrets') open(await readSecrets(values[0], backup, request))
      else if (kind === 'file')
        writeStateFile(dir, { path: String(values[0]), content: Buffer.from(String(values[1]), 'base64') })
      else {
        const part = parsePart(line)
        if (part === null || target === null) throw refuseBackup('It holds a line that this program does not know')
        await (target as LedgerTarget).write(part)
        if (kind === 'event') request.onProgress?.(tally.count('event'))
      }
    }
    if (manifest === null || target === null || key === null) throw refuseBackup('A part of it is missing')
    requireWhole(manifest, tally)
    await (target as LedgerTarget).finish(manifest)
    writeOutside(dir, key, { head: manifest.head, backup })
    return manifest
  } catch (error) {
    await (target as LedgerTarget | null)?.abort()
    throw error
  }
}

function parseLine(line: string): readonly [string, ...unknown[]] {
  const value: unknown = JSON.parse(line)
  if (!Array.isArray(value) || typeof value[0] !== 'string') throw refuseBackup('It holds a line that is no part')
  return value as unknown as readonly [string, ...unknown[]]
}

function requireWhole(manifest: BackupManifest, tally: LineTally): void {
  const found = tally.read()
  const { counts, digests } = manifest
  if (JSON.stringify(found) !== JSON.stringify({ counts, digests }))
    throw refuseBackup('Its parts are not those that its last line lists: one is missing or was replaced')
}

function readKeysDir(keysDir: string | null): SecretFiles {
  if (keysDir !== null) return readSecretFiles(keysDir)
  throw new StoreRefused(
    'unreadable',
    'The backup does not hold its keys. Name the folder where you keep ledger.key and ledger.ed25519: --keys DIR.',
  )
}

async function readSecrets(value: unknown, backup: CheckedBackup, request: RestoreRequest): Promise<SecretFiles> {
  if (backup.header.keys === 'plain') return value as SecretFiles
  const files = openSecrets(value as SealedSecrets, await request.askPassphrase())
  if (files !== null) return files
  throw new StoreRefused('unreadable', 'The passphrase is not the one that the keys in the backup are encrypted with.')
}

function takeSecrets(dir: string, files: SecretFiles, backup: CheckedBackup): KeyObject {
  const pem = Buffer.from(files['ledger.ed25519'] ?? '', 'base64')
  if (!createPublicKey(createPrivateKey(pem)).equals(backup.publicKey))
    throw new StoreRefused('tampered', 'The keys are not those of the ledger that made this backup.')
  writeSecretFiles(dir, files)
  const key = readChainKey(dir)
  if (key === null) throw new StoreRefused('tampered', 'ledger.key has the wrong length.')
  return key
}

/** The head and the newest checkpoint: outside the database, and sealed with the ledger's key. */
function writeOutside(
  dir: string,
  key: KeyObject,
  { head, backup }: { readonly head: BackupManifest['head']; readonly backup: CheckedBackup },
): void {
  makeDirectory(listLedgerFiles(dir).checkpoints)
  writeWholeHead(dir, key, { head, generation: 0 })
  const seq = listCheckpoints(dir).at(-1) ?? 0
  const found = seq === 0 ? null : readCheckpointFile(dir, seq, readPublicKey(dir) ?? backup.publicKey)
  if (found !== null && found.state !== 'valid') throw refuseBackup(`Checkpoint ${seq} in it is not valid`)
  writeNewestCheckpoint(dir, key, { seq, hash: found?.fileHash ?? FIRST_PREV_HASH })
}
