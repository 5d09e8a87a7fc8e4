import { StoreUnavailable } from '../../store/store.js'
import type { App } from '../app.js'

const RETRY_MS = 5_000
const TRIES_MAX = 200

export type Integrity = 'unchecked' | 'ok' | 'broken'

/**
 * Verifies the whole ledger once, in the background, and records the result. A broken ledger makes the server not
 * ready.
 */
export function verifyInBackground(app: App, onFault: (error: unknown) => void): () => Integrity {
  let integrity: Integrity = 'unchecked'
  const verify = async (): Promise<void> => {
    const report = await app.ledger.store.verify()
    const [first] = report.problems
    integrity = report.ok ? 'ok' : 'broken'
    if (first !== undefined) onFault(new Error(`the ledger failed verification: ${first.detail}`))
    // A clean result at every start would only be noise; a bad one must be in the ledger.
    if (first !== undefined)
      await app.ledger.record(
        { type: 'ledger_verified', success: false, events: report.events, detail: first.detail },
        { now: app.now(), actor: 'system' },
      )
  }
  const verifyUntilDone = async (tries: number): Promise<void> => {
    try {
      await verify()
    } catch (error) {
      if (integrity !== 'unchecked') return
      onFault(error)
      // A store that is away says nothing about what it holds.
      if (error instanceof StoreUnavailable && tries < TRIES_MAX)
        setTimeout(() => void verifyUntilDone(tries + 1), RETRY_MS).unref()
    }
  }
  void verifyUntilDone(1)
  return () => integrity
}
