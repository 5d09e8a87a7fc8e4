import type { ReactNode } from 'react'
import { Button } from '../../ui/button.js'
import { Icon } from '../../ui/icon.js'
import { ActionProblem, EmptyState } from '../../ui/states.js'
import type { Found, LedgerSearch } from './use-ledger.js'

interface Props {
  readonly search: LedgerSearch
  readonly found: Found
  readonly isFiltered: boolean
}

/** Instead of a list: nothing was found, yet or at all. */
export function NothingFound({
  search,
  found,
  isFiltered,
  onClear,
}: Props & { readonly onClear: () => void }): ReactNode {
  const clear = isFiltered ? <Button onClick={onClear}>Clear the filters</Button> : null
  if (!search.hasNextPage)
    return (
      <div role="status">
        <EmptyState icon="search" title="No event fits" actions={clear}>
          {isFiltered
            ? `All ${formatCount(found.total)} were searched. Try fewer filters, or another word.`
            : 'The ledger is empty.'}
        </EmptyState>
      </div>
    )
  if (search.isFetchNextPageError) return <SearchFailed search={search} found={found} />
  if (search.isStopped)
    return (
      <EmptyState
        icon="search"
        title="None found so far"
        actions={
          <>
            <Button onClick={search.goOn}>Search the rest</Button>
            {clear}
          </>
        }
      >
        {`Searched ${formatProgress(found)}.`}
      </EmptyState>
    )
  return (
    <div className="state">
      <Icon name="search" size={20} />
      <h3 className="h3">None found yet</h3>
      <SearchProgress found={found} />
      <div className="acts">
        <Button onClick={search.stop}>Stop</Button>
      </div>
    </div>
  )
}

/** Below the list: how far the search is, and whether there is more. */
export function ListTail({ search, found, isFiltered }: Props): ReactNode {
  const count = found.events.length.toLocaleString('en-GB')
  if (search.isFetchNextPageError) return <SearchFailed search={search} found={found} />
  if (!search.hasNextPage)
    return <p className="aud-tail">{found.events.length === 1 ? '1 event' : `${count} events`}, that is all</p>
  if (isFiltered && search.isStopped)
    return (
      <div className="aud-tail">
        {count} found, searched {formatProgress(found)} <Button onClick={search.goOn}>Search the rest</Button>
      </div>
    )
  if (isFiltered && search.isFetchingNextPage)
    return (
      <div className="aud-tail">
        <SearchProgress found={found} /> <Button onClick={search.stop}>Stop</Button>
      </div>
    )
  return (
    <p className="aud-tail">
      {search.isFetchingNextPage ? 'Reading older events…' : `${count} events read; scroll for older ones`}
    </p>
  )
}

function SearchProgress({ found }: { readonly found: Found }): ReactNode {
  return (
    <span className="aud-progress">
      <progress aria-label="Search" max={Math.max(1, found.total)} value={found.searched} />
      <span>
        Searched {formatProgress(found)},{' '}
        {found.events.length === 0 ? 'none fits yet' : `${found.events.length.toLocaleString('en-GB')} found`}
      </span>
    </span>
  )
}

function SearchFailed({ search, found }: Pick<Props, 'search' | 'found'>): ReactNode {
  return (
    <div className="aud-tail aud-failed">
      <ActionProblem error={search.error} />
      <div className="acts">
        Searched {formatProgress(found)}.
        <Button icon="retry" onClick={search.goOn}>
          Try again
        </Button>
      </div>
    </div>
  )
}

function formatProgress({ searched, total }: Found): string {
  return `${searched.toLocaleString('en-GB')} of ${formatCount(total)}`
}

function formatCount(events: number): string {
  return events === 1 ? '1 event' : `${events.toLocaleString('en-GB')} events`
}
