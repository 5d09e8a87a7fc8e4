import { createHmac } from 'node:crypto'
import { readChainKey } from './keys.js'

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
  const key = readChainKey(stateDir)
  if (key === null || !NONCE.test(about.nonce)) return null
  // A separate key: nothing signed here is valid in the ledger.
  const own = createHmac('sha256', key).update('phaselock server proof').digest()
  return createHmac('sha256', own).update(`${about.url}\n${about.nonce}`).digest('hex')
}
