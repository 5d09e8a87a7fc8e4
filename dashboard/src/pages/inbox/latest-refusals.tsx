import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { keys } from '../../api/keys.js'
import { useRead } from '../../api/use-api.js'
import type { LedgerEvent } from '../../live/event.js'
import { Section } from '../../ui/layout-parts.js'
import { Code } from '../../ui/marks.js'
import { toPlainText } from '../../ui/plain-text.js'
import { Loaded } from '../../ui/states.js'
import { dropToolList } from '../../ui/text/drop-tool-list.js'
import { Time } from '../../ui/time.js'
import type { EventPage } from '../audit/use-ledger.js'

const SHOWN_MAX = 8
const READ_MAX = 60
const DETAIL_CHARS_MAX = 160

/** Refusals as they come, newest first. */
export function LatestRefusals(): ReactNode {
  const refusals = useRead<EventPage>(keys.audit('refusals'), '/audit/query', {
    query: { success: 'false', limit: READ_MAX },
  })
  return (
    <Section
      title="Refused"
      end={
        <Link className="link" to="/audit" search={{ success: 'false' }}>
          Audit
        </Link>
      }
    >
      <Loaded what="The latest refusals" query={refusals} rows={3}>
        {({ events, next_cursor, searched }) =>
          events.length === 0 ? (
            <p className="muted">
              {next_cursor === null
                ? 'Nothing was refused yet.'
                : `Nothing was refused in the latest ${(searched.from - searched.to + 1).toLocaleString('en-GB')} events.`}
            </p>
          ) : (
            <ol className="feed" aria-label="Latest refusals">
              {foldEqual(events).map(({ event, count }) => (
                <Refusal key={event.seq} event={event} count={count} />
              ))}
            </ol>
          )
        }
      </Loaded>
    </Section>
  )
}

/** Refusals of one agent for one reason are one line, under the newest of them. */
function foldEqual(events: readonly LedgerEvent[]): readonly { readonly event: LedgerEvent; readonly count: number }[] {
  // An agent that is asked to wait for a person was not refused anything.
  const refused = events.filter(({ data }) => data.code !== 'approval_pending')
  const folded = Map.groupBy(refused, ({ actor, stream, data }) =>
    JSON.stringify([actor, stream, data.code, data.detail]),
  )
  return [...folded.values()]
    .flatMap((same) => (same[0] === undefined ? [] : [{ event: same[0], count: same.length }]))
    .slice(0, SHOWN_MAX)
}

function Refusal({ event, count }: { readonly event: LedgerEvent; readonly count: number }): ReactNode {
  const { code, detail, tool } = event.data
  const task = event.stream.startsWith('task:') ? event.stream.slice('task:'.length) : null
  const who = event.actor.replace(/^agent:/, '')
  // Most refusals name their phase themselves.
  const said = typeof detail === 'string' ? detail : typeof tool === 'string' ? `called ${tool}` : event.type
  const text = cut(dropToolList(said))
  return (
    <li>
      <Time at={event.at} />
      <div>
        <Code>{typeof code === 'string' ? code : event.type}</Code>
        {count === 1 ? null : <span className="muted"> {count} times</span>}
        <p>
          {who}
          {event.phase === null || text.includes(event.phase) ? '' : ` in ${event.phase}`}: {text}{' '}
          {task === null ? null : (
            <Link to="/tasks/$id" params={{ id: task }}>
              {task}
            </Link>
          )}
        </p>
      </div>
    </li>
  )
}

function cut(text: string): string {
  // Between words, where there are any.
  return toPlainText(
    text.length <= DETAIL_CHARS_MAX ? text : `${text.slice(0, DETAIL_CHARS_MAX).replace(/\s+\S{0,30}$/, '')}…`,
  )
}
