import { parentPort, workerData } from 'node:worker_threads'
import { readChainKey } from '../keys.js'
import type { FromWriter, ToWriter, WireAppend } from '../wire.js'
import { readHead, writeWholeHead } from '../write/head.js'
import { createWritePool } from './connect.js'
import type { NodeLease } from './node-lease.js'
import { PostgresWriter } from './postgres-writer.js'

const BATCH_MAX = 1_024

interface Place {
  readonly dir: string
  readonly url: string
  readonly lease: NodeLease
  readonly channel: string
}

run(workerData as Place)

function run(place: Place): void {
  const port = parentPort
  if (port === null) throw new Error('postgres-writer-worker.ts runs as a worker thread only')
  const post = (message: FromWriter) => port.postMessage(message)
  const head = openHead(place.dir)
  if (head === null) {
    post({ type: 'refused', code: 'tampered', message: 'ledger.key or ledger.head is missing or not valid.' })
    return
  }
  const pool = createWritePool(place.url)
  const writer = new PostgresWriter({ ...place, ...head, pool, onCommitting: () => post({ type: 'committing' }) })
  const queue: WireAppend[] = []
  let isRunning = false
  let isStopping = false

  const write = async () => {
    isRunning = true
    // Everything that arrives during one transaction goes into the next one.
    while (queue.length > 0) {
      const results = await writer.apply(queue.splice(0, BATCH_MAX))
      post({ type: 'results', json: JSON.stringify(results), lastSeq: writer.lastSeq, batches: writer.batches })
    }
    isRunning = false
    if (!isStopping) return
    await pool.end()
    post({ type: 'stopped' })
    port.close()
  }
  port.on('message', (message: ToWriter) => {
    if (message.type === 'stop') isStopping = true
    else queue.push(...(JSON.parse(message.json) as WireAppend[]))
    if (!isRunning) void write()
  })
  post({ type: 'ready' })
}

/** The head as the file has it: at the first start and after a thread that died. */
function openHead(dir: string) {
  const key = readChainKey(dir)
  const found = key === null ? null : readHead(dir, key)
  if (key === null || found?.state !== 'valid') return null
  const { head, generation, torn } = found
  return { key, head, generation: torn ? writeWholeHead(dir, key, { head, generation }) : generation }
}
