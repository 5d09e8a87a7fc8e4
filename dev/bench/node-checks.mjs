// POST /tools/check over two nodes on one PostgreSQL database, against one node, with the processor time that each part takes.
import { cpus } from 'node:os'
import { join } from 'node:path'
import { prepareNode } from '../../dist/store/prepare-node.js'
import { alternate, cpuSeconds, line, median, round } from './measure.mjs'
import { postgresCpuSeconds } from './postgres.mjs'
import { claimed, phaselock, place } from './servers.mjs'
import { hasWrk, wrkMeanwhile } from './wrk.mjs'

const CONNECTIONS = 64
const AGENTS = 50
const BODY = { tool_name: 'read_files', args: { path: 'src/main.ts', offset: 0, limit: 200 } }

export async function benchNodeChecks(url, { rounds, seconds }) {
  if (!hasWrk()) return []
  const environment = { PHASELOCK_STORE: url, ORCHESTRATOR_JWT_SECRET: 'a secret of more than thirty-two bytes' }
  const [a, b] = [place(), place()]
  const nodes = [await start(a.dir, environment, 'a')]
  try {
    prepareNode(join(a.dir, 'state'), join(b.dir, 'state'))
    nodes.push(await start(b.dir, environment, 'b'))
    const load = (used) => () => measure(a.dir, used, seconds)
    const results = await alternate(rounds, { one: load(nodes.slice(0, 1)), two: load(nodes) })
    const [one, two] = [results.one, results.two].map((runs) => median(runs.map(({ perSecond }) => perSecond)))
    return [
      line(`checks at ${CONNECTIONS} connections on two nodes, against one`, {
        value: `${round(two)}/s`,
        baseline: `${round(one)}/s`,
        ratio: round(two / one),
        goal: '≥ 1.7',
      }),
      ...Object.entries(results).map(([name, runs]) => describe(name, runs)),
    ]
  } finally {
    for (const node of nodes) await node.stop()
    for (const at of [a, b]) at.remove()
  }
}

async function start(dir, environment, name) {
  const server = await phaselock(dir, 'tdd', { ...environment, PHASELOCK_DRAIN: '0' })
  const tasks = await claimed(server, AGENTS, name)
  return { ...server, requests: tasks.map(({ token, taskId }) => ({ token, body: { task_id: taskId, ...BODY } })) }
}

async function measure(dir, nodes, seconds) {
  const count = () => ({
    nodes: nodes.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0),
    postgres: postgresCpuSeconds(),
    at: performance.now(),
  })
  const before = count()
  const path = '/api/v1/tools/check'
  const connections = CONNECTIONS / nodes.length
  const runs = await Promise.all(
    nodes.map(({ port, requests }) => wrkMeanwhile(dir, { port, path, requests, connections, seconds })),
  )
  const after = count()
  const checks = runs.reduce((sum, { requests }) => sum + requests, 0)
  const each = (part) => ((after[part] - before[part]) / checks) * 1e6
  const elapsed = (after.at - before.at) / 1000
  return {
    perSecond: runs.reduce((sum, { perSecond }) => sum + perSecond, 0),
    nodesUs: each('nodes'),
    postgresUs: each('postgres'),
    share: (after.nodes - before.nodes + after.postgres - before.postgres) / (elapsed * cpus().length),
  }
}

// Where the processors are busy with nodes and PostgreSQL already, a second node has nothing to run on.
function describe(name, runs) {
  const pick = (key) => median(runs.map((run) => run[key]))
  const [nodes, postgres] = [round(pick('nodesUs')), round(pick('postgresUs'))]
  return line(`processor time of a check on ${name} node${name === 'one' ? '' : 's'}: nodes, PostgreSQL`, {
    value: `${nodes} + ${postgres} µs`,
    baseline: `${cpus().length} cores`,
    ratio: round(pick('share')),
  })
}
