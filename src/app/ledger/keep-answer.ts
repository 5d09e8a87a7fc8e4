import type { App } from '../app.js'
import type { KeptAnswer, Once } from '../kept-answer.js'

// Never has an event: stored answers belong to no stream.
const NO_STREAM = 'idempotency-keys'

/**
 * Stores an answer under its idempotency key when no event was appended in whose transaction it could be stored. An
 * existing answer is kept.
 */
export async function keepAnswer(
  app: Pick<App, 'ledger'>,
  once: Once | undefined,
  kept: { readonly status: number; readonly answer: KeptAnswer },
): Promise<void> {
  if (once === undefined) return
  await app.ledger.writeTo({ stream: NO_STREAM, expectedVersion: 0, events: [], remember: { ...once, ...kept } })
}
