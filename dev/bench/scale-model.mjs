// What a number of tool calls a minute needs, from constants that are measured here, and where it breaks first.
// node dev/bench/scale-model.mjs [--calls 1000000] [--json]
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openSqliteStore } from '../../dist/store/sqlite-store.js'

const { values: given } = parseArgs({
  options: { calls: { type: 'string', default: '1000000' }, json: { type: 'boolean', default: false } },
})
const callsPerMinute = Number(given.calls)
if (!Number.isSafeInteger(callsPerMinute) || callsPerMinute < 1) {
  console.error('--calls takes a positive whole number')
  process.exit(2)
}

/** Each tool call is decided and finished: two appends, one event each. */
const APPENDS_PER_CALL = 2
const WRITERS = 64
const MEASURE_MS = 3_000
/** A machine is not planned to be busier than this. */
const LOAD_MAX = 0.6
/** Assumed, not measured in this run: what PostgreSQL on the same machine takes with 64 writers, as a share of SQLite. */
const POSTGRES_SHARE = 0.4
const WRITES_OF_PAYLOAD = { step: 0, tool_name: 'bash', text: 'x'.repeat(300) }

const fsyncsPerSecond = measureFsync()
const store = await measureStore()
const model = buildModel({ fsyncsPerSecond, ...store })
if (given.json) console.log(JSON.stringify(model, null, 2))
else print(model)

function measureFsync() {
  const dir = mkdtempSync(join(tmpdir(), 'phaselock-model-'))
  const file = openSync(join(dir, 'file'), 'w')
  const block = Buffer.alloc(4096, 1)
  const startedAt = performance.now()
  let count = 0
  while (performance.now() - startedAt < MEASURE_MS) {
    writeSync(file, block, 0, block.length, 0)
    fdatasyncSync(file)
    count += 1
  }
  closeSync(file)
  rmSync(dir, { recursive: true })
  return (count * 1000) / MEASURE_MS
}

async function measureStore() {
  const dir = mkdtempSync(join(tmpdir(), 'phaselock-model-'))
  const opened = await openSqliteStore({ dir })
  const event = { type: 'tool_allowed', at: 1, actor: 'agent:a', epoch: 1, phase: 'A', contract: 'c' }
  const startedAt = performance.now()
  const cpuBefore = process.cpuUsage()
  let appends = 0
  const write = async (index) => {
    for (let version = 0; performance.now() - startedAt < MEASURE_MS; version += 1) {
      const data = { ...WRITES_OF_PAYLOAD, step: version }
      await opened.append({ stream: `task:${index}`, expectedVersion: version, events: [{ ...event, data }] })
      appends += 1
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, (_, index) => write(index)))
  const seconds = (performance.now() - startedAt) / 1000
  const { user, system } = process.cpuUsage(cpuBefore)
  const { batches } = opened
  await opened.close()
  const bytes = statSync(join(dir, 'ledger.db')).size
  rmSync(dir, { recursive: true })
  return {
    appendsPerSecond: appends / seconds,
    appendsPerFsync: appends / batches,
    cpuSecondsPerAppend: (user + system) / 1e6 / appends,
    bytesPerEvent: bytes / appends,
  }
}

function buildModel(measured) {
  const callsPerSecond = callsPerMinute / 60
  const appendsPerSecond = callsPerSecond * APPENDS_PER_CALL
  const perLedger = measured.appendsPerSecond * LOAD_MAX
  const perDatabase = perLedger * POSTGRES_SHARE
  const limits = [
    {
      what: 'one embedded store: one writer thread, one fsync at a time',
      callsPerMinute: Math.round((perLedger / APPENDS_PER_CALL) * 60),
    },
    {
      what: 'one PostgreSQL database (assumed to take 0.4 of what the embedded store takes): the row of the head is locked by one batch at a time, whatever number of nodes',
      callsPerMinute: Math.round((perDatabase / APPENDS_PER_CALL) * 60),
    },
  ].sort((a, b) => a.callsPerMinute - b.callsPerMinute)
  const days = (measured.bytesPerEvent * appendsPerSecond * 86_400) / 1e9
  return {
    machine: { cores: cpus().length, node: process.version },
    measured,
    asked: { callsPerMinute, appendsPerSecond: Math.round(appendsPerSecond) },
    needs: {
      ledgers: Math.ceil(appendsPerSecond / perLedger),
      databases: Math.ceil(appendsPerSecond / perDatabase),
      coresForAppends: Math.ceil((appendsPerSecond * measured.cpuSecondsPerAppend) / LOAD_MAX),
      gigabytesPerDay: Math.round(days),
      networkMegabytesPerSecond: Math.round((appendsPerSecond * measured.bytesPerEvent) / 1e6),
    },
    breaksFirst: limits,
    shardBy:
      'repository (work tree): tasks of one tree share leases, paths and reviews, and no rule looks at tasks of two trees. ' +
      'Each shard is a ledger of its own with its keys; a proxy chooses it by the work tree. One chain for each task, as now, needs no order between shards.',
  }
}

function print({ machine, measured, asked, needs, breaksFirst, shardBy }) {
  const round = (value, digits = 0) => value.toFixed(digits)
  console.log(`Measured here (${machine.cores} cores, Node ${machine.node}):`)
  console.log(`  raw fsync               ${round(measured.fsyncsPerSecond)} a second`)
  console.log(`  durable appends         ${round(measured.appendsPerSecond)} a second with ${WRITERS} writers`)
  console.log(`  appends for one fsync   ${round(measured.appendsPerFsync, 1)}`)
  console.log(`  processor for an append ${round(measured.cpuSecondsPerAppend * 1e6)} µs`)
  console.log(`  ledger for an event     ${round(measured.bytesPerEvent)} bytes`)
  console.log(
    `\n${asked.callsPerMinute} tool calls a minute are ${asked.appendsPerSecond} appends a second. They need:`,
  )
  console.log(
    `  ${needs.ledgers} embedded ledgers, or ${needs.databases} PostgreSQL databases, each below ${LOAD_MAX * 100} % load`,
  )
  console.log(`  ${needs.coresForAppends} cores for appends alone; commands of agents come on top`)
  console.log(
    `  ${needs.gigabytesPerDay} GB of ledger a day before retention, ${needs.networkMegabytesPerSecond} MB/s to the disks`,
  )
  console.log('\nWhat breaks first, on machines like this one:')
  for (const { what, callsPerMinute: calls } of breaksFirst) console.log(`  at ${calls} calls a minute: ${what}`)
  console.log(`\nShard by ${shardBy}`)
}
