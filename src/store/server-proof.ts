import { createHmac } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomically } from '../base/atomic-file.js'
import { readChainKey } from './keys.js'

export const PROOF_KEY_FILE = 'server-proof.key'
/** The nonce that a client sends to make a server prove itself: 32 random bytes, in hexadecimal. */
const NONCE = /^[0-9a-f]{64}$/

/**
 * The answer to a nonce that only a process with access to this state directory can give. Bound to the server's
 * address: another program cannot forward the challenge and use the result. Null without a key.
 */
export function computeServerProof(
  stateDir: string,
  about: { readonly url: string; readonly nonce: string },
): string | null {
  const own = readProofKey(stateDir)
  if (own === null || !NONCE.test(about.nonce)) return null
  return createHmac('sha256', own).update(`${about.url}\n${about.nonce}`).digest('hex')
}

/** Leaves the key of the proof beside the state, for the host of a container: the key of the ledger stays inside. */
export function writeProofKey(stateDir: string): void {
  const own = readProofKey(stateDir)
  if (own !== null) writeFileAtomically(join(stateDir, PROOF_KEY_FILE), `${own.toString('hex')}\n`)
}

function readProofKey(stateDir: string): Buffer | null {
  const key = readChainKey(stateDir)
  // A separate key: nothing signed here is valid in the ledger.
  if (key !== null) return createHmac('sha256', key).update('phaselock server proof').digest()
  const file = join(stateDir, PROOF_KEY_FILE)
  return existsSync(file) ? Buffer.from(readFileSync(file, 'utf8').trim(), 'hex') : null
}
