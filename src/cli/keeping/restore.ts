import { createPublicKey, type KeyObject } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { recordOffline } from '../../app/ledger/record-offline.js'
import { restoreBackup } from '../../store/backup/restore-backup.js'
import { readPassphrase } from '../client/give-confirmation.js'
import { EXIT, Stop } from '../exit.js'
import { findGivenStateDir } from '../places.js'
import { askHidden, canAsk, print, printJson, tell } from '../terminal/terminal.js'
import { showProgress } from '../trial/progress.js'
import { runOnStore } from './refused-store.js'

export interface RestoreOptions {
  readonly stateDir?: string
  readonly keys?: string
  readonly passphraseFile?: string
  readonly publicKey?: string
  readonly json?: boolean
}

/** Makes a new state directory from a backup that verifies. */
export async function restoreCommand(file: string, options: RestoreOptions): Promise<void> {
  const dir = findGivenStateDir(options.stateDir)
  if (dir === null) throw new Stop(EXIT.usage, 'Name the new state directory: --state-dir DIR.')
  if (!existsSync(file)) throw new Stop(EXIT.usage, `There is no file ${file}.`)
  const publicKey = options.publicKey === undefined ? null : readKey(options.publicKey)
  const { manifest, backup } = await runOnStore('The restore', () =>
    showProgress('Verifying and restoring', options.json === true, () =>
      restoreBackup({
        file: resolve(file),
        dir,
        publicKey,
        keysDir: options.keys ?? null,
        askPassphrase: () => askPassphrase(options),
        record: (partial, { sha256, header }, { head }) =>
          recordOffline({ dir: partial, url: null }, [
            { type: 'ledger_restored', backup: sha256, madeAt: header.created_at, events: head.count },
          ]),
      }),
    ),
  )
  const { head, streams } = manifest
  const { created_at, keys } = backup.header
  if (options.json === true)
    return printJson({ state_dir: dir, events: head.count, streams, backup: backup.sha256, created_at })
  print(`Restored ${head.count} events in ${streams} streams of ${created_at} to ${dir}`)
  if (publicKey === null && keys !== 'none')
    tell('Its signature was checked with the key in the backup itself. To know who made it, give --public-key FILE.')
  tell('What happened after the backup is not known here. Do not let the old server run beside this one.')
  tell(`Start it with: phaselock serve --state-dir ${dir}`)
}

async function askPassphrase({ passphraseFile }: RestoreOptions): Promise<string> {
  if (passphraseFile !== undefined) return readPassphrase(passphraseFile)
  if (!canAsk())
    throw new Stop(EXIT.usage, 'The keys in the backup are encrypted: give the passphrase with --passphrase-file FILE.')
  return askHidden('Passphrase of the keys: ')
}

function readKey(file: string): KeyObject {
  try {
    return createPublicKey(readFileSync(file))
  } catch {
    throw new Stop(EXIT.usage, `--public-key: ${file} is not a readable public key in PEM form.`)
  }
}
