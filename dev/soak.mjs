// `npm run soak`: steady load on two nodes with one PostgreSQL database (or, with --store sqlite, on one server), while
// memory and open files of every server are counted. Exits 1 when they grow.
// node dev/soak.mjs [--minutes 20] [--agents 8] [--store postgres|sqlite]
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { prepareNode } from '../dist/store/prepare-node.js'
import { median, rssMegabytes } from './bench/measure.mjs'
import { startOwnPostgres } from './bench/postgres.mjs'
import { claimed, phaselock, place } from './bench/servers.mjs'

const CONTRACT = `
name: soak
version: "1"
phases:
  - {id: A, allowed_tools: [read_files, glob]}
  - {id: B, allowed_tools: [read_files, glob]}
  - {id: C, allowed_tools: [], required_artifacts: [{type: note, description: a note}]}
transitions:
  - {from: A, to: B}
  - {from: B, to: A, when: again}
  - {from: B, to: C}
`
const SAMPLE_MS = 5_000
/** An agent makes a call about this often. */
const PACE_MS = 200
/** Caches fill and the compiler warms up in this share of the time. */
const WARM_UP = 0.25
const GROWTH_MAX = 1.15
const FILES_MAX = 20
const MINUTES_MAX = 24 * 60

const { values: given } = parseArgs({
  options: {
    minutes: { type: 'string', default: '20' },
    agents: { type: 'string', default: '8' },
    store: { type: 'string', default: 'postgres' },
  },
})
const minutes = Number(given.minutes)
const agents = Number(given.agents)
if (!(minutes > 0 && minutes <= MINUTES_MAX) || !(agents >= 1 && agents <= 100)) {
  console.error(`--minutes takes up to ${MINUTES_MAX}, --agents 1 to 100`)
  process.exit(2)
}

const postgres = given.store === 'sqlite' ? null : await startOwnPostgres()
if (given.store !== 'sqlite' && postgres === null) {
  console.error('PostgreSQL is not installed (Debian package postgresql). --store sqlite needs none.')
  process.exit(2)
}
const places = []
const servers = []
const calls = { answered: 0, refused: 0, failed: 0 }
let isOver = false

try {
  await startServers()
  const work = []
  for (const [index, server] of servers.entries()) {
    const tasks = await claimed(server, Math.ceil(agents / servers.length), `soak${index}`)
    // Every agent talks to the next node, so that half of all calls are forwarded.
    const near = servers[(index + 1) % servers.length]
    for (const task of tasks) work.push(keepWorking(near, task))
    work.push(keepListening(near))
  }
  const samples = await takeSamples()
  isOver = true
  await Promise.all(work)
  report(samples)
} finally {
  for (const server of servers) await server.stop()
  for (const { remove } of places) remove()
  postgres?.remove()
}

async function startServers() {
  const environment =
    postgres === null
      ? {}
      : {
          PHASELOCK_STORE: await postgres.createDatabase(),
          ORCHESTRATOR_JWT_SECRET: 'a secret of more than thirty-two bytes',
          PHASELOCK_DRAIN: '0',
        }
  for (let index = 0; index < (postgres === null ? 1 : 2); index += 1) {
    const at = place()
    places.push(at)
    if (index > 0) prepareNode(join(places[0].dir, 'state'), join(at.dir, 'state'))
    const contract = join(at.dir, 'soak.yaml')
    writeFileSync(contract, CONTRACT)
    servers.push(await phaselock(at.dir, contract, environment))
  }
}

/** A check, a tool that runs, a refusal, what an agent looks at, and a transition: the same again and again. */
async function keepWorking({ call }, { taskId: task_id, token: first }) {
  let token = first
  let phase = 'A'
  const move = async () => {
    const target_phase = phase === 'A' ? 'B' : 'A'
    const claims = target_phase === 'A' ? { claims: { again: true } } : {}
    const said = await call('POST', '/tasks/transition', token, { task_id, target_phase, ...claims })
    if (typeof said.phase_token === 'string') {
      token = said.phase_token
      phase = target_phase
    }
    return said
  }
  const steps = [
    () => call('POST', '/tools/check', token, { task_id, tool_name: 'read_files', args: { path: 'a.txt' } }),
    () => call('POST', '/tools/execute', token, { task_id, tool_name: 'glob', args: { pattern: '**' } }),
    () => call('POST', '/tools/check', first, { task_id, tool_name: 'read_files', args: { path: 'a.txt' } }),
    () => call('GET', '/state/snapshot', token),
    () => call('POST', '/tasks/heartbeat', token, {}),
    move,
  ]
  for (let step = 0; !isOver; step += 1) {
    try {
      const said = await steps[step % steps.length]()
      calls[said.code === undefined ? 'answered' : 'refused'] += 1
    } catch {
      calls.failed += 1
    }
    await sleep(PACE_MS * (0.5 + Math.random()))
  }
}

/** Opens a stream of events, reads it for a while and leaves it. */
async function keepListening({ port, operator }) {
  while (!isOver) {
    const stop = AbortSignal.timeout(3_000)
    try {
      const headers = { authorization: `Bearer ${operator}` }
      const response = await fetch(`http://127.0.0.1:${port}/api/v1/events`, { headers, signal: stop })
      for await (const _chunk of response.body);
    } catch (error) {
      if (!stop.aborted) throw error
    }
  }
}

async function takeSamples() {
  const samples = servers.map(() => [])
  const end = performance.now() + minutes * 60_000
  while (performance.now() < end) {
    await sleep(SAMPLE_MS)
    for (const [index, { pid }] of servers.entries())
      samples[index].push({ megabytes: rssMegabytes(pid), files: readdirSync(`/proc/${pid}/fd`).length })
  }
  return samples
}

function report(samples) {
  const found = samples.map((all) => {
    const warm = all.slice(Math.floor(all.length * WARM_UP))
    const third = Math.max(1, Math.floor(warm.length / 3))
    const compare = (key) => {
      const [first, last] = [warm.slice(0, third), warm.slice(-third)].map((part) =>
        median(part.map((one) => one[key])),
      )
      return {
        first: Math.round(first),
        last: Math.round(last),
        most: Math.round(Math.max(...warm.map((one) => one[key]))),
      }
    }
    return { megabytes: compare('megabytes'), files: compare('files') }
  })
  const isFlat = found.every(
    ({ megabytes, files }) => megabytes.last <= megabytes.first * GROWTH_MAX && files.last <= files.first + FILES_MAX,
  )
  console.log(JSON.stringify({ minutes, store: given.store, agents, calls, servers: found, flat: isFlat }))
  if (!isFlat || calls.failed > 0 || calls.answered === 0) process.exitCode = 1
}

function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
