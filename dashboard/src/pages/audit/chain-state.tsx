import { type ReactNode, useState } from 'react'
import { api } from '../../api/client.js'
import { useAct } from '../../api/use-api.js'
import { Button } from '../../ui/button.js'
import { Icon } from '../../ui/icon.js'
import { ActionProblem } from '../../ui/states.js'
import { Age } from '../../ui/time.js'
import type { AuditFilter } from './audit-filter.js'
import { useLedgerStats } from './audit-filters.js'
import { ExportEvents } from './export-events.js'

interface Verified {
  readonly ok: boolean
  readonly events: number
  readonly streams: number
  readonly checkpoints: number
  readonly problems: readonly { readonly code: string; readonly detail: string; readonly seq?: number }[]
}

/** What is known about the chain, a button that verifies it whole, and the export. */
export function ChainState({ filter }: { readonly filter: AuditFilter }): ReactNode {
  const { data, isError } = useLedgerStats()
  const [startedAt, setStartedAt] = useState<string | null>(null)
  const [at, setAt] = useState<string | null>(null)
  const verify = useAct(() => api.get<Verified>('/audit/verify'))
  const begin = (): void => {
    setStartedAt(new Date().toISOString())
    verify.mutate(undefined, { onSettled: () => setAt(new Date().toISOString()) })
  }
  return (
    <section className="aud-chain" aria-label="State of the ledger">
      <Verdict verified={verify.data ?? null} at={at} events={data?.events ?? null} isUnknown={isError} />
      <div className="acts">
        <Button icon="shield" busy={verify.isPending} onClick={begin}>
          Verify the chain
        </Button>
        <ExportEvents filter={filter} />
      </div>
      {verify.isPending && startedAt !== null ? (
        <div className="aud-verify" role="status">
          <progress aria-label="Verification" />
          <span className="muted">
            Verifying {data?.events.toLocaleString('en-GB') ?? 'all'} events, <Age since={startedAt} /> so far. You can
            go on reading.
          </span>
        </div>
      ) : null}
      {verify.error === null ? null : <ActionProblem error={verify.error} />}
      <Problems verified={verify.data ?? null} />
    </section>
  )
}

function nameCount(events: number | null, isUnknown: boolean): string {
  if (events !== null) return `${events.toLocaleString('en-GB')} events`
  return isUnknown ? 'Events' : 'Counting events'
}

interface VerdictProps {
  readonly verified: Verified | null
  readonly at: string | null
  readonly events: number | null
  /** The server did not say how many there are. */
  readonly isUnknown: boolean
}

function Verdict({ verified, at, events, isUnknown }: VerdictProps): ReactNode {
  if (verified === null)
    return (
      <span className="soft">
        <Icon name="audit" size={14} /> {nameCount(events, isUnknown)}, each bound to the one before it. Not verified
        since you opened this page.
      </span>
    )
  return (
    <span className={verified.ok ? 'ok strong' : 'bad strong'} role="status">
      <Icon name={verified.ok ? 'ok-circle' : 'x-circle'} size={14} />{' '}
      {verified.ok
        ? `Intact: ${verified.events.toLocaleString('en-GB')} events in ${verified.streams.toLocaleString('en-GB')} streams`
        : `Not intact: ${verified.problems.length} ${verified.problems.length === 1 ? 'problem' : 'problems'}`}
      {at === null ? null : (
        <span className="muted">
          , verified <Age since={at} /> ago
        </span>
      )}
    </span>
  )
}

const PROBLEMS_SHOWN = 20

function Problems({ verified }: { readonly verified: Verified | null }): ReactNode {
  if (verified === null || verified.ok) return null
  return (
    <ul className="aud-verify aud-problems">
      {verified.problems.slice(0, PROBLEMS_SHOWN).map((problem) => (
        <li key={`${problem.code} ${problem.seq ?? ''} ${problem.detail}`}>
          <code>{problem.code}</code> {problem.detail}
          {problem.seq === undefined ? '' : ` (event ${problem.seq})`}
        </li>
      ))}
      {verified.problems.length > PROBLEMS_SHOWN ? <li>{verified.problems.length - PROBLEMS_SHOWN} more</li> : null}
    </ul>
  )
}
