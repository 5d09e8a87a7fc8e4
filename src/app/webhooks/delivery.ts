import { createHmac } from 'node:crypto'
import type { StoredEvent } from '../../store/store.js'
import { AddressRefused, askPublic } from '../../tools/web/public-request.js'
import { PROGRAM_VERSION } from '../version.js'
import { toEventView } from '../wire.js'

const TIMEOUT_MS = 10_000
const PRIVATE =
  'it leads to a private address, and no operator added the contract. An operator without the role ci can add it: `phaselock contract add FILE`'

/** The address for notices and the signing secret; no secret: unsigned. */
export interface Receiver {
  readonly url: string
  readonly secret: string | null
}

/** Why the receiver did not accept an event; the reason never contains the address. */
interface DeliveryProblem {
  readonly reason: string
  /** Further attempts cannot succeed. */
  readonly isFinal: boolean
}

export interface DeliveryOptions {
  readonly now: number
  readonly ended: AbortSignal
  /** `public`: no operator trusted the contract, so private addresses are refused. */
  readonly reach: 'any' | 'public'
}

/** Sends one event, at `now`, until `ended`. Null when the receiver accepted it. */
export async function deliver(
  receiver: Receiver,
  event: StoredEvent,
  { now, ended, reach }: DeliveryOptions,
): Promise<DeliveryProblem | null> {
  const body = JSON.stringify({ task_id: event.stream.replace(/^task:/, ''), ...toEventView(event) })
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
    const headers = {
      'content-type': 'application/json',
      'user-agent': `phaselock/${PROGRAM_VERSION}`,
      'x-phaselock-event': event.type,
      // The same for every attempt, so that receivers can detect duplicates.
      'x-phaselock-delivery': String(event.seq),
      'x-phaselock-timestamp': timestamp,
      ...(receiver.secret === null
        ? {}
        : { 'x-phaselock-signature': computeSignature(receiver.secret, timestamp, body) }),
    }
    const post = reach === 'public' ? postPublic : postAnywhere
    const status = await post(receiver.url, { headers, body, signal: limit.signal })
    return status >= 200 && status < 300 ? null : { reason: `it answered ${status}`, isFinal: false }
  } catch (error) {
    if (error instanceof AddressRefused && error.code === 'constraint_violation')
      return { reason: PRIVATE, isFinal: true }
    const reason = isLate ? `it did not answer within ${TIMEOUT_MS / 1000} seconds` : 'it cannot be reached'
    return { reason, isFinal: false }
  } finally {
    clearTimeout(timer)
    ended.removeEventListener('abort', end)
  }
}

interface Post {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly signal: AbortSignal
}

async function postAnywhere(url: string, post: Post): Promise<number> {
  const response = await fetch(url, { method: 'POST', redirect: 'manual', ...post })
  await response.body?.cancel()
  return response.status
}

async function postPublic(url: string, post: Post): Promise<number> {
  const answer = await askPublic(new URL(url), { method: 'POST', ...post })
  answer.destroy()
  return answer.statusCode ?? 0
}

/** `v1=` and the HMAC-SHA256 of the timestamp, a dot and the body, in hexadecimal digits. */
function computeSignature(secret: string, timestamp: string, body: string): string {
  return `v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`
}
