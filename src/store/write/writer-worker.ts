import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { openLedger, toRefusal } from '../open-ledger.js'
import type { FromWriter, ToWriter, WireAppend } from '../wire.js'
import { LedgerWriter } from './ledger-writer.js'

const BATCH_MAX = 1_024

run((workerData as { dir: string }).dir)

function run(dir: string): void {
  const port = parentPort
  if (port === null) throw new Error('writer-worker.ts runs as a worker thread only')
  const post = (message: FromWriter) => port.postMessage(message)
  const writer = open(dir, post)
  if (writer === null) return

  const stop = () => {
    writer.close()
    post({ type: 'stopped' })
    port.close()
  }
  port.on('message', (first: ToWriter) => {
    let message: ToWriter | null = first
    const batch: WireAppend[] = []
    let isStopping = false
    // Everything queued during the last transaction goes into this one: one fsync for all of it.
    while (message !== null) {
      if (message.type === 'stop') isStopping = true
      else batch.push(...(JSON.parse(message.json) as WireAppend[]))
      message = batch.length < BATCH_MAX && !isStopping ? nextMessage(port) : null
    }
    if (batch.length > 0) {
      const results = writer.apply(batch)
      post({ type: 'results', json: JSON.stringify(results), lastSeq: writer.lastSeq, batches: writer.batches })
    }
    if (isStopping) stop()
  })
  post({ type: 'ready' })
}

function open(dir: string, post: (message: FromWriter) => void): LedgerWriter | null {
  try {
    return new LedgerWriter({ dir, ...openLedger(dir) })
  } catch (error) {
    const { code, message } = toRefusal(error)
    post({ type: 'refused', code, message })
    return null
  }
}

function nextMessage(port: NonNullable<typeof parentPort>): ToWriter | null {
  const received = receiveMessageOnPort(port) as { message: ToWriter } | undefined
  return received?.message ?? null
}
