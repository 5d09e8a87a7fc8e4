import { useState } from 'react'
import { PlainText } from '../../ui/text/plain-text.js'
import type { TaskEvent } from './task-types.js'

/** The raw form of events, made when it is opened. */
export function RawEvents({ events }: { readonly events: readonly TaskEvent[] }) {
  const [isOpen, setOpen] = useState(false)
  const seqs = events.map(({ seq }) => seq)
  return (
    <div className="raw-events">
      <button type="button" className="link" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {/* The number stands at the end of the line, too. */}
        Raw{' '}
        <span className="sr">
          {events.length === 1 ? 'event' : 'events'} {formatRange(seqs)}
        </span>
      </button>
      {isOpen &&
        events.map((event) => (
          <pre className="raw" key={event.seq}>
            <PlainText text={JSON.stringify(event, null, 2)} />
          </pre>
        ))}
    </div>
  )
}

/** `12` or `12–15`. */
export function formatRange(seqs: readonly number[]): string {
  const [first, last] = [seqs[0], seqs.at(-1)]
  if (first === undefined || last === undefined) return ''
  return first === last ? String(first) : `${first}–${last}`
}
