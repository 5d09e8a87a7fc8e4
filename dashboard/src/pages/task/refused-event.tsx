import { RefusalCard } from '../../ui/checks.js'
import { PlainText } from '../../ui/text/plain-text.js'
import { describeArguments } from './calls-row.js'
import { RawEvents } from './raw-event.js'
import { readRecords, readText, type TaskEvent } from './task-types.js'

interface Retry {
  readonly attempt: number
  readonly max: number
  readonly text: string
}

/** A refusal in the timeline: what was tried, why it was refused, what the agent was told to do. */
export function RefusedEvent({ event }: { readonly event: TaskEvent }) {
  const { data } = event
  const retry = data.retry as Retry | undefined
  return (
    <RefusalCard
      code={readText(data, 'code')}
      title={readText(data, 'by') === '' ? '' : `by ${readText(data, 'by')}`}
      tried={<Tried event={event} />}
      why={<PlainText text={readText(data, 'detail')} charsMax={2000} />}
      remedy={<PlainText text={findRemedy(retry)} charsMax={2000} />}
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

// The text begins with the count of tries, which the card shows already.
function findRemedy(retry: Retry | undefined): string {
  return retry === undefined ? 'The answer to the agent says it.' : retry.text.replace(/^Retry \(\d+\/\d+\): /, '')
}

function Tried({ event }: { readonly event: TaskEvent }) {
  const tool = readText(event.data, 'tool_name')
  const paths = readRecords<string>(event.data, 'paths').join(', ')
  const on = describeArguments(event) || paths
  return (
    <>
      {tool === '' ? (
        `${event.type.replaceAll('_', ' ')} ${readText(event.data, 'to')}`
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
