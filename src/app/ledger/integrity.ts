import type { App } from '../app.js'

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
  verify().catch((error: unknown) => {
    if (integrity === 'unchecked') onFault(error)
  })
  return () => integrity
}
