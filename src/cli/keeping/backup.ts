import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { type KeyChoice, type MadeBackup, makeBackup } from '../../store/backup/make-backup.js'
import { readPassphrase } from '../client/give-confirmation.js'
import { findLedgerStateDir } from '../client/ledger-place.js'
import { EXIT, Stop } from '../exit.js'
import { getDefaultStateDir, listFoldersUpwards } from '../places.js'
import { readStoreUrl } from '../server/store-url.js'
import { askHidden, canAsk, print, printJson, tell } from '../terminal/terminal.js'
import { showProgress } from '../trial/progress.js'
import { readProgramVersion } from '../version.js'
import { runOnStore } from './refused-store.js'

const PASSPHRASE_CHARS_MIN = 12

export interface BackupOptions {
  readonly to?: string
  readonly stateDir?: string
  readonly store?: string
  readonly withKeys?: boolean
  readonly encryptKeys?: boolean
  readonly passphraseFile?: string
  readonly json?: boolean
}

/** Writes a backup of the ledger, its checkpoints and what else a server needs. */
export async function backupCommand(options: BackupOptions): Promise<void> {
  const dir = findLedgerStateDir(options.stateDir)
  if (dir === null)
    throw new Stop(EXIT.refused, 'There is no ledger here. Name its state directory with --state-dir DIR.')
  const url = readStoreUrl(options.store)
  const keys = await chooseKeys(options)
  const to = chooseFile(dir, options.to)
  const made = await runOnStore('The backup', () =>
    showProgress('Writing the backup', options.json === true, () =>
      makeBackup({ dir, url, to, keys, programVersion: readProgramVersion() }),
    ),
  )
  if (options.json === true) return printJson({ ...made, keys: keys.kind })
  print(formatMade(made))
  tell(describeKeys(keys.kind, dir))
  tell(`Restore it with: phaselock restore ${to} --state-dir NEW_DIR${keys.kind === 'none' ? ' --keys DIR' : ''}`)
}

function formatMade({ file, bytes, head, streams, sha256 }: MadeBackup): string {
  return `Wrote ${head.count} events in ${streams} streams to ${file} (${bytes} bytes)\nSHA-256 ${sha256}`
}

const KEYS_TOLD = {
  plain:
    'The private keys are in it. Anybody who can read the file can sign as this ledger: keep it as safe as the keys.',
  encrypted: 'The private keys are in it, encrypted. Without the passphrase it cannot be restored.',
} as const

function describeKeys(kind: KeyChoice['kind'], dir: string): string {
  if (kind !== 'none') return KEYS_TOLD[kind]
  return `The private keys are NOT in it. Keep a copy of ledger.key and ledger.ed25519 from ${dir} in another place.`
}

async function chooseKeys(options: BackupOptions): Promise<KeyChoice> {
  const { withKeys, encryptKeys, passphraseFile } = options
  if (withKeys === true && (encryptKeys === true || passphraseFile !== undefined))
    throw new Stop(EXIT.usage, 'Give --with-keys or --encrypt-keys, not both.')
  if (withKeys === true) return { kind: 'plain' }
  if (encryptKeys !== true && passphraseFile === undefined) return { kind: 'none' }
  const passphrase = passphraseFile === undefined ? await askTwice() : readPassphrase(passphraseFile)
  if (passphrase.length < PASSPHRASE_CHARS_MIN)
    throw new Stop(EXIT.usage, `The passphrase must have at least ${PASSPHRASE_CHARS_MIN} characters.`)
  return { kind: 'encrypted', passphrase }
}

async function askTwice(): Promise<string> {
  if (!canAsk())
    throw new Stop(EXIT.usage, 'Nobody can be asked here: give the passphrase with --passphrase-file FILE.')
  const first = await askHidden(`Passphrase for the keys (at least ${PASSPHRASE_CHARS_MIN} characters): `)
  if (first !== (await askHidden('Again: '))) throw new Stop(EXIT.refused, 'They differ; nothing was written.')
  return first
}

function chooseFile(dir: string, given: string | undefined): string {
  if (given !== undefined) {
    const to = resolve(given)
    const tree = listFoldersUpwards(dirname(to)).find((folder) => getDefaultStateDir(folder) === dir)
    if (tree !== undefined)
      throw new Stop(
        EXIT.refused,
        `${to} is inside the work tree ${tree}, where agents could read it. Name another place.`,
      )
    return to
  }
  const data = process.env.XDG_DATA_HOME ?? ''
  const base = data.startsWith('/') ? data : join(process.env.HOME ?? homedir(), '.local', 'share')
  const folder = join(base, 'phaselock', 'backups')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const time = new Date().toISOString().replace(/[-:]/g, '').replace(/\..*/, 'Z')
  return join(folder, `${basename(dir)}-${time}.backup`)
}
