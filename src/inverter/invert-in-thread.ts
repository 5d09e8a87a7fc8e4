import { Worker } from 'node:worker_threads'
import { PACKAGE_ROOT } from '../base/package-root.js'
import type { InvertRequest } from './invert-tests.js'
import type { Inversion, NotJudgedReason } from './types.js'

const WORKER_FILE = new URL('dist/program/invert-worker.js', PACKAGE_ROOT)
const FILE_MS_MAX = 10_000
// A busy machine takes long to start a thread and load a grammar; no agent's text is read meanwhile.
const START_MS_MAX = 120_000
const THREAD_MEMORY = { maxOldGenerationSizeMb: 512 }

/**
 * Inverts test files on a separate thread, one after the other. A file that breaks it or takes too long is not judged.
 */
export async function invertInThread(requests: readonly InvertRequest[]): Promise<readonly Inversion[]> {
  const inversions: Inversion[] = []
  let worker: Worker | null = null
  try {
    for (const request of requests) {
      worker ??= startWorker()
      const started = await askWorker(worker, { path: request.path, text: '', seed: '' }, START_MS_MAX)
      const made = typeof started === 'string' ? started : await askWorker(worker, request, FILE_MS_MAX)
      inversions.push(typeof made === 'string' ? makeNotJudged(made) : made)
      if (typeof made !== 'string') continue
      await worker.terminate()
      worker = null
    }
  } finally {
    await worker?.terminate()
  }
  return inversions
}

function startWorker(): Worker {
  const worker = new Worker(WORKER_FILE, { execArgv: [], resourceLimits: THREAD_MEMORY })
  // An error between two requests would otherwise end this process.
  worker.on('error', () => undefined)
  return worker
}

function askWorker(worker: Worker, request: InvertRequest, msMax: number): Promise<Inversion | NotJudgedReason> {
  return new Promise((resolve) => {
    const answer = (made: Inversion | NotJudgedReason): void => {
      clearTimeout(timer)
      worker.off('message', answer)
      worker.off('error', broke)
      worker.off('exit', broke)
      resolve(made)
    }
    const broke = (): void => answer('not_parsed')
    const timer = setTimeout(() => answer('took_too_long'), msMax)
    worker.on('message', answer)
    worker.on('error', broke)
    worker.on('exit', broke)
    worker.postMessage(request)
  })
}

function makeNotJudged(reason: NotJudgedReason): Inversion {
  return { outcome: 'not_judged', reason, turnedAssertions: [], leftAlone: [], tests: [], libraries: [] }
}
