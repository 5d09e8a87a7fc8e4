import { useDeferredValue, useMemo, useState } from 'react'
import { Chip } from '../../ui/controls.js'
import { formatOrdinal } from '../../ui/text/ordinal.js'
import { PlainText } from '../../ui/text/plain-text.js'
import { formatDuration, formatMoment } from '../../ui/time.js'
import { type EventKind, KINDS } from './event-kinds.js'
import { EventRow, isRefusal } from './event-row.js'
import type { TaskEvent } from './task-types.js'
import { buildTimeline, countKinds, type TimelineVisit } from './timeline-items.js'

const ROWS_SHOWN = 100
/** This many of the newest visits are open at first. */
const VISITS_OPEN = 2
/** This many of the newest refusals of a visit are open at first. */
const REFUSALS_OPEN = 3

interface Props {
  readonly events: readonly TaskEvent[]
  readonly isPartial: boolean
  readonly left: number
  readonly only: EventKind | null
  readonly onOnly: (kind: EventKind | null) => void
  /** The event that the slider or a link points at. */
  readonly chosen: number | null
}

/** Everything that happened to a task, newest first. */
export function Timeline({ events, isPartial, left, only, onOnly, chosen }: Props) {
  const shown = useDeferredValue(events)
  const visits = useMemo(() => buildTimeline(shown, only), [shown, only])
  return (
    <section aria-label="Timeline">
      <KindFilter events={shown} only={only} onOnly={onOnly} />
      {visits.map((visit, index) => (
        <Visit key={visit.key} visit={visit} isOpenAtFirst={index < VISITS_OPEN || only !== null} chosen={chosen} />
      ))}
      {visits.length === 0 && <p className="timeline-note">No event of this kind.</p>}
      {isPartial && <p className="timeline-note">Older events are being loaded…</p>}
      {left > 0 && (
        <p className="timeline-note">{left.toLocaleString('en')} older events are in the audit, not here.</p>
      )}
    </section>
  )
}

function KindFilter({ events, only, onOnly }: Pick<Props, 'events' | 'only' | 'onOnly'>) {
  const counts = useMemo(() => countKinds(events), [events])
  return (
    <fieldset className="chips chips--scroll" aria-label="Kinds of events">
      <Chip pressed={only === null} count={events.length} onClick={() => onOnly(null)}>
        All
      </Chip>
      {KINDS.filter(({ kind }) => (counts.get(kind) ?? 0) > 0 || kind === only).map(({ kind, name }) => (
        <Chip key={kind} pressed={only === kind} count={counts.get(kind) ?? 0} onClick={() => onOnly(kind)}>
          {name}
        </Chip>
      ))}
    </fieldset>
  )
}

interface VisitProps {
  readonly visit: TimelineVisit
  readonly isOpenAtFirst: boolean
  readonly chosen: number | null
}

function Visit({ visit, isOpenAtFirst, chosen }: VisitProps) {
  const [isOpen, setOpen] = useState(isOpenAtFirst)
  const [rows, setRows] = useState(ROWS_SHOWN)
  const chosenAt = visit.items.findIndex((item) => item.events.some(({ seq }) => seq === chosen))
  const isShown = isOpen || chosenAt !== -1
  const shown = Math.max(rows, chosenAt + 1)
  const refusals = visit.items.filter(isRefusal)
  return (
    <>
      <h3 className="visit">
        <span className="phase">
          <PlainText text={visit.phase} charsMax={64} />
        </span>
        <span>{describeVisit(visit)}</span>
        <button type="button" className="link" aria-expanded={isShown} onClick={() => setOpen(!isShown)}>
          {isShown ? 'Hide' : `Show ${visit.eventCount} events`}
        </button>
      </h3>
      {isShown && (
        <ol className="tl">
          {visit.items.slice(0, shown).map((item, index) => (
            <EventRow
              key={item.events[0]?.seq}
              item={item}
              isChosen={index === chosenAt}
              isFolded={isRefusal(item) && refusals.indexOf(item) >= REFUSALS_OPEN}
            />
          ))}
        </ol>
      )}
      {isShown && visit.items.length > shown && (
        <button type="button" className="link timeline-note" onClick={() => setRows(shown + ROWS_SHOWN)}>
          Show {Math.min(ROWS_SHOWN, visit.items.length - shown)} earlier rows of {visit.items.length - shown}
        </button>
      )}
    </>
  )
}

function describeVisit({ visit, nth, from, to }: TimelineVisit): string {
  const lasted = to === null ? '' : `, ${formatDuration(Date.parse(to) - Date.parse(from))}`
  if (visit === 0) return `before the work began, ${formatMoment(from)}`
  const which = nth > 1 ? `${formatOrdinal(nth)} visit, ` : ''
  return `${which}${to === null ? 'since ' : ''}${formatMoment(from)}${lasted}`
}
