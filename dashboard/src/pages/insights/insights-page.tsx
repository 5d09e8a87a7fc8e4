import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useMemo } from 'react'
import { keys } from '../../api/keys.js'
import { useRead } from '../../api/use-api.js'
import { Page } from '../../app/page.js'
import { Pick, Segmented } from '../../ui/controls.js'
import { EmptyState, Loaded, Note } from '../../ui/states.js'
import { useNow } from '../../ui/time.js'
import { BehindPanel } from './behind-panel.js'
import { findBehind } from './find-behind.js'
import { type Insights, listDays } from './insight-numbers.js'
import {
  AgentsPanel,
  DaysPanel,
  GatesPanel,
  HeatPanel,
  type RenderNumber,
  StuckPanel,
  TimePanel,
  WaitsPanel,
} from './insight-panels.js'
import { describeRange, findRange, findRangeBefore, isSpan, SPAN_NAMES, SPANS, type Span } from './insight-range.js'
import { InsightStats } from './insight-stats.js'
import './insights.css'

const MINUTE_MS = 60_000

interface Search {
  readonly span?: unknown
  readonly contract?: unknown
  readonly show?: unknown
}

/** What happened over a chosen time. Every number leads to the tasks behind it. */
export function InsightsPage(): ReactNode {
  const search = useSearch({ strict: false }) as Search
  const navigate = useNavigate()
  const span: Span = isSpan(search.span) ? search.span : '7d'
  const contract = typeof search.contract === 'string' ? search.contract : ''
  const range = findRange(span, useNow(MINUTE_MS))
  const query = useInsights(range, contract)
  const before = useInsights(findRangeBefore(range), contract)
  const change = (next: Search): void =>
    void navigate({ to: '/insights', search: { ...strip(search), ...next, show: undefined } as never, replace: true })
  return (
    <Page title="Insights">
      <div className="tools">
        <Segmented
          label="Time"
          value={span}
          options={(Object.keys(SPANS) as Span[]).map((value) => ({ value, name: SPAN_NAMES[value] }))}
          onChange={(value) => change({ span: value })}
        />
        <span className="muted hide-s">{describeRange(range)}</span>
        <div className="tools__end">
          <ContractPick value={contract} onChange={(value) => change({ contract: value === '' ? undefined : value })} />
        </div>
      </div>
      <Loaded what="The numbers" query={query} rows={6}>
        {(insights) => <Numbers insights={insights} before={before.data ?? null} search={search} />}
      </Loaded>
    </Page>
  )
}

function useInsights(range: { readonly since: string; readonly until: string }, contract: string) {
  const query = contract === '' ? { ...range } : { ...range, contract }
  return useRead<Insights>(keys.insights(query), '/insights', { query, keepPrevious: true })
}

function Numbers({
  insights,
  before,
  search,
}: {
  readonly insights: Insights
  readonly before: Insights | null
  readonly search: Search
}): ReactNode {
  const show = typeof search.show === 'string' ? search.show : ''
  const behind = useMemo(() => (show === '' ? null : findBehind(insights, show)), [insights, show])
  const perDay = listDays(insights, insights.since, insights.until)
  const numberLink: RenderNumber = (name, children, { label, className } = {}) => (
    <NumberLink key={name} name={name} label={label} className={className} search={search}>
      {children}
    </NumberLink>
  )
  if (insights.tasks.total === 0 && insights.refusals.total === 0)
    return (
      <EmptyState icon="chart" title="Nothing happened in this time">
        Choose a longer time above, or give an agent a task: <code>phaselock task add "…"</code>.
      </EmptyState>
    )
  return (
    <>
      {insights.truncated ? (
        <Note tone="pending" icon="warn" title="Not everything was counted">
          There is more in this time than the server reads at once. Choose a shorter time for exact numbers.
        </Note>
      ) : null}
      <InsightStats insights={{ ...insights, per_day: perDay }} before={before} numberLink={numberLink} />
      {show === '' ? null : <BehindPanel behind={behind} search={search} />}
      <div className="ins-panels">
        <DaysPanel insights={insights} numberLink={numberLink} perDay={perDay} />
        <GatesPanel insights={insights} numberLink={numberLink} />
        <TimePanel insights={insights} numberLink={numberLink} />
        <StuckPanel insights={insights} numberLink={numberLink} />
        <HeatPanel insights={insights} numberLink={numberLink} />
        <WaitsPanel insights={insights} numberLink={numberLink} />
        <AgentsPanel insights={insights} numberLink={numberLink} />
      </div>
    </>
  )
}

/** Refusals of one code in one phase are in the ledger; everything else opens in place. */
function NumberLink({
  name,
  label,
  className,
  search,
  children,
}: {
  readonly name: string
  readonly label: string | undefined
  readonly className: string | undefined
  readonly search: Search
  readonly children: ReactNode
}): ReactNode {
  const [kind, phase = '', code = ''] = name.split(':').map(decodeURIComponent)
  const about = {
    ...(label === undefined ? {} : { 'aria-label': label }),
    ...(className === undefined ? {} : { className }),
  }
  if (kind === 'events')
    return (
      <Link to="/audit" search={{ phase, code } as never} {...about}>
        {children}
      </Link>
    )
  return (
    <Link to="/insights" search={{ ...strip(search), show: name } as never} resetScroll={false} {...about}>
      {children}
    </Link>
  )
}

function strip(search: Search): Search {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined))
}

interface ContractRow {
  readonly hash: string
  readonly name: string
  readonly version: string
}

function ContractPick({
  value,
  onChange,
}: {
  readonly value: string
  readonly onChange: (value: string) => void
}): ReactNode {
  const { data } = useRead<{ readonly contracts: readonly ContractRow[] }>(keys.contracts, '/contracts')
  const options = (data?.contracts ?? []).map(({ hash, name, version }) => ({
    value: hash,
    name: `${name} ${version}`,
  }))
  return <Pick label="Contract" value={value} options={[{ value: '', name: 'any' }, ...options]} onChange={onChange} />
}
