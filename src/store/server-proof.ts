import { createHmac } from 'node:crypto'
import { readChainKey } from './keys.js'

/** What a client may ask a server to prove itself with: 32 bytes of chance, in hexadecimal. */
export const NONCE = /^[0-9a-f]{64}$/

/**
 * What only a process that reads this state directory can answer to a nonce. It is bound to the address that the server
 * listens at: what listens elsewhere cannot pass the question on and answer with the result. Null without a key.
 */
export function computeServerProof(
  stateDir: string,
  about: { readonly url: string; readonly nonce: string },
): string | null {
  const key = readChainKey(stateDir)
  if (key === null || !NONCE.test(about.nonce)) return null
  // A key of its own: nothing that is signed here can stand in the ledger.
  const own = createHmac('sha256', key).update('phaselock server proof').digest()
  return createHmac('sha256', own).update(`${about.url}\n${about.nonce}`).digest('hex')
}
