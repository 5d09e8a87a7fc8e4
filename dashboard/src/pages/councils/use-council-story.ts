import { createParser } from 'eventsource-parser'
import { useEffect, useReducer, useState } from 'react'
import { formatPath } from '../../api/client.js'
import { type ApiProblem, readProblem, toProblem } from '../../api/problem.js'
import { type CouncilEvent, type CouncilStory, EMPTY_STORY, type StreamedPart, tellEvent } from './council-story.js'

const RETRY_MS = 2000
/** Of what an agent streams only the end is shown. */
const STREAMED_CHARS_MAX = 2000

interface Telling {
  readonly story: CouncilStory
  readonly streamed: ReadonlyMap<string, string>
}

type News =
  | { readonly kind: 'reset' }
  | { readonly kind: 'event'; readonly event: CouncilEvent }
  | { readonly kind: 'part'; readonly part: StreamedPart }

export interface Followed extends Telling {
  readonly status: 'loading' | 'live' | 'over' | 'failed'
  readonly problem: ApiProblem | null
  readonly retry: () => void
}

/** Follows a council from its first event on, until it ends. A lost connection is taken up where it was. */
export function useCouncilStory(id: string): Followed {
  const [telling, tell] = useReducer(takeNews, { story: EMPTY_STORY, streamed: new Map() })
  const [status, setStatus] = useState<Followed['status']>('loading')
  const [problem, setProblem] = useState<ApiProblem | null>(null)
  const [tries, setTries] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: `tries` starts it again
  useEffect(() => {
    const stop = new AbortController()
    tell({ kind: 'reset' })
    setStatus('loading')
    setProblem(null)
    void follow(id, stop.signal, {
      onOpen: () => setStatus('live'),
      onNews: tell,
      onOver: () => setStatus('over'),
      onFail: (failed) => {
        setProblem(failed)
        setStatus('failed')
      },
    })
    return () => stop.abort()
  }, [id, tries])
  return { ...telling, status, problem, retry: () => setTries(tries + 1) }
}

function takeNews(telling: Telling, news: News): Telling {
  if (news.kind === 'reset') return { story: EMPTY_STORY, streamed: new Map() }
  if (news.kind === 'part') return { ...telling, streamed: addPart(telling.streamed, news.part) }
  const streamed = new Map(telling.streamed)
  // What was streamed in a turn is over with it: the event holds what came of it.
  if (ENDS_TURN.has(news.event.type)) streamed.delete(String(news.event.data.agent))
  return { story: tellEvent(telling.story, news.event), streamed }
}

const ENDS_TURN: ReadonlySet<string> = new Set([
  ...['turn_began', 'answer_accepted', 'vote_cast', 'response_rejected'],
  ...['agent_stopped', 'agent_failed', 'agent_timed_out', 'final_presented'],
])

function addPart(streamed: ReadonlyMap<string, string>, part: StreamedPart): ReadonlyMap<string, string> {
  const added = part.type === 'tool_call' ? `\n[calls ${part.name ?? ''}]\n` : (part.text ?? '')
  const text = `${streamed.get(part.agent) ?? ''}${added}`.slice(-STREAMED_CHARS_MAX)
  return new Map(streamed).set(part.agent, text)
}

interface Listener {
  readonly onOpen: () => void
  readonly onNews: (news: News) => void
  readonly onOver: () => void
  readonly onFail: (problem: ApiProblem) => void
}

async function follow(id: string, signal: AbortSignal, listener: Listener): Promise<void> {
  const at = { last: '', isOver: false, hasOpened: false }
  while (!signal.aborted && !at.isOver) {
    await untilVisible(signal)
    const hidden = new AbortController()
    const onHide = (): void => {
      if (document.hidden) hidden.abort()
    }
    document.addEventListener('visibilitychange', onHide)
    try {
      await readOnce(id, AbortSignal.any([signal, hidden.signal]), listener, at)
    } catch (error) {
      if (signal.aborted) return
      if (hidden.signal.aborted) continue
      const problem = toProblem(error)
      // Before the first answer the page has nothing to show; later it keeps what it has and tries again.
      if (!at.hasOpened || problem.status >= 400) return listener.onFail(problem)
    } finally {
      document.removeEventListener('visibilitychange', onHide)
    }
    if (!at.isOver) await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
  if (!signal.aborted) listener.onOver()
}

// A browser has six connections to a server: tabs that nobody sees hold none, and go on where they stopped.
function untilVisible(signal: AbortSignal): Promise<void> {
  if (!document.hidden) return Promise.resolve()
  return new Promise((resolve) => {
    const done = (): void => {
      document.removeEventListener('visibilitychange', done)
      resolve()
    }
    document.addEventListener('visibilitychange', done)
    signal.addEventListener('abort', done, { once: true })
  })
}

async function readOnce(
  id: string,
  signal: AbortSignal,
  listener: Listener,
  at: { last: string; isOver: boolean; hasOpened: boolean },
): Promise<void> {
  const response = await fetch(formatPath('/coordinations/{id}/stream', { path: { id } }), {
    credentials: 'same-origin',
    headers: { accept: 'text/event-stream', ...(at.last === '' ? {} : { 'last-event-id': at.last }) },
    signal,
  })
  if (!response.ok || response.body === null) throw await readProblem(response)
  at.hasOpened = true
  listener.onOpen()
  const parser = createParser({
    onEvent: ({ id: seen, event, data }) => {
      if (event === 'part') return listener.onNews({ kind: 'part', part: JSON.parse(data) as StreamedPart })
      if (seen !== undefined) at.last = seen
      if (event === 'run_ended') at.isOver = true
      listener.onNews({ kind: 'event', event: JSON.parse(data) as CouncilEvent })
    },
  })
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    parser.feed(value)
  }
}
