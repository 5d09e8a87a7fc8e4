import { Link } from '@tanstack/react-router'
import { memo, type ReactNode, useState } from 'react'
import type { LedgerEvent } from '../../live/event.js'
import { Icon, type IconName } from '../../ui/icon.js'
import { ScrollBox } from '../../ui/scroll-box.js'
import { showHidden } from '../../ui/text/hidden-characters.js'
import { PlainText } from '../../ui/text/plain-text.js'
import { formatCount, Time } from '../../ui/time.js'
import { summarize } from './audit-filter.js'
import './audit.css'

/** A short list of events, each of which opens to its raw form. */
export function EventLines({ events }: { readonly events: readonly LedgerEvent[] }): ReactNode {
  return (
    <ul className="aud-lines">
      {events.map((event) => (
        <li key={event.seq}>
          <EventLine event={event} />
        </li>
      ))}
    </ul>
  )
}

/** One event in one line; a press shows it as it is in the ledger. Lines that stay in view are not drawn again. */
export const EventLine = memo(function EventLine({ event }: { readonly event: LedgerEvent }): ReactNode {
  const [isOpen, setOpen] = useState(false)
  const { icon, tone } = findLook(event)
  return (
    <div className="aud-event">
      <button type="button" className="aud-line" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span className={`tone tone-${tone} aud-mark`}>
          <Icon name={icon} size={14} />
        </span>
        <span className="aud-type mono">{event.type}</span>
        <span className="aud-what">{showHidden(summarize(event.data))}</span>
        <span className="aud-who">{event.actor}</span>
        <span className="aud-when">
          <Time at={event.at} seconds />
        </span>
        <span className="aud-seq">{formatCount(event.seq)}</span>
      </button>
      {isOpen ? <RawEvent event={event} /> : null}
    </div>
  )
})

const RAW_CHARS_MAX = 20_000

function RawEvent({ event }: { readonly event: LedgerEvent }): ReactNode {
  const taskId = event.stream.startsWith('task:') ? event.stream.slice('task:'.length) : null
  const raw = JSON.stringify(event, null, 2)
  return (
    <div className="aud-raw">
      {taskId === null ? null : (
        <p>
          <Link to="/tasks/$id" params={{ id: taskId }} className="link">
            Open task {taskId}
          </Link>
        </p>
      )}
      <ScrollBox className="aud-pre" label={`Event ${event.seq}`}>
        <pre>
          <PlainText text={raw} charsMax={RAW_CHARS_MAX} />
        </pre>
      </ScrollBox>
    </div>
  )
}

interface Look {
  readonly icon: IconName
  readonly tone: string
}

// By a word in the type; the first that fits counts.
const LOOKS: readonly (readonly [RegExp, Look])[] = [
  [/denied|refused|rejected|blocked|dropped|failed|revoked/, { icon: 'ban', tone: 'refused' }],
  [/unledgered|alert_raised|interrupt|violation/, { icon: 'warn', tone: 'refused' }],
  [/parked|paused/, { icon: 'pause', tone: 'parked' }],
  [/approval_requested|question_asked|wanted/, { icon: 'clock', tone: 'pending' }],
  [/passed|approval_decided|accepted|completed|unpaused|resumed/, { icon: 'check', tone: 'allowed' }],
  [/phase_entered|claimed/, { icon: 'right', tone: 'running' }],
]

function findLook({ type, data }: LedgerEvent): Look {
  if (data.success === false) return { icon: 'ban', tone: 'refused' }
  return LOOKS.find(([pattern]) => pattern.test(type))?.[1] ?? { icon: 'list', tone: 'none' }
}
