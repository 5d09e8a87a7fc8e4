import { ApiProblem } from '../api/problem.js'
import { endSession } from '../api/session.js'
import type { Connection, LedgerEvent } from './event.js'
import { readEvents } from './read-events.js'

const CHANNEL = 'phaselock-events'
const FIRST_WAIT_MS = 500
const WAIT_MS_MAX = 15_000

type Message =
  | { readonly kind: 'event'; readonly event: LedgerEvent }
  | { readonly kind: 'state'; readonly state: Connection }
  | { readonly kind: 'hello' }
  | { readonly kind: 'try-now' }

const OFF: Connection = { status: 'off', lastSeq: null, lostAt: null, nextTryAt: null }

let state: Connection = OFF
let stopping: AbortController | null = null
let isLeader = false
let wakeUp: () => void = () => undefined
const stateListeners = new Set<() => void>()
const eventListeners = new Set<(event: LedgerEvent) => void>()
const channel = new BroadcastChannel(CHANNEL)

/** Starts following events. Tabs of one browser share one stream: the one that holds the lock reads it for all. */
export function startConnection(): () => void {
  const stop = new AbortController()
  stopping?.abort()
  stopping = stop
  setState({ ...state, status: 'connecting' })
  channel.onmessage = ({ data }: MessageEvent<Message>) => receive(data)
  channel.postMessage({ kind: 'hello' } satisfies Message)
  void lead(stop.signal)
  const tryNow = (): void => wakeUp()
  addEventListener('online', tryNow)
  return () => {
    stop.abort()
    removeEventListener('online', tryNow)
    setState(OFF)
  }
}

export function subscribeToState(listener: () => void): () => void {
  stateListeners.add(listener)
  return () => stateListeners.delete(listener)
}

export function getConnection(): Connection {
  return state
}

export function subscribeToEvents(listener: (event: LedgerEvent) => void): () => void {
  eventListeners.add(listener)
  return () => eventListeners.delete(listener)
}

/** Ends the wait before the next attempt, also when another tab does the waiting. */
export function tryNow(): void {
  wakeUp()
  channel.postMessage({ kind: 'try-now' } satisfies Message)
}

// Locks exist only on localhost and under TLS. Elsewhere every tab reads for itself.
async function lead(signal: AbortSignal): Promise<void> {
  const follow = async (): Promise<void> => {
    isLeader = true
    await keepReading(signal)
    isLeader = false
  }
  if (!('locks' in navigator)) return follow()
  try {
    await navigator.locks.request(CHANNEL, { signal }, follow)
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

async function keepReading(signal: AbortSignal): Promise<void> {
  let waitMs = FIRST_WAIT_MS
  while (!signal.aborted) {
    try {
      await readEvents({
        after: state.lastSeq,
        signal,
        onOpen: () => {
          waitMs = FIRST_WAIT_MS
          share({ ...state, status: 'live', lostAt: null, nextTryAt: null })
        },
        onEvent: (event) => {
          take(event)
          channel.postMessage({ kind: 'event', event } satisfies Message)
        },
      })
    } catch (error) {
      if (error instanceof ApiProblem && error.isLoggedOut) return endSession('ended')
    }
    if (signal.aborted) return
    share({ ...state, status: 'retrying', lostAt: state.lostAt ?? Date.now(), nextTryAt: Date.now() + waitMs })
    await waitOrWake(waitMs, signal)
    waitMs = Math.min(WAIT_MS_MAX, waitMs * 2)
  }
}

// A random part, so that the dashboards of a restarted server do not all return at once.
function waitOrWake(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms * (0.75 + Math.random() / 2))
    wakeUp = () => {
      clearTimeout(timer)
      resolve()
    }
    signal.addEventListener('abort', wakeUp, { once: true })
  })
}

function receive(message: Message): void {
  if (message.kind === 'event') take(message.event)
  else if (message.kind === 'state') setState({ ...message.state, lastSeq: state.lastSeq ?? message.state.lastSeq })
  else if (message.kind === 'try-now') wakeUp()
  else if (isLeader) channel.postMessage({ kind: 'state', state } satisfies Message)
}

function take(event: LedgerEvent): void {
  if (state.lastSeq !== null && event.seq <= state.lastSeq) return
  setState({ ...state, lastSeq: event.seq })
  for (const listener of eventListeners) listener(event)
}

function share(next: Connection): void {
  setState(next)
  channel.postMessage({ kind: 'state', state: next } satisfies Message)
}

function setState(next: Connection): void {
  state = next
  for (const listener of stateListeners) listener()
}
