// Time until /ready: on an empty store, and with 1,000,000 events in 10,000 tasks; and the verification of all of them.
import { join } from 'node:path'
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
  await fill(join(full.dir, 'state'), { events, tasks })
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

async function fill(dir, { events, tasks }) {
  const { openSqliteStore } = await import('../../dist/store/sqlite-store.js')
  const store = await openSqliteStore({ dir, checkpointEvery: 100_000 })
  const contract = (await store.readStream('system', 0, 1))[0].data.hash
  const each = Math.ceil(events / tasks)
  const batch = 50
  const event = (type, data) => ({
    type,
    at: 1_700_000_000_000,
    actor: 'agent:a',
    epoch: 1,
    phase: 'PLAN',
    contract,
    data,
  })
  const created = (id) =>
    event('task_created', {
      id,
      title: id,
      description: '',
      contract_hash: contract,
      contract_name: 'tdd',
      contract_version: '1.0',
      start: 'PLAN',
      workspace: '/tmp',
      depends_on: [],
      requires: [],
      metadata: {},
      mode: null,
      priority: 0,
    })
  const call = event('tool_allowed', {
    tool_name: 'read_files',
    args: { path: 'src/main.ts' },
    agent_id: 'a',
    success: true,
    execute: false,
    violation: null,
    lease_seconds: 900,
  })
  let next = 0
  await Promise.all(
    Array.from({ length: 32 }, async () => {
      while (next < tasks) {
        const id = `fill-${next}`
        next += 1
        const row = {
          id,
          title: id,
          status: 'queued',
          phase: 'PLAN',
          agentId: null,
          contract,
          priority: 0,
          requires: [],
          dependsOn: [],
          leaseExpiresAt: null,
          approvalExpiresAt: null,
          openQuestions: 0,
          questions: 0,
          createdAt: 1_700_000_000_000,
          updatedAt: 1_700_000_000_000,
        }
        await store.append({ stream: `task:${id}`, expectedVersion: 0, events: [created(id)], task: row })
        for (let version = 1; version < each; version += batch)
          await store.append({
            stream: `task:${id}`,
            expectedVersion: version,
            events: Array.from({ length: Math.min(batch, each - version) }, () => call),
          })
      }
    }),
  )
  await store.close()
}
