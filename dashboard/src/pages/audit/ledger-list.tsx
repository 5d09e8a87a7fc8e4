import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { LedgerEvent } from '../../live/event.js'
import { Button } from '../../ui/button.js'
import { FailedState, LoadingState } from '../../ui/states.js'
import type { AuditFilter } from './audit-filter.js'
import { EventLine } from './event-lines.js'
import { ListTail, NothingFound } from './search-state.js'
import { useLedgerSearch, useNewEvents } from './use-ledger.js'

interface Props {
  readonly filter: AuditFilter
  readonly onClear: () => void
}

/** The events, newest first. Only those in view are drawn, and the next page is read when its end comes near. */
export function LedgerList({ filter, onClear }: Props): ReactNode {
  const search = useLedgerSearch(filter)
  const found = search.data
  if (found === undefined && search.error !== null)
    return <FailedState what="The ledger" error={search.error} onRetry={() => void search.refetch()} />
  if (found === undefined) return <LoadingState what="the ledger" rows={8} />
  const isFiltered = Object.keys(filter).length > 0
  return (
    <>
      <NewEvents newest={found.total} isFiltered={isFiltered} onShow={() => void search.refetch()} />
      {found.events.length === 0 ? (
        <NothingFound search={search} found={found} isFiltered={isFiltered} onClear={onClear} />
      ) : (
        <>
          <Rows events={found.events} canGoOn={search.canGoOn} onEnd={search.goOn} />
          <ListTail search={search} found={found} isFiltered={isFiltered} />
        </>
      )}
    </>
  )
}

interface NewEventsProps {
  readonly newest: number
  readonly isFiltered: boolean
  readonly onShow: () => void
}

/** Counts for itself: the list is not drawn again for each event that arrives. */
function NewEvents({ newest, isFiltered, onShow }: NewEventsProps): ReactNode {
  const { count, isMany } = useNewEvents(newest)
  return (
    <div className="aud-new" role="status">
      {count === 0 ? null : (
        <Button icon="retry" onClick={onShow}>
          {isMany ? 'Many' : count} new {count === 1 ? 'event' : 'events'}
          {isFiltered ? ', filtered or not' : ''}: show
        </Button>
      )}
    </div>
  )
}

const LINE_PX = 37
const NEAR_END_ROWS = 30

interface RowsProps {
  readonly events: readonly LedgerEvent[]
  readonly canGoOn: boolean
  readonly onEnd: () => void
}

function Rows({ events, canGoOn, onEnd }: RowsProps): ReactNode {
  const list = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  useEffect(() => setTop(list.current?.offsetTop ?? 0), [])
  const rows = useWindowVirtualizer({
    count: events.length,
    estimateSize: () => LINE_PX,
    getItemKey: (index) => events[index]?.seq ?? index,
    overscan: 6,
    scrollMargin: top,
  })
  const shown = rows.getVirtualItems()
  const last = shown.at(-1)?.index ?? 0
  useEffect(() => {
    if (canGoOn && last >= events.length - NEAR_END_ROWS) onEnd()
  }, [canGoOn, last, events.length, onEnd])
  return (
    <div ref={list} className="aud-list">
      <div className="aud-window" style={{ height: rows.getTotalSize() }}>
        {shown.map((row) => {
          const event = events[row.index]
          if (event === undefined) return null
          return (
            <div
              key={row.key}
              ref={rows.measureElement}
              data-index={row.index}
              className="aud-row"
              style={{ transform: `translateY(${row.start - top}px)` }}
            >
              <EventLine event={event} />
            </div>
          )
        })}
      </div>
    </div>
  )
}
