import { useInfiniteQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useState } from 'react'
import { api } from '../../api/client.js'
import type { ApiProblem } from '../../api/problem.js'
import type { LedgerEvent } from '../../live/event.js'
import { useEvents } from '../../live/use-live.js'
import { type AuditFilter, toQuery } from './audit-filter.js'

/** A page of a search. It may have few events, or none, and a next one all the same. */
export interface EventPage {
  readonly events: readonly LedgerEvent[]
  readonly next_cursor: string | null
  /** The numbers of the events that were looked at, newest first. */
  readonly searched: { readonly from: number; readonly to: number }
}

/** What was found so far. */
export interface Found {
  readonly events: readonly LedgerEvent[]
  /** How many events were looked at, */
  readonly searched: number
  /** out of so many. */
  readonly total: number
}

const PAGE_EVENTS = 100
/** Until so many are found, the search goes on by itself: they fill a screen. */
const FEW_EVENTS = 40
const NEW_COUNTED_MAX = 1000

/**
 * The events of a filter, newest first, page by page. The key is not among those that events refresh: what arrives
 * meanwhile is counted, and shown when the person asks for it.
 */
function useLedger(filter: AuditFilter) {
  const query = toQuery(filter)
  return useInfiniteQuery<EventPage, ApiProblem, Found, readonly unknown[], string | null>({
    queryKey: ['ledger', query],
    queryFn: ({ pageParam, signal }) =>
      api.get<EventPage>('/audit/query', { query: { ...query, limit: PAGE_EVENTS, cursor: pageParam }, signal }),
    initialPageParam: null,
    getNextPageParam: (page) => page.next_cursor,
    select: ({ pages }) => sumPages(pages),
  })
}

function sumPages(pages: readonly EventPage[]): Found {
  const total = pages[0]?.searched.from ?? 0
  const last = pages.at(-1)
  return {
    events: pages.flatMap(({ events }) => events),
    searched: last === undefined || last.next_cursor === null ? total : total - last.searched.to + 1,
    total,
  }
}

export type LedgerSearch = ReturnType<typeof useLedgerSearch>

/** A search that goes on through the ledger until a screen is full, it is stopped or a page fails. */
export function useLedgerSearch(filter: AuditFilter) {
  const ledger = useLedger(filter)
  const [isStopped, setStopped] = useState(false)
  const { data, hasNextPage, isFetching, isFetchNextPageError, fetchNextPage } = ledger
  const canGoOn = hasNextPage && !isFetching && !isStopped && !isFetchNextPageError
  const goOn = useCallback(() => {
    setStopped(false)
    void fetchNextPage()
  }, [fetchNextPage])
  useEffect(() => {
    if (canGoOn && (data?.events.length ?? 0) < FEW_EVENTS) goOn()
  }, [canGoOn, data, goOn])
  const stop = useCallback(() => setStopped(true), [])
  return { ...ledger, isStopped, canGoOn, goOn, stop }
}

/** How many events came since the list was loaded. */
export function useNewEvents(newest: number): { readonly count: number; readonly isMany: boolean } {
  const [count, setCount] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the count begins again when the list begins with a newer event
  useEffect(() => setCount(0), [newest])
  useEvents(() => setCount((before) => Math.min(NEW_COUNTED_MAX, before + 1)))
  return { count, isMany: count === NEW_COUNTED_MAX }
}
