import { once } from 'node:events'
import { createWriteStream, renameSync, rmSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { exportLedger } from '../../store/export/export-ledger.js'
import { StoreRefused } from '../../store/store.js'
import type { StorePlace } from '../../store/store-place.js'
import { findLedgerStateDir } from '../client/ledger-place.js'
import { EXIT, Stop } from '../exit.js'
import { readStoreUrl } from '../server/store-url.js'
import { print, printJson, tell } from '../terminal/terminal.js'

export interface ExportOptions {
  readonly output?: string
  readonly stateDir?: string
  readonly json?: boolean
}

/** Writes the ledger of a state directory. The file appears under its name only when it is whole. */
export async function exportCommand(options: ExportOptions): Promise<void> {
  const dir = findLedgerStateDir(options.stateDir)
  if (dir === null)
    throw new Stop(EXIT.refused, 'There is no ledger here. Name its state directory with --state-dir DIR.')
  const place = { dir, url: readStoreUrl(undefined) }
  try {
    const { output } = options
    if (output === undefined) return void (await exportLedger(place, makeLineWriter(process.stdout)))
    const partial = `${output}.partial`
    const summary = await exportTo(place, partial).catch((error: unknown) => {
      rmSync(partial, { force: true })
      throw error
    })
    renameSync(partial, output)
    if (options.json === true) return printJson({ file: output, ...summary })
    print(`Wrote ${summary.events} events in ${summary.streams} streams to ${output}`)
    tell(`Check it anywhere: phaselock audit verify ${output} --public-key ledger.ed25519.pub`)
    tell(`The public key is in ${dir}`)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (error instanceof StoreRefused) throw new Stop(EXIT.refused, error.message)
    if (code === 'ENOENT' || code === 'EACCES' || code === 'ENOSPC')
      throw new Stop(EXIT.refused, `${options.output ?? 'The output'} cannot be written (${code}).`)
    throw error
  }
}

async function exportTo(place: StorePlace, file: string) {
  const out = createWriteStream(file, { mode: 0o600 })
  await once(out, 'open')
  const summary = await exportLedger(place, makeLineWriter(out))
  out.end()
  await once(out, 'finish')
  return summary
}

function makeLineWriter(out: Writable): (line: string) => Promise<void> {
  return async (line) => {
    if (!out.write(`${line}\n`)) await once(out, 'drain')
  }
}
