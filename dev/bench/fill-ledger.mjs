// A ledger with many tasks and events.

/** So many appends share one transaction, and with it one write to the disk. */
const WRITERS = 256

/** Tasks with the same number of tool calls each, written through the store: calls would take hours. */
export async function fillLedger(dir, { events, tasks, at = 1_700_000_000_000, name = (number) => `fill-${number}` }) {
  const { openSqliteStore } = await import('../../dist/store/sqlite-store.js')
  const store = await openSqliteStore({ dir, checkpointEvery: 100_000 })
  const contract = (await store.readStream('system', 0, 1))[0].data.hash
  const each = Math.ceil(events / tasks)
  const batch = 50
  const event = (type, data) => ({
    type,
    at,
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
    Array.from({ length: WRITERS }, async () => {
      while (next < tasks) {
        const id = name(next)
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
          createdAt: at,
          updatedAt: at,
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
