import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Page } from '../../app/page.js'
import { EmptyState } from '../../ui/states.js'
import { type AuditFilter, readFilter } from './audit-filter.js'
import { AuditFilters } from './audit-filters.js'
import { ChainState } from './chain-state.js'
import { LedgerList } from './ledger-list.js'
import './audit.css'

/** Search and filters over the ledger, kept in the address; the state of the chain; export. */
export function AuditPage(): ReactNode {
  const filter = readFilter(useSearch({ strict: false }) as Readonly<Record<string, unknown>>)
  const navigate = useNavigate()
  const change = (next: AuditFilter): void =>
    void navigate({ to: '/audit', search: readFilter({ ...next }) as never, replace: true })
  return (
    <Page title="Audit">
      <ChainState filter={filter} />
      <AuditFilters filter={filter} onChange={change} />
      {filter.q?.length === 1 ? (
        <EmptyState icon="search" title="Type at least two characters">
          A search for one character would find nearly every event.
        </EmptyState>
      ) : (
        <LedgerList key={JSON.stringify(filter)} filter={filter} onClear={() => change({})} />
      )}
    </Page>
  )
}
