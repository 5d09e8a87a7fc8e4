import { readChainKey, readPublicKey } from '../keys.js'
import type { VerifyReport } from '../store.js'
import { readHead } from '../write/head.js'
import { makeFailedReport, makeProblem, type Outside } from './ledger-walk.js'
import { startCheckpointWalk } from './verify-seals.js'

/**
 * The keys, the head and the checkpoints of a ledger. They are read before the database: a server that writes meanwhile
 * only makes the log longer.
 */
export function readOutside(
  dir: string,
): { readonly ok: true; readonly outside: Outside } | { readonly ok: false; readonly report: VerifyReport } {
  const key = readChainKey(dir)
  const publicKey = readPublicKey(dir)
  if (key === null) return refuse('ledger.key is missing or damaged: nothing can be verified.')
  if (publicKey === null) return refuse('ledger.ed25519.pub is missing.')
  return { ok: true, outside: { key, head: readHead(dir, key), checkpoints: startCheckpointWalk(dir, key, publicKey) } }
}

function refuse(detail: string) {
  return { ok: false, report: makeFailedReport(makeProblem('key_missing', detail)) } as const
}
