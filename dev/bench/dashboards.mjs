// What open dashboards cost: decisions with 200 event streams that are read, against the same without any.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { alternate, cpuSeconds, line, medians, round } from './measure.mjs'
import { claimed, phaselock, place, ROOT } from './servers.mjs'

const AGENTS = 20
const RATES = [50]

export async function benchDashboards({ rounds, seconds, streams = 200 }) {
  const at = place()
  const server = await phaselock(at.dir)
  const lines = []
  try {
    const tasks = await claimed(server, AGENTS)
    const check = async (index) => {
      const { taskId, token } = tasks[index % tasks.length]
      const began = performance.now()
      const body = { task_id: taskId, tool_name: 'read_files', args: { path: 'src/main.ts' } }
      await server.call('POST', '/tools/check', token, body)
      return performance.now() - began
    }
    for (const rate of RATES) {
      const seen = await alternate(rounds, {
        without: () => measureDecisions({ check, rate, seconds, pid: server.pid }),
        with: () => withStreams(server, streams, () => measureDecisions({ check, rate, seconds, pid: server.pid })),
      })
      const p50 = medians(seen, (one) => one.p50)
      const p95 = medians(seen, (one) => one.p95)
      for (const [name, took] of Object.entries({ median: p50, '95 %': p95 }))
        lines.push(
          line(`a decision at ${rate} a second, ${name}, with ${streams} dashboards open, against none`, {
            value: `${round(took.with)} ms`,
            baseline: `${round(took.without)} ms`,
            ratio: round(took.with / took.without),
            ...(name === 'median' ? { goal: '≤ 1.33' } : {}),
          }),
        )
      const cpu = medians(seen, (one) => one.cpuMs)
      lines.push(
        line(`processor time of the server for a decision at ${rate} a second, with ${streams} dashboards open`, {
          value: `${round(cpu.with)} ms`,
          baseline: `${round(cpu.without)} ms`,
          ratio: round(cpu.with / cpu.without),
        }),
      )
    }
  } finally {
    await server.stop()
    at.remove()
  }
  return { lines }
}

/** Decisions at a steady rate; those before them do not delay the next. */
async function measureDecisions({ check, rate, seconds, pid }) {
  const running = []
  const began = cpuSeconds(pid)
  for (let index = 0; index < rate * seconds; index += 1) {
    running.push(check(index))
    await new Promise((resolve) => setTimeout(resolve, 1000 / rate))
  }
  const took = (await Promise.all(running)).sort((a, b) => a - b)
  const cpuMs = ((cpuSeconds(pid) - began) * 1000) / took.length
  return { p50: took[Math.floor(took.length / 2)], p95: took[Math.floor(took.length * 0.95)], cpuMs }
}

// In a process of its own, so that reading the streams does not delay what is measured.
async function withStreams(server, count, measure) {
  const child = spawn(process.execPath, [join(ROOT, 'dev/bench/read-streams.mjs')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, PORT: String(server.port), TOKEN: server.operator, STREAMS: String(count) },
  })
  const [said] = await once(child.stdout, 'data')
  if (!String(said).startsWith('open')) throw new Error(String(said))
  try {
    return await measure()
  } finally {
    child.kill()
  }
}
