import type { App } from '../app.js'
import type { KeptAnswer, Once } from '../kept-answer.js'

// Never has an event: what is kept under a key belongs to no stream.
const NO_STREAM = 'idempotency-keys'

/**
 * Keeps an answer under its idempotency key where nothing was appended that could have kept it in the same
 * transaction. A key that is taken keeps the answer that it has.
 */
export async function keepAnswer(
  app: Pick<App, 'ledger'>,
  once: Once | undefined,
  kept: { readonly status: number; readonly answer: KeptAnswer },
): Promise<void> {
  if (once === undefined) return
  await app.ledger.writeTo({ stream: NO_STREAM, expectedVersion: 0, events: [], remember: { ...once, ...kept } })
}
