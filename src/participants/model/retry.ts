import { setTimeout as sleep } from 'node:timers/promises'
import type { ChatFailure } from './failures.js'

export interface RetryLimits {
  readonly attemptsMax: number
  readonly backoffMs: number
  readonly retryAfterMsMax: number
}

const TOO_MANY_REQUESTS = 429
const SERVER_ERRORS_FROM = 500

/** How long to wait before the next attempt; null when there must be none. `chance` is between 0 and 1. */
export function waitBeforeRetry(
  failure: ChatFailure,
  retryAfter: string | null,
  limits: RetryLimits,
  moment: { readonly now: number; readonly chance: number },
): number | null {
  const { status, attempts } = failure
  if (status === null || attempts >= limits.attemptsMax) return null
  if (status !== TOO_MANY_REQUESTS && status < SERVER_ERRORS_FROM) return null
  const asked = readRetryAfter(retryAfter, moment.now)
  if (asked !== null) return asked <= limits.retryAfterMsMax ? asked : null
  const spread = limits.backoffMs * 2 ** (attempts - 1)
  return Math.min(limits.retryAfterMsMax, Math.round(spread * (0.5 + moment.chance / 2)))
}

/** Waits; false when `signal` fired. */
export async function waitUnlessAborted(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(ms, undefined, { signal })
    return true
  } catch (error) {
    if (signal.aborted) return false
    throw error
  }
}

function readRetryAfter(header: string | null, now: number): number | null {
  if (header === null) return null
  if (/^\s*\d{1,9}(\.\d{1,9})?\s*$/.test(header)) return Math.ceil(Number(header) * 1000)
  const at = Date.parse(header)
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}
