import { resolve } from 'node:path'
import { prepareNode } from '../../store/prepare-node.js'
import { StoreRefused } from '../../store/store.js'
import { findLedgerStateDir } from '../client/ledger-place.js'
import { EXIT, Stop } from '../exit.js'
import { print } from '../terminal/terminal.js'

/** Makes the state directory of a further node from that of an existing one. */
export function prepareNodeCommand(dir: string, options: { readonly stateDir?: string }): void {
  const from = findLedgerStateDir(options.stateDir)
  if (from === null) throw new Stop(EXIT.usage, 'Name the state directory of a node with --state-dir.')
  const to = resolve(dir)
  try {
    prepareNode(from, to)
  } catch (error) {
    throw error instanceof StoreRefused ? new Stop(EXIT.refused, error.message) : error
  }
  print(`${to} is ready: it holds the keys of the ledger, so move it over a safe channel.`)
  print(
    `Start the node with: phaselock serve --state-dir ${to} --store postgres://… --advertise http://its-address:8000`,
  )
}
