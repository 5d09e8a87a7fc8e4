// Appends to a ledger from many sides and writes each acknowledgement into the log of the recorder.
// node appender.mjs STORE_FILE STATE_DIR LOG OPTIONS
import { openSync, writeSync } from 'node:fs'

const [storeFile, dir, logFile, given] = process.argv.slice(2)
const { workers, appends, rounds, textChars, checkpointEvery, name, doom, resend, stubborn } = {
  workers: 6,
  appends: 25,
  rounds: 2,
  textChars: 2_000,
  checkpointEvery: 60,
  name: 'r',
  ...JSON.parse(given),
}
const { openSqliteStore } = await import(storeFile)
const log = openSync(logFile, 'a')

function tell(text) {
  const bytes = Buffer.from(JSON.stringify(text))
  const head = Buffer.alloc(32)
  head.writeUInt32LE(28 + bytes.length, 0)
  head.write('X', 4)
  writeSync(log, Buffer.concat([head, bytes]))
}

const event = (data) => ({ type: 'step', at: 1, actor: 'agent:a', epoch: 1, phase: 'A', contract: 'c', data })
const taskOf = (id) => ({
  id,
  title: id,
  status: 'queued',
  phase: 'A',
  agentId: null,
  contract: 'c',
  priority: 0,
  requires: [],
  dependsOn: [],
  leaseExpiresAt: null,
  approvalExpiresAt: null,
  openQuestions: 0,
  questions: 0,
  createdAt: 1,
  updatedAt: 1,
})

async function work(store, id) {
  const stream = `task:${id}`
  for (let version = 0; version < appends; ) {
    const key = `${id}-${version}`
    const text = 'x'.repeat(1 + Math.floor(Math.random() * textChars))
    try {
      const result = await store.append({
        stream,
        expectedVersion: version,
        events: [event({ version, text })],
        ...(version === 0 ? { task: taskOf(id) } : {}),
        remember: { principal: 'agent:a', key, bodyHash: 'b', status: 200, answer: { version } },
      })
      if (result.ok) tell({ stream, version: version + 1, hash: result.events[0].hash, key })
      // It was written the first time although nobody could be told so: now it is answered with that.
      else await recall(store, { stream, version: version + 1, key })
      version += 1
    } catch (error) {
      tell({ refused: error.name, stream, key })
      if (!stubborn) return
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
  }
}

/** What a server does with a request that comes again under its key: it answers with what it did the first time. */
async function recall(store, { stream, version, key }) {
  const kept = await store.recall({ principal: 'agent:a', key })
  const [event] = await store.readStream(stream, version - 1, 1)
  if (kept !== null && event !== undefined) tell({ stream, version, hash: event.hash, key })
}

for (let round = 0; round < rounds; round += 1) {
  const store = await openSqliteStore({ dir, checkpointEvery })
  tell({ opened: round })
  for (const one of resend ?? []) await recall(store, one)
  await Promise.all(Array.from({ length: workers }, (_, index) => work(store, `${name}${round}w${index}`)))
  if (doom !== undefined) {
    // From here on the disk fails; whatever the next append does, the process ends without closing the ledger.
    writeSync(openSync(process.env.TORTURE_FAULTS, 'r+'), Buffer.from(doom), 0, doom.length, 0)
    await work(store, 'doomed')
    process.exit(0)
  }
  if (resend !== undefined) process.exit(0)
  await store.close()
}
process.exit(0)
