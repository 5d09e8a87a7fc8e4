import type { CoordinationRun } from '../../core/councils/council.js'
import type { App } from '../app.js'
import type { MintedToken } from '../identity/tokens.js'

/** How long a participant's token lives on after the last moment that its run could take. */
const GRACE_MS = 60_000

/** A token for a participant, as long as its run can take. */
export function makeParticipantToken(
  app: Pick<App, 'tokens' | 'now'>,
  run: CoordinationRun,
  agentId: string,
): MintedToken {
  const { timeoutSeconds, roundTimeoutSeconds } = run.options
  const expiresAt = run.startedAt + (timeoutSeconds + roundTimeoutSeconds) * 1000 + GRACE_MS
  return app.tokens.mintParticipantToken({ runId: run.id, agentId, expiresAt }, app.now())
}
