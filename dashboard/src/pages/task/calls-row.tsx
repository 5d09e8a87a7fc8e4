import { useState } from 'react'
import { Icon } from '../../ui/icon.js'
import { PlainText } from '../../ui/text/plain-text.js'
import { isCall } from './event-kinds.js'
import { RawEvents } from './raw-event.js'
import type { TaskEvent } from './task-types.js'
import { summarizeCalls } from './timeline-items.js'

const CALLS_SHOWN = 50
const ARGUMENT_CHARS_MAX = 200

/** Consecutive calls in one line, opened to one line each. */
export function CallsRow({ events }: { readonly events: readonly TaskEvent[] }) {
  const [isOpen, setOpen] = useState(false)
  const [shown, setShown] = useState(CALLS_SHOWN)
  const calls = events.filter(({ type }) => isCall(type))
  return (
    <div>
      <button type="button" className="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name="right" size={12} />
        <PlainText text={summarizeCalls(events)} charsMax={300} />
      </button>
      {isOpen && (
        <div className="calls">
          <ol>
            {calls.slice(0, shown).map((event) => (
              <Call key={event.seq} event={event} finished={findFinish(events, event)} />
            ))}
          </ol>
          {calls.length > shown && (
            <button type="button" className="link" onClick={() => setShown(shown + 200)}>
              {calls.length - shown} more
            </button>
          )}
          {calls.length === 0 && <RawEvents events={events} />}
        </div>
      )}
    </div>
  )
}

function Call({ event, finished }: { readonly event: TaskEvent; readonly finished: TaskEvent | null }) {
  const failed = finished?.data.success === false || event.data.success === false
  return (
    <li className="call">
      <span className="call__seq">{event.seq}</span>
      <code>
        <PlainText text={String(event.data.tool_name)} charsMax={80} />
      </code>
      <span className="call__on">
        <PlainText text={describeArguments(event)} charsMax={ARGUMENT_CHARS_MAX} />
      </span>
      <span className={failed ? 'bad' : 'muted'}>{describeResult(event, finished)}</span>
      <RawEvents events={finished === null ? [event] : [event, finished]} />
    </li>
  )
}

// The finish of a call is the next one of the same tool: one agent's calls run one after the other, or in batches by tool.
function findFinish(events: readonly TaskEvent[], call: TaskEvent): TaskEvent | null {
  if (call.type !== 'tool_allowed') return null
  const found = events.find(
    ({ type, seq, data }) => type === 'tool_finished' && seq > call.seq && data.tool_name === call.data.tool_name,
  )
  return found ?? null
}

/** What a call is about: its command, pattern or paths. */
export function describeArguments({ data }: TaskEvent): string {
  if (typeof data.command === 'string') return data.command
  const args = Object(data.args) as Readonly<Record<string, unknown>>
  for (const name of ['command', 'pattern', 'query', 'path', 'message', 'question'])
    if (typeof args[name] === 'string') return args[name]
  const list = [args.paths, args.files, args.edits, data.paths].find(Array.isArray) as readonly unknown[] | undefined
  if (list !== undefined) {
    const paths = list.map((one) =>
      typeof one === 'string' ? one : String((Object(one) as { path?: unknown }).path ?? ''),
    )
    return paths.filter((path) => path !== '').join(', ')
  }
  return ''
}

function describeResult(event: TaskEvent, finished: TaskEvent | null): string {
  if (finished === null) return event.type === 'fact_recorded' ? 'reported' : ''
  const { success, exit_code: exitCode, duration_ms: ms, change_count: changes } = finished.data
  const parts = [
    success === false ? 'failed' : '',
    typeof exitCode === 'number' && exitCode !== 0 ? `exit ${exitCode}` : '',
    typeof changes === 'number' && changes > 0 ? `${changes} changed` : '',
    typeof ms === 'number' && ms >= 1000 ? `${Math.round(ms / 1000)} s` : '',
  ]
  return parts.filter((part) => part !== '').join(', ')
}
