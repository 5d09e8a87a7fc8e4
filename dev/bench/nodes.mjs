// Durable appends to PostgreSQL with 64 writers, from one node and from two, against raw fsync, and checks over HTTP. It
// brings up its own PostgreSQL in the temporary folder. PHASELOCK_BENCH_STORE names an empty database of another server.
import { fork } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { line, median, rawFsync, round } from './measure.mjs'
import { benchNodeChecks } from './node-checks.mjs'
import { startOwnPostgres } from './postgres.mjs'
import { place } from './servers.mjs'

const WRITERS = 64
const RUN_MS = 2_000
const HERE = fileURLToPath(import.meta.url)

export async function benchNodes({ rounds, seconds }) {
  const given = process.env.PHASELOCK_BENCH_STORE
  const own = given === undefined ? await startOwnPostgres() : null
  if (given === undefined && own === null) return { skipped: 'PostgreSQL is not installed (Debian package postgresql)' }
  try {
    const lines = await benchAppends(given ?? (await own.createDatabase()), rounds)
    const checks = own === null ? [] : await benchNodeChecks(await own.createDatabase(), { rounds, seconds })
    return { lines: [...lines, ...checks] }
  } finally {
    own?.remove()
  }
}

async function benchAppends(url, rounds) {
  const at = place()
  const dirs = ['a', 'b'].map((name) => join(at.dir, name))
  const nodes = [await startWriter(url, dirs[0])]
  const { prepareNode } = await import('../../dist/store/prepare-node.js')
  prepareNode(dirs[0], dirs[1])
  nodes.push(await startWriter(url, dirs[1]))
  const speeds = { one: [], two: [], fsync: [] }
  try {
    for (let turn = 0; turn < rounds; turn += 1) {
      speeds.one.push(await nodes[0].write(WRITERS))
      const both = await Promise.all(nodes.map((node) => node.write(WRITERS / 2)))
      speeds.two.push(both[0] + both[1])
      speeds.fsync.push(rawFsync(at.dir).perSecond)
    }
  } finally {
    for (const node of nodes) await node.stop()
    at.remove()
  }
  const [one, two, fsync] = [speeds.one, speeds.two, speeds.fsync].map(median)
  return [
    line(`durable appends to PostgreSQL, ${WRITERS} writers, against raw fsync`, {
      value: `${round(one)}/s`,
      baseline: `${round(fsync)}/s`,
      ratio: round(one / fsync),
      goal: '≥ 5',
    }),
    line('the same from two nodes, against one', {
      value: `${round(two)}/s`,
      baseline: `${round(one)}/s`,
      ratio: round(two / one),
      goal: '≥ 1.7',
    }),
  ]
}

async function startWriter(url, dir) {
  const child = fork(HERE, ['writer', url, dir], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const next = () => new Promise((resolve) => child.once('message', resolve))
  await next()
  return {
    write: (writers) => {
      const done = next()
      child.send({ writers })
      return done
    },
    stop: () => {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.send({ stop: true })
      return ended
    },
  }
}

const EVENT = {
  type: 'tool_allowed',
  at: 1_700_000_000_000,
  actor: 'agent:a',
  epoch: 1,
  phase: 'PLAN',
  contract: 'c'.repeat(64),
  data: { tool_name: 'read_files', args: { path: 'src/main.ts' }, agent_id: 'a', success: true },
}

async function serveWrites(url, dir) {
  const { openPostgresStore } = await import('../../dist/store/postgres/postgres-store.js')
  const store = await openPostgresStore({ url, dir })
  const versions = new Map()
  process.on('message', async ({ writers, stop }) => {
    if (stop === true) {
      await store.close()
      process.exit()
    }
    const start = performance.now()
    let count = 0
    const write = async (_, writer) => {
      const stream = `task:${store.cluster.nodeId}-${writer}`
      while (performance.now() < start + RUN_MS) {
        const expectedVersion = versions.get(stream) ?? 0
        const result = await store.append({ stream, expectedVersion, events: [EVENT] })
        if (!result.ok) throw new Error(result.reason)
        // As the server does, so that its own events are not read again.
        store.cluster.note(result.events)
        versions.set(stream, expectedVersion + 1)
        count += 1
      }
    }
    await Promise.all(Array.from({ length: writers }, write))
    process.send((count * 1000) / (performance.now() - start))
  })
  process.send('ready')
}

if (process.argv[2] === 'writer') await serveWrites(process.argv[3], process.argv[4])
