import { parentPort } from 'node:worker_threads'
import { type InvertRequest, invertTests } from './invert-tests.js'

// The texts come from an agent: whatever one of them does to the parser ends with this thread.
parentPort?.on('message', async (request: InvertRequest) => {
  parentPort?.postMessage(await invertTests(request))
})
