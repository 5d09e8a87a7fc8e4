import { copyFileSync, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory } from '../base/atomic-file.js'
import { readChainKey } from './keys.js'
import { listLedgerFiles } from './ledger-files.js'
import { writeNewestCheckpoint } from './seals/seal-pointer.js'
import { takeStateDirectory } from './state-directory.js'
import { StoreRefused } from './store.js'
import { FIRST_PREV_HASH } from './write/chain.js'
import { readHead, writeWholeHead } from './write/head.js'

// The keys of the ledger, and how operators prove who they are. The rest belongs to one node.
const SHARED = [
  'ledger.key',
  'ledger.keys',
  'ledger.ed25519',
  'ledger.ed25519.pub',
  'operator.token',
  'operator.passphrases.json',
]

/**
 * Makes the state directory of a further node: the keys of this one, and its head, so that the new node notices from its
 * first start on when events were cut off.
 */
export function prepareNode(from: string, to: string): void {
  const key = readChainKey(from)
  const found = key === null ? null : readHead(from, key)
  if (key === null || found?.state !== 'valid')
    throw new StoreRefused('unreachable', `${from} is not the state directory of a node.`)
  if (existsSync(listLedgerFiles(from).database))
    throw new StoreRefused('unreachable', `The ledger in ${from} is in SQLite, which only one server can use.`)
  if (existsSync(to) && readdirSync(to).length > 0)
    throw new StoreRefused('unreachable', `${to} is not empty. Name a new directory.`)
  takeStateDirectory(to)
  for (const name of SHARED) if (existsSync(join(from, name))) copyFileSync(join(from, name), join(to, name))
  makeDirectory(listLedgerFiles(to).checkpoints)
  writeWholeHead(to, key, { head: found.head, generation: 0 })
  writeNewestCheckpoint(to, key, { seq: 0, hash: FIRST_PREV_HASH })
}
