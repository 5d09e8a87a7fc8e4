// Durable appends with 64 writers against raw fsync.
import { join } from 'node:path'
import { alternate, line, medians, rawFsync, round } from './measure.mjs'
import { place } from './servers.mjs'

const WRITERS = 64
const RUN_MS = 1500

export async function benchStore({ rounds }) {
  const { openSqliteStore } = await import('../../dist/store/sqlite-store.js')
  const at = place()
  const store = await openSqliteStore({ dir: join(at.dir, 'state') })
  const versions = new Map()
  const event = {
    type: 'tool_allowed',
    at: 1_700_000_000_000,
    actor: 'agent:a',
    epoch: 1,
    phase: 'PLAN',
    contract: 'c'.repeat(64),
    data: { tool_name: 'read_files', args: { path: 'src/main.ts' }, agent_id: 'a', success: true },
  }
  const appends = async () => {
    const end = performance.now() + RUN_MS
    const start = performance.now()
    let count = 0
    await Promise.all(
      Array.from({ length: WRITERS }, async (_, writer) => {
        const stream = `task:w${writer}`
        while (performance.now() < end) {
          const expectedVersion = versions.get(stream) ?? 0
          const result = await store.append({ stream, expectedVersion, events: [event] })
          if (!result.ok) throw new Error(result.reason)
          versions.set(stream, expectedVersion + 1)
          count += 1
        }
      }),
    )
    return (count * 1000) / (performance.now() - start)
  }
  try {
    const results = await alternate(rounds, { appends, fsync: () => rawFsync(at.dir).perSecond })
    const speed = medians(results)
    return {
      lines: [
        line(`durable appends, ${WRITERS} writers, against raw fsync`, {
          value: `${round(speed.appends)}/s`,
          baseline: `${round(speed.fsync)}/s`,
          ratio: round(speed.appends / speed.fsync),
          goal: '≥ 10',
        }),
      ],
    }
  } finally {
    await store.close()
    at.remove()
  }
}
