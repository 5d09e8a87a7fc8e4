import { parentPort } from 'node:worker_threads'
import { type InvertRequest, invertTests } from './invert-tests.js'

// The texts come from an agent: whatever they do to the parser ends with this thread.
parentPort?.on('message', async (request: InvertRequest) => {
  parentPort?.postMessage(await invertTests(request))
})
