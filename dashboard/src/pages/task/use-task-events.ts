import { useCallback, useEffect, useRef, useState } from 'react'
import { api } from '../../api/client.js'
import { type ApiProblem, toProblem } from '../../api/problem.js'
import { useConnectionStatus, useEvents } from '../../live/use-live.js'
import type { TaskEvent } from './task-types.js'

const PAGE = 500
/** A task with more shows the newest, and says so. */
const EVENTS_MAX = 20_000
const SHOWN_AFTER_MS = 100

export interface TaskEvents {
  /** Oldest first, without a gap. */
  readonly events: readonly TaskEvent[]
  readonly isLoading: boolean
  /** Older events are still being loaded. */
  readonly isPartial: boolean
  /** How many older ones are not loaded, because there are too many. */
  readonly left: number
  readonly problem: ApiProblem | null
  readonly retry: () => void
}

interface Loaded {
  readonly events: readonly TaskEvent[]
  readonly isComplete: boolean
}

const NOTHING: Loaded = { events: [], isComplete: false }

/**
 * The events of a task: the newest page first, then the older ones, then each new one as it happens. What was missed
 * while the connection was lost is asked for once it is back.
 */
export function useTaskEvents(taskId: string): TaskEvents {
  const [loaded, setLoaded] = useState<Loaded>(NOTHING)
  const [problem, setProblem] = useState<ApiProblem | null>(null)
  const [attempt, setAttempt] = useState(0)
  const newest = useRef(0)
  /** The newest version that the stream named. */
  const seen = useRef(0)

  const add = useCallback((more: readonly TaskEvent[], isComplete?: boolean) => {
    setLoaded((before) => ({
      events: mergeEvents(before.events, more),
      isComplete: isComplete ?? before.isComplete,
    }))
    newest.current = Math.max(newest.current, more.at(-1)?.version ?? 0)
  }, [])

  const catchUp = useCallback(async () => {
    if (newest.current === 0) return
    try {
      add(await loadAfter(taskId, newest.current))
    } catch (error) {
      setProblem(toProblem(error))
    }
  }, [taskId, add])

  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt loads again
  useEffect(() => {
    const stop = new AbortController()
    newest.current = 0
    setLoaded(NOTHING)
    setProblem(null)
    loadBackwards(taskId, stop.signal, add)
      // What happened while the first page was loaded is in neither.
      .then(() => (seen.current > newest.current && !stop.signal.aborted ? catchUp() : undefined))
      .catch((error: unknown) => {
        if (!stop.signal.aborted) setProblem(toProblem(error))
      })
    return () => stop.abort()
  }, [taskId, attempt, add, catchUp])

  const arrived = useRef<TaskEvent[]>([])
  useEvents((event) => {
    if (event.stream !== `task:${taskId}`) return
    seen.current = Math.max(seen.current, event.version)
    if (event.version <= newest.current || newest.current === 0) return
    if (event.version !== newest.current + 1) return void catchUp()
    newest.current = event.version
    arrived.current.push(event)
    // Events that stream in are shown together, a few times a second.
    if (arrived.current.length === 1) setTimeout(() => add(arrived.current.splice(0)), SHOWN_AFTER_MS)
  })
  const status = useConnectionStatus()
  useEffect(() => {
    if (status === 'live') void catchUp()
  }, [status, catchUp])

  const first = loaded.events[0]?.version ?? 1
  return {
    events: loaded.events,
    isLoading: loaded.events.length === 0 && problem === null,
    isPartial: !loaded.isComplete && problem === null,
    left: loaded.isComplete ? first - 1 : 0,
    problem,
    retry: () => setAttempt((before) => before + 1),
  }
}

interface EventPage {
  readonly events: readonly TaskEvent[]
  readonly next_cursor: string | null
}

// The ledger is asked newest first, so that the end of a long task is on the screen at once.
async function loadBackwards(
  taskId: string,
  signal: AbortSignal,
  add: (events: readonly TaskEvent[], isComplete: boolean) => void,
): Promise<void> {
  let cursor: string | undefined
  for (let count = 0; count < EVENTS_MAX; count += PAGE) {
    const query = { task_id: taskId, limit: PAGE, cursor }
    const page = await api.get<EventPage>('/audit/query', { query, signal })
    if (signal.aborted) return
    const own = page.events.filter(({ stream }) => stream === `task:${taskId}`).toReversed()
    const isComplete = page.next_cursor === null || count + PAGE >= EVENTS_MAX
    add(own, isComplete)
    if (page.next_cursor === null) return
    cursor = page.next_cursor
  }
}

async function loadAfter(taskId: string, version: number): Promise<readonly TaskEvent[]> {
  const events: TaskEvent[] = []
  for (let after: number | null = version; after !== null && events.length < EVENTS_MAX; ) {
    const page: { events: readonly TaskEvent[]; next_after: number | null } = await api.get('/tasks/{id}/timeline', {
      path: { id: taskId },
      query: { after, limit: PAGE },
    })
    events.push(...page.events)
    after = page.next_after
  }
  return events
}

/** Two lists by version, each event once. */
export function mergeEvents(known: readonly TaskEvent[], more: readonly TaskEvent[]): readonly TaskEvent[] {
  const first = more[0]
  const last = known.at(-1)
  if (first === undefined) return known
  if (last === undefined || first.version > last.version) return [...known, ...more]
  if ((more.at(-1)?.version ?? 0) < (known[0]?.version ?? 0)) return [...more, ...known]
  const byVersion = new Map([...known, ...more].map((event) => [event.version, event]))
  return [...byVersion.values()].toSorted((a, b) => a.version - b.version)
}
