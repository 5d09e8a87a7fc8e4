import { Worker } from 'node:worker_threads'
import type { InvertRequest } from './invert-tests.js'
import type { Inversion, NotJudgedReason } from './types.js'

const WORKER_FILE = new URL('../../dist/inverter/invert-worker.js', import.meta.url)
const FILE_MS_MAX = 10_000
const THREAD_MEMORY = { maxOldGenerationSizeMb: 512 }

/** Turns test files around on a thread of its own, one after the other. A file that breaks it or takes too long is not judged. */
export async function invertInThread(requests: readonly InvertRequest[]): Promise<readonly Inversion[]> {
  const inversions: Inversion[] = []
  let worker: Worker | null = null
  try {
    for (const request of requests) {
      worker ??= new Worker(WORKER_FILE, { execArgv: [], resourceLimits: THREAD_MEMORY })
      const made = await askWorker(worker, request)
      inversions.push(typeof made === 'string' ? notJudged(made) : made)
      if (typeof made !== 'string') continue
      await worker.terminate()
      worker = null
    }
  } finally {
    await worker?.terminate()
  }
  return inversions
}

async function askWorker(worker: Worker, request: InvertRequest): Promise<Inversion | NotJudgedReason> {
  let timer: NodeJS.Timeout | undefined
  try {
    return await new Promise((resolve) => {
      timer = setTimeout(() => resolve('took_too_long'), FILE_MS_MAX)
      worker.once('message', resolve)
      worker.once('error', () => resolve('not_parsed'))
      worker.once('exit', () => resolve('not_parsed'))
      worker.postMessage(request)
    })
  } finally {
    clearTimeout(timer)
    worker.removeAllListeners()
  }
}

function notJudged(reason: NotJudgedReason): Inversion {
  return { outcome: 'not_judged', reason, turnedAssertions: [], leftAlone: [], tests: [], libraries: [] }
}
