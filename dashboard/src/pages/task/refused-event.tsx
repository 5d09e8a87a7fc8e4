import { CODES } from '../../../../src/core/codes.js'
import { RefusalCard } from '../../ui/checks.js'
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
      why={<PlainText text={readText(data, 'detail')} charsMax={2000} />}
      remedy={remedy}
      tries={retry !== undefined && retry.max > 0 ? { used: retry.attempt, max: retry.max } : null}
      foot={
        <>
          <RawEvents events={[event]} />
          {data.counted === false && <span>Not counted against the agent.</span>}
        </>
      }
    />
  )
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
      {on !== '' && ' on '}
      {on !== '' && (
        <code>
          <PlainText text={on} charsMax={500} />
        </code>
      )}
    </>
  )
}
