import { type Connection, computeBackOffMs, WORKING_MS } from './connection.js'
import { makeApiError, PhaselockError, Unreachable } from './errors.js'
import { isObject, type JsonObject, parseJson } from './json.js'
import { FrameReader } from './sse.js'

/** One event of the task, as the ledger has it. */
export interface TaskEvent {
  /** The sequence number; larger ones came later. */
  readonly id: number
  readonly type: string
  readonly data: JsonObject
}

interface Following {
  readonly connection: Connection
  readonly token: string
  readonly taskId: string
  /** The last known event. */
  readonly after: number
}

/** The server sends something at least every 15 seconds. */
const SILENCE_MS_MAX = 45_000
const EVENT_ID = /^\d{1,15}$/
/** After these the agent no longer holds the task, so there is nothing left to follow. */
const LAST: ReadonlySet<string> = new Set([
  ...['task_completed', 'task_released', 'task_cancelled', 'task_reassigned', 'lease_lapsed'],
])

/** The events of a task, each once and in order, across lost connections and restarts of the server. */
export async function* follow(following: Following): AsyncGenerator<TaskEvent, void, undefined> {
  const { connection } = following
  let last = following.after
  for (let failures = 0; !connection.isClosed; ) {
    const opened = performance.now()
    let reason = 'the stream of events was cut off'
    try {
      for await (const event of streamed(following, last)) {
        // Known events are not progress: a stream that brings nothing else must not go on forever.
        if (event.id <= last) continue
        failures = 0
        last = event.id
        yield event
        if (LAST.has(event.type)) return
      }
    } catch (thrown) {
      if (connection.isClosed) return
      if (thrown instanceof PhaselockError && !(thrown instanceof Unreachable)) throw thrown
      if (thrown instanceof Unreachable) reason = thrown.reason
    }
    if (connection.isClosed) return
    // A stream that lasted a while did not fail, however quiet the task was.
    failures = performance.now() - opened > WORKING_MS ? 1 : failures + 1
    if (failures >= connection.limits.attemptsMax) throw new Unreachable(failures, reason)
    if (!(await connection.paused(computeBackOffMs(failures)))) return
  }
}

async function* streamed(following: Following, last: number): AsyncGenerator<TaskEvent> {
  const { connection, token, taskId } = following
  const silence = new AbortController()
  const abort = (): void => silence.abort()
  let timer = setTimeout(abort, SILENCE_MS_MAX)
  const stop = connection.onClose(abort)
  try {
    const headers = { accept: 'text/event-stream', 'last-event-id': String(last) }
    const chunks = await connection.open({ method: 'GET', path: '/events', token, headers }, silence.signal)
    const reader = new FrameReader()
    for await (const chunk of chunks) {
      clearTimeout(timer)
      timer = setTimeout(abort, SILENCE_MS_MAX)
      for (const frame of reader.take(chunk)) {
        const data = parseJson(frame.data)
        if (data === undefined) throw unreadable()
        // The token is valid for whichever task the agent holds: skip events of a later task.
        if (!isObject(data) || data.stream !== `task:${taskId}`) continue
        if (!EVENT_ID.test(frame.id)) throw unreadable()
        yield { id: Number(frame.id), type: frame.event, data }
      }
    }
  } finally {
    clearTimeout(timer)
    stop()
    abort()
  }
}

// Skipping the event would lose it, and without its number it is unknown where to continue.
function unreadable(): PhaselockError {
  return makeApiError(200, { detail: 'An event of the stream cannot be read.' })
}
