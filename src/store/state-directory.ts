import { chmodSync, existsSync, lstatSync, realpathSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory } from '../base/atomic-file.js'
import { listLedgerFiles } from './ledger-files.js'
import { StoreRefused } from './store.js'

const OTHERS = 0o077
const FOLDER_MODE = 0o700
const FILE_MODE = 0o600

/** How a private folder is called in messages. */
interface FolderName {
  readonly name: string
  /** The option that names the folder. */
  readonly option: string
  /** What its owner could read or replace. */
  readonly holds: string
}

const STATE_DIRECTORY: FolderName = {
  name: 'state directory',
  option: '--state-dir',
  holds: 'the keys of the ledger',
}

/**
 * Creates the directory, or takes over the existing one, for this account alone. A directory or key file of another
 * account and a link in its place are refused, because their owner could read or replace the keys. Permissions of
 * others are removed. Returns the changes as sentences.
 */
export function takeStateDirectory(dir: string): readonly string[] {
  const changed = takePrivateFolder(dir, STATE_DIRECTORY)
  return [...changed, ...listKeyFiles(dir).flatMap((file) => takeKeyFile(dir, file))]
}

/** Creates a folder, or takes over the existing one, for this account alone. Returns the changes as sentences. */
export function takePrivateFolder(dir: string, about: FolderName): readonly string[] {
  makeFolder(dir, about)
  const stats = lstatSync(dir)
  if (stats.isSymbolicLink()) {
    if (!existsSync(dir)) throw refusePlace(`The ${about.name} ${dir} is a link that leads nowhere.`)
    throw refusePlace(
      `The ${about.name} ${dir} is a link. Name the folder itself: ${about.option} ${realpathSync(dir)}`,
    )
  }
  if (!stats.isDirectory()) throw refusePlace(`The ${about.name} ${dir} is not a folder.`)
  refuseForeign({ dir, path: dir, about }, stats)
  return restrictMode(dir, stats, FOLDER_MODE)
}

function makeFolder(dir: string, { name }: FolderName): void {
  if (lstatSync(dir, { throwIfNoEntry: false }) !== undefined) return
  try {
    makeDirectory(dir, FOLDER_MODE)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT' && code !== 'EEXIST' && code !== 'ELOOP') throw error
    throw refusePlace(`The ${name} ${dir} cannot be made: a link or a file is in the way (${code}).`)
  }
}

function listKeyFiles(dir: string): readonly string[] {
  const { database, key, keyRing, head, privateKey, newestCheckpoint, lock } = listLedgerFiles(dir)
  const own = ['signing.secret', 'operator.token', 'server.json'].map((name) => join(dir, name))
  return [database, key, keyRing, head, privateKey, newestCheckpoint, lock, ...own]
}

function takeKeyFile(dir: string, file: string): readonly string[] {
  const stats = lstatSync(file, { throwIfNoEntry: false })
  if (stats === undefined) return []
  if (!stats.isFile())
    throw refusePlace(`${file} is not a plain file. Look at what it is, and remove it or choose another --state-dir.`)
  refuseForeign({ dir, path: file, about: STATE_DIRECTORY }, stats)
  return restrictMode(file, stats, FILE_MODE)
}

function refuseForeign(
  { dir, path, about }: { readonly dir: string; readonly path: string; readonly about: FolderName },
  { uid }: Stats,
): void {
  const own = process.geteuid?.() ?? uid
  if (uid === own) return
  throw refusePlace(
    `${path} belongs to another account (uid ${uid}), which could read or replace ${about.holds}. ` +
      `Choose another ${about.option}, or, if you trust what is in it: chown -R ${own} ${dir}`,
  )
}

function restrictMode(path: string, { mode }: Stats, wanted: number): readonly string[] {
  if ((mode & OTHERS) === 0) return []
  chmodSync(path, wanted)
  const [from, to] = [mode & 0o777, wanted].map((one) => one.toString(8).padStart(4, '0'))
  return [`Other accounts could use ${path}: its mode was ${from} and is ${to} now.`]
}

function refusePlace(message: string): StoreRefused {
  return new StoreRefused('unreadable', message)
}
