import { createHmac } from 'node:crypto'
import type { StoredEvent } from '../../store/port.js'
import { PROGRAM_VERSION } from '../version.js'
import { eventView } from '../wire.js'

const TIMEOUT_MS = 10_000

/** Where notices go, and what they are signed with; no secret: unsigned. */
export interface Receiver {
  readonly url: string
  readonly secret: string | null
}

/** Sends one event, at `now`, until `ended`. Null when the receiver took it, or why it did not; the reason never holds the address. */
export async function deliver(
  receiver: Receiver,
  event: StoredEvent,
  { now, ended }: { readonly now: number; readonly ended: AbortSignal },
): Promise<string | null> {
  const body = JSON.stringify({ task_id: event.stream.replace(/^task:/, ''), ...eventView(event) })
  const timestamp = String(Math.floor(now / 1000))
  const limit = new AbortController()
  const end = (): void => limit.abort()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    end()
  }, TIMEOUT_MS)
  ended.addEventListener('abort', end)
  try {
    const response = await fetch(receiver.url, {
      method: 'POST',
      redirect: 'manual',
      signal: limit.signal,
      headers: {
        'content-type': 'application/json',
        'user-agent': `phaselock/${PROGRAM_VERSION}`,
        'x-phaselock-event': event.type,
        // The same for every attempt: whoever has seen it has seen the event.
        'x-phaselock-delivery': String(event.seq),
        'x-phaselock-timestamp': timestamp,
        ...(receiver.secret === null ? {} : { 'x-phaselock-signature': signature(receiver.secret, timestamp, body) }),
      },
      body,
    })
    await response.body?.cancel()
    return response.ok ? null : `it answered ${response.status}`
  } catch {
    return isLate ? `it did not answer within ${TIMEOUT_MS / 1000} seconds` : 'it cannot be reached'
  } finally {
    clearTimeout(timer)
    ended.removeEventListener('abort', end)
  }
}

/** `v1=` and the HMAC-SHA256 of the timestamp, a dot and the body, in hexadecimal digits. */
export function signature(secret: string, timestamp: string, body: string): string {
  return `v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`
}
