import { CODES } from '../../../../src/core/codes.js'
import { RefusalCard } from '../../ui/checks.js'
import { dropToolList } from '../../ui/text/drop-tool-list.js'
import { PlainText } from '../../ui/text/plain-text.js'
import { describeArguments } from './calls-row.js'
import { RawEvents } from './raw-event.js'
import { readRecords, readText, type TaskEvent } from './task-types.js'

interface Retry {
  readonly attempt: number
  readonly max: number
}

/** A refusal in the timeline: what was tried, why it was refused, what the agent was told to do. */
export function RefusedEvent({ event }: { readonly event: TaskEvent }) {
  const { data } = event
  const retry = data.retry as Retry | undefined
  const { title, remedy } = findCode(readText(data, 'code'))
  return (
    <RefusalCard
      code={readText(data, 'code')}
      title={title}
      tried={<Tried event={event} />}
      why={<PlainText text={readWhy(event)} charsMax={2000} />}
      remedy={remedy}
      tries={retry !== undefined && retry.max > 0 ? { used: retry.attempt, max: retry.max } : null}
      end={<RawEvents events={[event]} />}
      foot={data.counted === false ? 'Not counted against the agent.' : undefined}
    />
  )
}

// Which tools there are helps the one who called a wrong one; a dead token has no use for the list.
function readWhy({ type, data }: TaskEvent): string {
  const detail = readText(data, 'detail')
  return type === 'token_refused' ? dropToolList(detail) : detail
}

function findCode(code: string): { readonly title: string; readonly remedy: string } {
  return Object.hasOwn(CODES, code)
    ? CODES[code as keyof typeof CODES]
    : { title: '', remedy: 'The answer to the agent says it.' }
}

// Where no tool was called.
const TRIED: Readonly<Record<string, string>> = {
  token_refused: 'A call with its token',
  transition_refused: 'To go on to',
  checkpoint_refused: 'To hand in evidence',
  question_refused: 'To ask a question',
  review_refused: 'To hand in a review',
  approval_refused: 'To decide on an approval',
}

// Only a path is something that a tool is used on; a command or a message is what the tool was told.
function namesPaths({ data }: TaskEvent): boolean {
  const args = Object(data.args) as Readonly<Record<string, unknown>>
  return (
    typeof data.command !== 'string' &&
    !['command', 'pattern', 'query', 'message', 'question'].some((name) => name in args)
  )
}

function Tried({ event }: { readonly event: TaskEvent }) {
  const tool = readText(event.data, 'tool_name')
  const paths = readRecords<string>(event.data, 'paths').join(', ')
  const on = describeArguments(event) || paths
  return (
    <>
      {tool === '' ? (
        `${TRIED[event.type] ?? event.type.replaceAll('_', ' ')} ${readText(event.data, 'to')}`
      ) : (
        <code>{tool.slice(0, 100)}</code>
      )}
      {on !== '' && (namesPaths(event) ? ' on ' : ': ')}
      {on !== '' && (
        <code>
          <PlainText text={on} charsMax={500} />
        </code>
      )}
    </>
  )
}
