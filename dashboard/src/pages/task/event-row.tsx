import { type ReactNode, useState } from 'react'
import { Icon } from '../../ui/icon.js'
import { Code } from '../../ui/marks.js'
import { PlainText } from '../../ui/text/plain-text.js'
import { formatClockSeconds, formatExact } from '../../ui/time.js'
import { CallsRow } from './calls-row.js'
import { describeEvent, type EventLine } from './describe-event.js'
import { findKind } from './event-kinds.js'
import { GateRequest } from './gate-request.js'
import { formatRange, RawEvents } from './raw-event.js'
import { RefusedEvent } from './refused-event.js'
import { readText, type TaskEvent } from './task-types.js'
import type { TimelineItem } from './timeline-items.js'

interface Props {
  readonly item: TimelineItem
  readonly isChosen: boolean
  /** Whether what was tried, why it was refused and what to do is shown only when it is asked for. */
  readonly isFolded: boolean
}

/** One row of the timeline. */
export function EventRow({ item, isChosen, isFolded }: Props) {
  const [isAsked, setAsked] = useState(false)
  const isOpen = !isFolded || isAsked || isChosen
  const line = describeEvent(item.last)
  const isQuiet = item.kind === 'calls'
  const isCard = item.kind === 'gate' || isRefusal(item)
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
          <Line line={line} raw={isCard ? null : <RawEvents events={item.events} />}>
            {isFolded && <FoldedRefusal event={item.last} isOpen={isOpen} onToggle={() => setAsked(!isOpen)} />}
          </Line>
        )}
        {item.kind === 'gate' && <GateRequest asked={item.asked} outcome={item.outcome} />}
        {item.kind === 'one' && isCard && isOpen && <RefusedEvent event={item.last} />}
      </div>
      <span className="ev__end">{formatRange(item.events.map(({ seq }) => seq))}</span>
    </li>
  )
}

/** Whether a row is a refusal. */
export function isRefusal(item: TimelineItem): boolean {
  return item.kind === 'one' && findKind(item.last.type) === 'refusal'
}

interface FoldedProps {
  readonly event: TaskEvent
  readonly isOpen: boolean
  readonly onToggle: () => void
}

function FoldedRefusal({ event, isOpen, onToggle }: FoldedProps) {
  return (
    <>
      {!isOpen && <Code>{readText(event.data, 'code')}</Code>}
      <button type="button" className="link" aria-expanded={isOpen} onClick={onToggle}>
        {isOpen ? 'Hide' : 'Why'}
      </button>
    </>
  )
}

interface LineProps {
  readonly line: EventLine
  readonly raw: ReactNode
  readonly children?: ReactNode
}

function Line({ line, raw, children }: LineProps) {
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
        {children}
      </div>
      {line.quote !== undefined && line.quote !== '' && (
        <p className="ev__sub agent-text">
          “<PlainText text={line.quote} charsMax={2000} />”
        </p>
      )}
    </>
  )
}
