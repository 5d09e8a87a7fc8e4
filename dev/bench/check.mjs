// POST /tools/check, durable, against bare node:http with the same body and answer size, and against raw fsync.
import { alternate, cpuSeconds, line, medians, rawFsync, round } from './measure.mjs'
import { bare, claimed, phaselock, place } from './servers.mjs'
import { hasWrk, wrk } from './wrk.mjs'

const AGENTS = 100

export async function benchCheck({ rounds, seconds }) {
  if (!hasWrk()) return { skipped: 'wrk is not installed (Debian package wrk)' }
  const at = place()
  const server = await phaselock(at.dir)
  const tasks = await claimed(server, AGENTS)
  const args = { path: 'src/main.ts', offset: 0, limit: 200 }
  const requests = tasks.map((one) => ({
    token: one.token,
    body: { task_id: one.taskId, tool_name: 'read_files', args },
  }))
  const answer = JSON.stringify(await server.call('POST', '/tools/check', tasks[0].token, requests[0].body))
  const plain = await bare(at.dir, { answer })
  const synced = await bare(at.dir, { answer, fsync: true })
  const lines = []
  try {
    for (const connections of [1, 32, 256]) {
      const load = (port, pid) => () => {
        const before = cpuSeconds(pid)
        const result = wrk(at.dir, { port, path: '/api/v1/tools/check', requests, connections, seconds })
        return { ...result, cpuUs: ((cpuSeconds(pid) - before) / result.requests) * 1e6 }
      }
      const results = await alternate(rounds, {
        phaselock: load(server.port, server.pid),
        bare: load(plain.port, plain.pid),
        synced: load(synced.port, synced.pid),
        fsync: () => rawFsync(at.dir),
      })
      const speed = medians(results, (one) => one.perSecond)
      const p50 = medians(results, (one) => one.p50Ms)
      const cpu = medians({ phaselock: results.phaselock, bare: results.bare }, (one) => one.cpuUs)
      const goal = connections === 1 ? undefined : '≥ 0.75'
      lines.push(
        line(`check, ${connections} connections, against bare node:http`, {
          value: `${round(speed.phaselock)}/s`,
          baseline: `${round(speed.bare)}/s`,
          ratio: round(speed.phaselock / speed.bare),
          ...(goal === undefined ? {} : { goal }),
        }),
      )
      lines.push(
        line(`check, ${connections} connections, against bare node:http with an fsync each`, {
          value: `${round(speed.phaselock)}/s`,
          baseline: `${round(speed.synced)}/s`,
          ratio: round(speed.phaselock / speed.synced),
        }),
      )
      if (connections === 1)
        lines.push(
          line('check, p50 at one connection, against 3 × raw fsync p50 + bare p50', {
            value: `${round(p50.phaselock)} ms`,
            baseline: `${round(3 * p50.fsync + p50.bare)} ms`,
            ratio: round(p50.phaselock / (3 * p50.fsync + p50.bare)),
            goal: '≤ 1',
          }),
        )
      if (connections === 32)
        lines.push(
          line('check, server processor time per request, against bare', {
            value: `${round(cpu.phaselock)} µs`,
            baseline: `${round(cpu.bare)} µs`,
            ratio: round(cpu.phaselock / cpu.bare),
            goal: '≤ 1.5',
          }),
        )
      const p99 = medians({ phaselock: results.phaselock }, (one) => one.p99Ms).phaselock
      lines.push(
        line(`check, p99 at ${connections} connections, against the bound of 100 ms`, {
          value: `${round(p99)} ms`,
          baseline: '100 ms',
          ratio: round(p99 / 100),
          goal: '≤ 1',
        }),
      )
    }
  } finally {
    await Promise.all([server.stop(), plain.stop(), synced.stop()])
    at.remove()
  }
  return { lines }
}
