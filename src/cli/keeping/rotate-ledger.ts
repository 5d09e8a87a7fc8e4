import { recordOffline } from '../../app/ledger/record-offline.js'
import { finishRotation, prepareKeys } from '../../store/rotate-keys.js'
import { findLedgerStateDir } from '../client/ledger-place.js'
import { EXIT, Stop } from '../exit.js'
import { readStoreUrl } from '../server/store-url.js'
import { mustConfirm, print, printJson, tell } from '../terminal/terminal.js'
import { showProgress } from '../trial/progress.js'
import { runOnStore } from './refused-store.js'

export interface RotateOptions {
  readonly reason: string
  readonly stateDir?: string
  readonly store?: string
  readonly yes?: boolean
  readonly json?: boolean
}

/** Replaces the keys of the ledger. No server may run on it. */
export async function rotateLedgerCommand(options: RotateOptions): Promise<void> {
  const dir = findLedgerStateDir(options.stateDir)
  if (dir === null)
    throw new Stop(EXIT.refused, 'There is no ledger here. Name its state directory with --state-dir DIR.')
  const place = { dir, url: readStoreUrl(options.store) }
  if (options.yes !== true)
    await mustConfirm(`Replace the keys of the ledger in ${dir}?`, {
      unasked: 'Nobody can be asked here: give --yes.',
      no: 'Nothing was changed.',
    })
  const fingerprint = await runOnStore('The rotation', () =>
    showProgress('Replacing the keys', options.json === true, async () => {
      if (await finishRotation(place)) return null
      const keys = prepareKeys(place)
      // Written with the old keys: it is their last event, and closing the store seals it.
      const { fingerprint } = keys
      await recordOffline(place, [{ type: 'ledger_keys_rotated', fingerprint, reason: options.reason }])
      await keys.apply()
      return keys.fingerprint
    }),
  )
  if (options.json === true) return printJson({ state_dir: dir, fingerprint })
  print(
    fingerprint === null
      ? `Finished the rotation that was interrupted in ${dir}.`
      : `The ledger in ${dir} has new keys. SHA-256 of the new public key: ${fingerprint}`,
  )
  tell('Give ledger.ed25519.pub to everybody who checks exports and backups. Exports made before keep the old key.')
  if (place.url !== null)
    tell('Prepare the other nodes again (phaselock nodes prepare DIR) and put their node.id back before they start.')
}
