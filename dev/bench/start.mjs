// Time until /ready: on an empty store, and with 1,000,000 events in 10,000 tasks; and the verification of all of them.
import { join } from 'node:path'
import { fillLedger } from './fill-ledger.mjs'
import { line, median, round } from './measure.mjs'
import { phaselock, place } from './servers.mjs'

export async function benchStart({ events, tasks }) {
  const lines = []
  const empty = place()
  const first = await phaselock(empty.dir)
  await first.stop()
  const times = []
  for (let i = 0; i < 3; i += 1) {
    const again = await phaselock(empty.dir)
    times.push(again.readyMs)
    await again.stop()
  }
  empty.remove()
  lines.push(
    line('ready on a small store, against 1 s', {
      value: `${round(median(times))} ms`,
      baseline: '1000 ms',
      ratio: round(median(times) / 1000),
      goal: '≤ 1',
    }),
  )

  const full = place()
  const made = await phaselock(full.dir)
  await made.stop()
  await fillLedger(join(full.dir, 'state'), { events, tasks })
  const server = await phaselock(full.dir)
  lines.push(
    line(`ready with ${events} events, against 5 s`, {
      value: `${round(server.readyMs)} ms`,
      baseline: '5000 ms',
      ratio: round(server.readyMs / 5000),
      goal: '≤ 1',
    }),
  )
  const start = performance.now()
  const report = await server.call('GET', '/audit/verify', server.operator)
  if (report.ok !== true) throw new Error(`the ledger failed verification: ${JSON.stringify(report.problems)}`)
  lines.push(
    line(`audit verify of ${report.events} events`, {
      value: `${round((performance.now() - start) / 1000)} s`,
      baseline: '',
      ratio: round(report.events / ((performance.now() - start) / 1000)),
    }),
  )
  await server.stop()
  full.remove()
  return { lines }
}
