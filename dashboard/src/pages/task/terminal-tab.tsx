import { useEffect, useMemo, useRef, useState } from 'react'
import { api } from '../../api/client.js'
import { type ApiProblem, toProblem } from '../../api/problem.js'
import { EmptyState, FailedState, LoadingState } from '../../ui/states.js'
import { PlainText } from '../../ui/text/plain-text.js'
import { stripTerminal, takeLastLines } from '../../ui/text/terminal-lines.js'

const POLL_MS = 2000
const CHARS_MAX = 500_000
const LINES_MAX = 1000
const LINE_CHARS_MAX = 500

interface LogPage {
  readonly text: string
  readonly cursor: string
  readonly more: boolean
  readonly ended: boolean
}

interface Log {
  readonly text: string
  readonly ended: boolean
  readonly problem: ApiProblem | null
}

/** What an agent that Phaselock started writes, as text. */
export function TerminalTab({ agentId }: { readonly agentId: string | null }) {
  const [attempt, setAttempt] = useState(0)
  const log = useLog(agentId, attempt)
  if (agentId === null) return <EmptyState icon="terminal" title="No agent has claimed this task yet" />
  if (log?.problem?.status === 404)
    return (
      <EmptyState icon="terminal" title={`Phaselock did not start ${agentId}`}>
        Only the output of agents started with <code>phaselock run</code> is recorded. What this agent did is in the
        timeline.
      </EmptyState>
    )
  if (log?.problem != null)
    return <FailedState what="The terminal" error={log.problem} onRetry={() => setAttempt(attempt + 1)} />
  return log === null ? <LoadingState what="the terminal" /> : <Screen agentId={agentId} log={log} />
}

function Screen({ agentId, log }: { readonly agentId: string; readonly log: Log }) {
  const { lines, left } = useMemo(() => takeLastLines(stripTerminal(log.text), LINES_MAX), [log.text])
  const box = useRef<HTMLElement>(null)
  const isAtEnd = useRef(true)
  useEffect(() => {
    const element = box.current
    if (element !== null && isAtEnd.current && lines.length > 0) element.scrollTop = element.scrollHeight
  }, [lines])
  const follow = () => {
    const element = box.current
    if (element !== null) isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < 40
  }
  return (
    <>
      <p className="muted">
        {agentId} {log.ended ? 'has ended' : 'is running'}. {left > 0 ? `${left} earlier lines are not shown.` : ''}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reachable by keyboard */}
      <section className="terminal" ref={box} onScroll={follow} tabIndex={0} aria-label={`Output of ${agentId}`}>
        {lines.map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line of output has no other identity
          <div key={left + index}>{line === '' ? ' ' : <PlainText text={line} charsMax={LINE_CHARS_MAX} />}</div>
        ))}
        {lines.length === 0 && <span className="muted">It has written nothing.</span>}
      </section>
    </>
  )
}

function useLog(agentId: string | null, attempt: number): Log | null {
  const [log, setLog] = useState<Log | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt reads again
  useEffect(() => {
    setLog(null)
    if (agentId === null) return
    const stop = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    let cursor: string | undefined
    const read = async (): Promise<void> => {
      try {
        const page = await api.get<LogPage>('/agents/{id}/log', {
          ...{ path: { id: agentId }, query: { cursor }, signal: stop.signal },
        })
        cursor = page.cursor
        setLog((before) => ({
          text: `${before?.text ?? ''}${page.text}`.slice(-CHARS_MAX),
          ended: page.ended,
          problem: null,
        }))
        if (!page.ended || page.more) timer = setTimeout(read, page.more ? 0 : POLL_MS)
      } catch (error) {
        if (!stop.signal.aborted)
          setLog((before) => ({ text: before?.text ?? '', ended: false, problem: toProblem(error) }))
      }
    }
    void read()
    return () => {
      stop.abort()
      clearTimeout(timer)
    }
  }, [agentId, attempt])
  return log
}
