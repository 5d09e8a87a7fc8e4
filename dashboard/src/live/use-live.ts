import { useEffect, useEffectEvent, useSyncExternalStore } from 'react'
import { getConnection, subscribeToEvents, subscribeToState } from './connection.js'
import type { Connection, LedgerEvent } from './event.js'

/** The state of the connection; renders again when it changes. `lastSeq` changes with every event. */
export function useConnection(): Connection {
  return useSyncExternalStore(subscribeToState, getConnection)
}

/** Renders again only when the status changes. */
export function useConnectionStatus(): Connection['status'] {
  return useSyncExternalStore(subscribeToState, () => getConnection().status)
}

/** Calls back for every event, while the component is shown. */
export function useEvents(onEvent: (event: LedgerEvent) => void): void {
  const latest = useEffectEvent(onEvent)
  useEffect(() => subscribeToEvents((event) => latest(event)), [])
}
