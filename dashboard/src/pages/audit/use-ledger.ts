import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api } from '../../api/client.js'
import type { ApiProblem } from '../../api/problem.js'
import type { LedgerEvent } from '../../live/event.js'
import { useEvents } from '../../live/use-live.js'
import { type AuditFilter, toQuery } from './audit-filter.js'

interface EventPage {
  readonly events: readonly LedgerEvent[]
  readonly next_cursor: string | null
}

const PAGE_EVENTS = 100
const NEW_COUNTED_MAX = 1000

/**
 * The events of a filter, newest first, page by page. The key is not among those that events refresh: what arrives
 * meanwhile is counted, and shown when the person asks for it.
 */
export function useLedger(filter: AuditFilter) {
  const query = toQuery(filter)
  const pages = useInfiniteQuery<EventPage, ApiProblem, readonly LedgerEvent[], readonly unknown[], string | null>({
    queryKey: ['ledger', query],
    queryFn: ({ pageParam, signal }) =>
      api.get<EventPage>('/audit/query', { query: { ...query, limit: PAGE_EVENTS, cursor: pageParam }, signal }),
    initialPageParam: null,
    getNextPageParam: (page) => page.next_cursor,
    select: ({ pages: loaded }) => loaded.flatMap(({ events }) => events),
  })
  return pages
}

/** How many events came since the list was loaded. */
export function useNewEvents(since: number): { readonly count: number; readonly isMany: boolean } {
  const [count, setCount] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the count begins again when the list was loaded again
  useEffect(() => setCount(0), [since])
  useEvents(() => setCount((before) => Math.min(NEW_COUNTED_MAX, before + 1)))
  return { count, isMany: count === NEW_COUNTED_MAX }
}
