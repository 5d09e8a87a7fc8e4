import { Link, useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { type InboxItem, useInbox } from '../../api/inbox.js'
import { usePauseReason } from '../../api/pause.js'
import { Page } from '../../app/page.js'
import { useListCursor } from '../../app/use-list-cursor.js'
import { toButtonClass } from '../../ui/button.js'
import { Segmented } from '../../ui/controls.js'
import { Section } from '../../ui/layout-parts.js'
import { toPlainText } from '../../ui/plain-text.js'
import { EmptyState, Loaded, Note } from '../../ui/states.js'
import { AtWork } from './at-work.js'
import { InboxRow } from './inbox-row.js'
import { toItemLink } from './item-look.js'
import './inbox.css'
import { LatestRefusals } from './latest-refusals.js'
import { useFocusOnNextRow } from './use-focus-on-next-row.js'
import { useSteadyList } from './use-steady-list.js'

const NEAR_MAX = 10

type Filter = 'all' | 'approvals' | 'stuck'

/** What waits for a person, with what to do about it, and what happens right now. */
export function InboxPage(): ReactNode {
  const inbox = useInbox()
  return (
    <Page title="Inbox" cols>
      <div>
        <PausedNote />
        <Loaded what="The inbox" query={inbox} rows={5}>
          {({ items, total }) => <Queue items={items} total={total} />}
        </Loaded>
      </div>
      <aside className="rail" aria-label="Right now">
        <AtWork />
        <LatestRefusals />
      </aside>
    </Page>
  )
}

/** Nothing goes on while all agents are paused: whoever looks here has to know it. */
function PausedNote(): ReactNode {
  const reason = usePauseReason()
  if (reason === null) return null
  return (
    <div className="paused" role="status">
      <Note
        tone="parked"
        icon="pause"
        title="All agents are paused"
        actions={
          <Link className={toButtonClass({})} to="/settings" search={{ tab: 'agents' } as never}>
            Let them go on…
          </Link>
        }
      >
        {reason === '' ? 'Every call of an agent is refused.' : `“${toPlainText(reason)}”`}
      </Note>
    </div>
  )
}

function Queue({ items, total }: { readonly items: readonly InboxItem[]; readonly total: number }): ReactNode {
  const navigate = useNavigate()
  const [filter, setFilter] = useState<Filter>('all')
  const wanted = items.filter((item) => isShown(item, filter))
  const { shown, waiting, release } = useSteadyList(wanted, toKey)
  const cursor = useListCursor(
    shown.map(toKey),
    (key) => {
      const item = shown.find((one) => toKey(one) === key)
      if (item !== undefined) void navigate(toItemLink(item))
    },
    'item',
  )
  const list = useFocusOnNextRow(shown.map(toKey))
  return (
    <Section
      title="Waiting for you"
      count={total}
      end={
        <>
          <span className="hide-s">oldest first</span>
          <Segmented
            label="Show"
            value={filter}
            onChange={setFilter}
            options={[
              { value: 'all', name: 'All' },
              { value: 'approvals', name: 'Approvals' },
              { value: 'stuck', name: 'Stuck' },
            ]}
          />
        </>
      }
    >
      {waiting === 0 ? null : (
        <button type="button" className="newer" onClick={release}>
          {waiting} new
        </button>
      )}
      {shown.length === 0 ? <NothingWaits isFiltered={items.length > 0} /> : null}
      {shown.length === 0 ? null : (
        <ol className="queue" aria-label="Waiting for you" ref={list}>
          {shown.map((item, index) => (
            <InboxRow
              key={toKey(item)}
              item={item}
              rowId={toKey(item)}
              isNear={index < NEAR_MAX}
              isCurrent={cursor.current === toKey(item)}
              onFocus={() => cursor.setCurrent(toKey(item))}
            />
          ))}
        </ol>
      )}
      {total > items.length ? <p className="muted">{total - items.length} more are not shown.</p> : null}
    </Section>
  )
}

function NothingWaits({ isFiltered }: { readonly isFiltered: boolean }): ReactNode {
  return (
    <div className="panel">
      <EmptyState
        title={isFiltered ? 'Nothing of this kind waits for you' : 'Nothing waits for you'}
        actions={
          <Link className={toButtonClass({})} to="/board">
            Open the board
          </Link>
        }
      >
        You will see it here, and in the title of this tab, when an agent needs a decision.
      </EmptyState>
    </div>
  )
}

function toKey({ kind, id }: InboxItem): string {
  return `${kind}:${id}`
}

function isShown({ kind }: InboxItem, filter: Filter): boolean {
  if (filter === 'approvals') return kind === 'approval'
  return filter === 'all' || STUCK.has(kind)
}

const STUCK: ReadonlySet<InboxItem['kind']> = new Set(['parked', 'unexplained', 'tree_missing', 'alert'])
