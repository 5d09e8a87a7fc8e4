import { expect, onTestFinished, test } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite-store.js'
import type { Append, Store } from '../../src/store/store.js'
import { openMemoryStore } from '../store/memory-store.js'
import { scratch } from './disk/place.js'

const step = (version: number, line: number, events = 1): Append => ({
  stream: 'task:a',
  expectedVersion: version,
  line,
  events: Array.from({ length: events }, () => ({
    type: `line-${line}`,
    at: 1,
    actor: 'agent:a',
    epoch: 1,
    phase: null,
    contract: null,
    data: {},
  })),
})

// The torture of kills found it: two refused requests on an outdated state raised its version to that of a claim
// that others had made meanwhile, and a second claim decided on that state fitted by its number alone.
test.for([
  ['memory', async () => openMemoryStore()],
  ['sqlite', async () => openSqliteStore({ dir: scratch() })],
] as const)(
  '[REQ-TORTURE-8] what was decided on top of an append that was not written is not written, even when its version fits (%s)',
  async ([, open]) => {
    const store: Store = await open()
    onTestFinished(() => store.close())
    await store.append(step(0, 1))
    const results = await Promise.all([
      store.append(step(1, 1, 2)),
      store.append(step(1, 2)),
      store.append(step(2, 2)),
      store.append(step(3, 2)),
      store.append(step(3, 1)),
      store.append(step(4, 3)),
    ])
    expect(results.map((result) => (result.ok ? 'written' : result.reason))).toEqual([
      'written',
      'version_conflict',
      'version_conflict',
      'version_conflict',
      'written',
      'written',
    ])
    expect((await store.readStream('task:a', 0, 9)).map((event) => event.type)).toEqual([
      'line-1',
      'line-1',
      'line-1',
      'line-1',
      'line-3',
    ])
    expect(await store.append(step(5, 2))).toEqual({ ok: false, reason: 'version_conflict', version: 5 })
    expect((await store.verify()).problems).toEqual([])
  },
)
