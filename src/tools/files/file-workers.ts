import { Worker } from 'node:worker_threads'
import { PACKAGE_ROOT } from '../../base/package-root.js'
import type { ToolPlace } from '../tool-place.js'
import type { FileJob, Found, FromWorker, ToWorker } from './file-jobs.js'
import { isHidden } from './file-place.js'

const WORKERS_MAX = 2
const WAITING_MAX = 100
/** After this a search returns what it has; a thread that does not end is terminated. */
const SEARCH_MS = 10_000
const WORKER_MS_MAX = 12_000
const WAITING_MS_MAX = 30_000
const NARROW = 'narrow the path or the pattern'
const THREAD_MEMORY = { maxOldGenerationSizeMb: 384, maxYoungGenerationSizeMb: 32 }
// A thread can only run the built file, also when tests run the sources.
const WORKER_FILE = new URL('dist/program/file-worker.js', PACKAGE_ROOT)

type Answer =
  | { readonly ok: true; readonly value: Found }
  | { readonly ok: false; readonly detail: string; readonly code: 'tool_failed' | 'invalid_regex' }

interface Waiting {
  readonly start: (worker: Worker) => void
}

const idle: Worker[] = []
const waiting: Waiting[] = []
let running = 0

/** Runs a job in a thread, so that no tree and no pattern can block the server. */
export async function runFileJob(place: ToolPlace, job: FileJob): Promise<Answer> {
  if (place.signal.aborted) return makeFailure('the call was ended')
  const worker = await acquireWorker(place.signal)
  if (typeof worker === 'string') return makeFailure(worker)
  const ended = await perform(worker, place, job)
  if (typeof ended === 'string') {
    replace(worker)
    return makeFailure(ended)
  }
  giveBack(worker)
  if ('errno' in ended) throw Object.assign(new Error(`a file job broke: ${ended.message}`), { code: ended.errno })
  return ended
}

function makeFailure(detail: string): Answer {
  return { ok: false, detail, code: 'tool_failed' }
}

function acquireWorker(signal: AbortSignal): Promise<Worker | string> {
  if (running < WORKERS_MAX) {
    running += 1
    return Promise.resolve(idle.pop() ?? spawn())
  }
  if (waiting.length >= WAITING_MAX) return Promise.resolve('too many searches are waiting; try again')
  return new Promise((resolve) => {
    const leave = (why: string) => () => {
      const at = waiting.indexOf(one)
      if (at !== -1) waiting.splice(at, 1)
      end(why)
    }
    const end = (result: Worker | string) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      resolve(result)
    }
    const one: Waiting = { start: end }
    const onAbort = leave('the call was ended')
    const timer = setTimeout(leave(`timed out after ${WAITING_MS_MAX / 1000} s of waiting; try again`), WAITING_MS_MAX)
    signal.addEventListener('abort', onAbort)
    waiting.push(one)
  })
}

function spawn(): Worker {
  const worker = new Worker(WORKER_FILE, { execArgv: [], resourceLimits: THREAD_MEMORY })
  const forget = () => {
    const at = idle.indexOf(worker)
    if (at !== -1) idle.splice(at, 1)
  }
  // Handled even between jobs: an unhandled error would end the process.
  worker.on('error', forget)
  worker.on('exit', forget)
  worker.unref()
  return worker
}

function giveBack(worker: Worker): void {
  const next = waiting.shift()
  if (next !== undefined) next.start(worker)
  else {
    running -= 1
    idle.push(worker)
  }
}

// Nobody waits for a thread that must end, but its place is free only when it has ended: there are never more threads
// than places.
function replace(worker: Worker): void {
  void worker.terminate().then(() => {
    const next = waiting.shift()
    if (next !== undefined) next.start(spawn())
    else running -= 1
  })
}

type BrokenMessage = Extract<FromWorker, { readonly type: 'broken' }>

/** The reason why the thread cannot be used again. */
type JobEnd = Answer | BrokenMessage | string

function perform(worker: Worker, place: ToolPlace, job: FileJob): Promise<JobEnd> {
  return new Promise((resolve) => {
    const end = (ended: JobEnd) => {
      clearTimeout(timer)
      place.signal.removeEventListener('abort', onAbort)
      worker.off('message', onMessage)
      worker.off('error', onGone)
      worker.off('exit', onGone)
      worker.unref()
      resolve(ended)
    }
    const onAbort = () => end('the call was ended')
    const onGone = () => end(`the call needed too much memory; ${NARROW}`)
    const onMessage = (message: FromWorker) => {
      switch (message.type) {
        case 'ask':
          return worker.postMessage({ type: 'visible', mask: maskVisible(place, message.paths) } satisfies ToWorker)
        case 'done':
          return end({ ok: true, value: message.found })
        case 'refused':
          return end({ ok: false, detail: message.detail, code: message.code })
        case 'broken':
          return end(message)
      }
    }
    const timer = setTimeout(() => end(`timed out after ${WORKER_MS_MAX / 1000} s; ${NARROW}`), WORKER_MS_MAX)
    place.signal.addEventListener('abort', onAbort)
    worker.on('message', onMessage)
    worker.on('error', onGone)
    worker.on('exit', onGone)
    worker.ref()
    worker.postMessage({ type: 'start', job, endsInMs: SEARCH_MS } satisfies ToWorker)
  })
}

function maskVisible(place: ToolPlace, paths: readonly string[]): Uint8Array {
  return Uint8Array.from(paths, (path) => (isHidden(place, path) ? 0 : 1))
}
