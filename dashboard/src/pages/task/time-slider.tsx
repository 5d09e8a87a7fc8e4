import { useMemo, useRef } from 'react'
import { Button } from '../../ui/button.js'
import { formatClock, formatClockSeconds, formatMoment } from '../../ui/time.js'
import { findKind } from './event-kinds.js'
import type { TaskEvent } from './task-types.js'

const MARKS_MAX = 400

interface Props {
  readonly events: readonly TaskEvent[]
  /** The event that is shown; null: now. */
  readonly at: number | null
  readonly onMove: (seq: number | null) => void
}

/** Goes back in time, event by event. Ticks are gates, dots are refusals. */
export function TimeSlider({ events, at, onMove }: Props) {
  const slider = useRef<HTMLInputElement>(null)
  const last = events.length - 1
  const index = at === null ? last : Math.max(0, findIndex(events, at))
  const event = events[index]
  if (event === undefined || last < 1) return null
  const describe = `event ${event.seq}, ${event.type.replaceAll('_', ' ')}, ${formatClockSeconds(event.at)}`
  const move = (next: number) => onMove(next >= last ? null : (events[next]?.seq ?? null))
  return (
    <div className="scrub">
      <span>
        {at === null ? 'Now, event ' : 'Event '}
        <b>{event.seq}</b>
      </span>
      <div className="scrub__track">
        <Marks events={events} index={index} />
        <input
          ref={slider}
          type="range"
          min={0}
          max={last}
          value={index}
          aria-label="Go back in time, by event"
          aria-valuetext={at === null ? `Now, ${describe}` : describe}
          onChange={({ target }) => move(Number(target.value))}
        />
      </div>
      {at === null ? (
        <span className="muted">
          <span className="hide-s">{formatMoment(events[0]?.at ?? event.at)} to </span>
          {formatEnd(events[0]?.at ?? event.at, event.at)}
        </span>
      ) : (
        <Button
          look="primary"
          onClick={() => {
            // The button goes away with the past.
            slider.current?.focus()
            onMove(null)
          }}
        >
          Back to now
        </Button>
      )}
    </div>
  )
}

// The date is said once where both are on the same day.
function formatEnd(from: string, to: string): string {
  return new Date(from).toDateString() === new Date(to).toDateString() ? formatClock(to) : formatMoment(to)
}

/** The place of an event in the list, or of the last one before it. */
export function findIndex(events: readonly TaskEvent[], seq: number): number {
  let low = 0
  let high = events.length
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if ((events[middle]?.seq ?? 0) <= seq) low = middle + 1
    else high = middle
  }
  return low - 1
}

function Marks({ events, index }: { readonly events: readonly TaskEvent[]; readonly index: number }) {
  const marks = useMemo(() => listMarks(events), [events])
  const last = Math.max(1, events.length - 1)
  return (
    <svg className="scrub__marks" aria-hidden="true">
      <rect className="scrub__line" y="11" width="100%" height="2" rx="1" />
      <rect className="scrub__past" y="11" width={`${(index / last) * 100}%`} height="2" rx="1" />
      {marks.map(({ at, kind }) =>
        kind === 'refusal' ? (
          <circle key={at} className="scrub__refusal" cx={`${(at / last) * 100}%`} cy="12" r="3" />
        ) : (
          <rect key={at} className="scrub__gate" x={`${(at / last) * 100}%`} y="7" width="2" height="10" />
        ),
      )}
    </svg>
  )
}

interface Mark {
  readonly at: number
  readonly kind: 'gate' | 'refusal'
}

function listMarks(events: readonly TaskEvent[]): readonly Mark[] {
  const marks = events.flatMap(({ type }, at): readonly Mark[] => {
    if (type === 'phase_entered') return [{ at, kind: 'gate' }]
    return findKind(type) === 'refusal' || type === 'gate_blocked' ? [{ at, kind: 'refusal' }] : []
  })
  // Thinned out where there are more than anybody can tell apart.
  const every = Math.ceil(marks.length / MARKS_MAX)
  return every <= 1 ? marks : marks.filter((_, index) => index % every === 0)
}
