import type { CoordinationRun } from '../../core/councils/council.js'
import type { MintedToken } from '../identity/tokens.js'
import type { Resources } from '../resources.js'

/** How long a participant's token stays valid after the latest possible end of its council. */
const GRACE_MS = 60_000

/** A token for a participant, valid as long as its council can last. */
export function makeParticipantToken(
  app: Pick<Resources, 'tokens' | 'now'>,
  run: CoordinationRun,
  agentId: string,
): MintedToken {
  const { timeoutSeconds, roundTimeoutSeconds } = run.options
  const expiresAt = run.startedAt + (timeoutSeconds + roundTimeoutSeconds) * 1000 + GRACE_MS
  return app.tokens.mintParticipantToken({ runId: run.id, agentId, expiresAt }, app.now())
}
