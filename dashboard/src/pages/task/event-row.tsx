import type { ReactNode } from 'react'
import { Icon } from '../../ui/icon.js'
import { PlainText } from '../../ui/text/plain-text.js'
import { formatClockSeconds, formatExact } from '../../ui/time.js'
import { CallsRow } from './calls-row.js'
import { describeEvent, type EventLine } from './describe-event.js'
import { findKind } from './event-kinds.js'
import { GateRequest } from './gate-request.js'
import { formatRange, RawEvents } from './raw-event.js'
import { RefusedEvent } from './refused-event.js'
import type { TimelineItem } from './timeline-items.js'

/** One row of the timeline. */
export function EventRow({ item, isChosen }: { readonly item: TimelineItem; readonly isChosen: boolean }) {
  const line = describeEvent(item.last)
  const isQuiet = item.kind === 'calls'
  const isCard = item.kind === 'gate' || findKind(item.last.type) === 'refusal'
  const classes = ['ev', isQuiet ? 'ev--quiet' : '', isCard ? 'ev--wide' : '', isChosen ? 'ev--chosen' : '']
  if (!isQuiet && line.tone !== 'neutral') classes.push(`tone-${line.tone}`)
  return (
    <li className={classes.filter((name) => name !== '').join(' ')} id={`event-${item.last.seq}`} tabIndex={-1}>
      <time className="ev__time" dateTime={item.last.at} title={formatExact(item.last.at)}>
        {formatClockSeconds(item.last.at)}
      </time>
      <span className="ev__node">{!isQuiet && <Icon name={line.icon} size={12} />}</span>
      <div className="ev__body">
        {item.kind === 'calls' ? (
          <CallsRow events={item.events} />
        ) : (
          <Line line={line} raw={isCard ? null : <RawEvents events={item.events} />} />
        )}
        {item.kind === 'gate' && <GateRequest asked={item.asked} outcome={item.outcome} />}
        {item.kind === 'one' && isCard && <RefusedEvent event={item.last} />}
      </div>
      <span className="ev__end">{formatRange(item.events.map(({ seq }) => seq))}</span>
    </li>
  )
}

function Line({ line, raw }: { readonly line: EventLine; readonly raw: ReactNode }) {
  return (
    <>
      <div className="ev__line">
        <b className="strong">{line.title}</b>
        {line.code !== undefined && line.code !== '' && (
          <code>
            <PlainText text={line.code} charsMax={200} />
          </code>
        )}
        {line.text !== undefined && line.text !== '' && (
          <span className="soft">
            <PlainText text={line.text} charsMax={500} />
          </span>
        )}
        {raw}
      </div>
      {line.quote !== undefined && line.quote !== '' && (
        <p className="ev__sub agent-text">
          “<PlainText text={line.quote} charsMax={2000} />”
        </p>
      )}
    </>
  )
}
