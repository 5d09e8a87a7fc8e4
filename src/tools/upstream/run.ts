import type { Code } from '../../core/codes.js'
import type { McpServer } from '../../core/contract/contract.js'
import type { UpstreamFailure } from './failure.js'

/** Where a server works, and its time limit. */
export interface UpstreamPlace {
  /** Absolute, resolved path of the task's work tree. */
  readonly tree: string
  /** Relative paths that servers must not be able to read. */
  readonly hidden: readonly string[]
  /** Fires when the call must end. */
  readonly signal: AbortSignal
  readonly timeoutMs: number
}

/** One request to a server, from its start to its end. */
export interface Run {
  readonly server: McpServer
  readonly place: UpstreamPlace
  readonly timeoutMs: number
  /** Fires when the request must end, for any reason. */
  readonly signal: AbortSignal
  stop(): void
  /** Why the request failed, for its caller. */
  wordOf(failure: UpstreamFailure): string
}

export function beginRun(server: McpServer, place: UpstreamPlace): Run {
  const ofServer = server.timeoutSeconds === null ? place.timeoutMs : server.timeoutSeconds * 1000
  const timeoutMs = Math.min(place.timeoutMs, ofServer)
  const stopped = new AbortController()
  const timeout = AbortSignal.timeout(timeoutMs)
  return {
    server,
    place,
    timeoutMs,
    signal: AbortSignal.any([place.signal, stopped.signal, timeout]),
    stop: () => stopped.abort(),
    wordOf: (failure) => {
      if (place.signal.aborted || stopped.signal.aborted) return 'the call was stopped'
      return timeout.aborted
        ? `no answer within ${timeoutMs / 1000} seconds (timed out)`
        : `the server ${failure.message}`
    },
  }
}

export type UpstreamOutcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly code: Code; readonly detail: string }
