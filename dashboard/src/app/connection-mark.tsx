import { type ReactNode, useDeferredValue } from 'react'
import { tryNow } from '../live/connection.js'
import { useConnection } from '../live/use-live.js'
import { formatCount, formatDuration, useNow } from '../ui/time.js'

/** Whether what is shown is live. The one place that says it. */
export function ConnectionMark(): ReactNode {
  const { status, lastSeq, nextTryAt } = useDeferredValue(useConnection())
  if (status === 'retrying')
    return (
      <span className="live live--retry">
        <span className="live__dot" />
        <span role="status">Connection lost</span>
        <span className="hide-s">
          <NextTry at={nextTryAt} />
        </span>
        <button type="button" className="link" onClick={tryNow}>
          Now
        </button>
      </span>
    )
  const isLive = status === 'live'
  return (
    <span className={isLive ? 'live' : 'live live--wait'}>
      <span className="live__dot" />
      <span role="status">{isLive ? 'Live' : 'Connecting'}</span>
      {lastSeq === null ? null : <span className="hide-s muted">event {formatCount(lastSeq)}</span>}
    </span>
  )
}

function NextTry({ at }: { readonly at: number | null }): ReactNode {
  const leftMs = (at ?? 0) - useNow()
  return leftMs <= 0 ? 'trying again' : `trying again in ${formatDuration(leftMs)}`
}
