import { parentPort, workerData } from 'node:worker_threads'
import { Engine } from './engine.js'
import type { FromThread, Job, Setup, ToThread } from './protocol.js'

run(workerData as Setup)

function run(setup: Setup): void {
  const port = parentPort
  if (port === null) throw new Error('knowledge-worker.ts runs as a worker thread only')
  const engine = new Engine(setup)
  port.on('message', ({ id, job }: ToThread) => {
    perform(engine, job).then(
      (value) => {
        port.postMessage({ id, ok: true, value } satisfies FromThread)
        if (job.type === 'close') port.close()
      },
      (error) => port.postMessage({ id, ok: false, message: String(error) } satisfies FromThread),
    )
  })
}

async function perform(engine: Engine, job: Job): Promise<unknown> {
  switch (job.type) {
    case 'search':
      return engine.search(job.request)
    case 'refresh':
      return engine.refresh()
    case 'settle':
      return engine.settle()
    case 'status':
      return engine.getStatus()
    case 'close':
      return engine.close()
  }
}
