import { renameSync } from 'node:fs'
import { join } from 'node:path'
import type { Pool, PoolClient } from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readChainKey } from '../../src/store/keys.js'
import { createWritePool } from '../../src/store/postgres/connect.js'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.js'
import { PostgresWriter } from '../../src/store/postgres/postgres-writer.js'
import { toWireAppend } from '../../src/store/wire.js'
import { readHead } from '../../src/store/write/head.js'
import { Writer } from '../../src/store/write/writer.js'
import { events, newEvent, newTask, sha256, temporaryDirectory } from './events.js'
import { findPostgres, type PostgresServer, startPostgres } from './postgres-server.js'

const bin = findPostgres()
let server: PostgresServer

const one = (stream: string, expectedVersion = 0) => ({ stream, expectedVersion, events: [newEvent()] })

/** A store, and what a second writer needs to write as its node. */
async function openNode() {
  const url = await server.createDatabase()
  const dir = temporaryDirectory()
  const store = await openPostgresStore({ url, dir })
  onTestFinished(() => store.close())
  const [row] = await server.run(url, 'SELECT id, epoch FROM node')
  return { url, dir, store, lease: { nodeId: String(row?.id), epoch: Number(row?.epoch) } }
}

/** A pool whose connections lose the statements of a name on the way: they look carried out and never arrive. */
function createLossyPool(url: string, lost: string, isLost: () => boolean): Pool {
  const pool = createWritePool(url)
  onTestFinished(() => pool.end())
  pool.on('connect', (client: PoolClient) => {
    const send = client.query.bind(client) as (...all: readonly unknown[]) => unknown
    const query = (...all: readonly unknown[]) =>
      isLost() && JSON.stringify(all[0]).includes(lost) ? Promise.resolve({ rows: [] }) : send(...all)
    Object.assign(client, { query })
  })
  return pool
}

describe.skipIf(bin === null)('the writer of the store in PostgreSQL (skipped where it is not installed)', () => {
  beforeAll(async () => {
    server = await startPostgres(bin ?? '')
  })
  afterAll(() => server?.remove())

  for (const lost of ['batch_events', 'batch_tasks_write', 'batch_blob', 'batch_remember', 'DELETE FROM dependency'])
    test(`[REQ-POSTGRES-3] a batch of which ${lost} does not reach PostgreSQL is not committed`, async () => {
      const { url, dir, store, lease } = await openNode()
      const key = readChainKey(dir)
      const found = key === null ? null : readHead(dir, key)
      if (key === null || found?.state !== 'valid') throw new Error('the store has made no head')
      let isLost = true
      const pool = createLossyPool(url, lost, () => isLost)
      const place = { pool, dir, key, lease, channel: 'nobody', onCommitting: () => undefined }
      const writer = new PostgresWriter({ ...place, head: found.head, generation: found.generation })
      const remember = { principal: 'p', key: 'k', bodyHash: sha256('b'), status: 200, answer: {} }
      const appends = Array.from({ length: 40 }, (_, id) =>
        toWireAppend(
          {
            ...{ stream: `task:${id}`, expectedVersion: 0, events: [newEvent()] },
            ...{ task: { ...newTask(String(id)), dependsOn: ['x'] }, blobs: [{ sha256: sha256('a'), content: 'a' }] },
            ...(id === 0 ? { remember } : {}),
          },
          id,
          1,
        ),
      )
      const refused = await writer.apply(appends)
      expect(refused.map((result) => !result.ok && result.reason)).toEqual(appends.map(() => 'unavailable'))
      expect([await store.lastSeq(), await store.task('0'), writer.lastSeq, writer.batches]).toEqual([0, null, 0, 0])
      isLost = false
      const written = await writer.apply(appends)
      expect(written.filter(({ ok }) => ok)).toHaveLength(appends.length)
      expect((await store.verify()).problems).toEqual([])
    })

  test('[REQ-POSTGRES-3] what the head file does not note is not acknowledged, and known to the next append', async () => {
    const { dir, store } = await openNode()
    events(await store.append(one('task:x')))
    const head = join(dir, 'ledger.head')
    renameSync(head, `${head}.away`)
    await expect(store.append(one('task:x', 1))).rejects.toMatchObject({ name: 'StoreUnavailable' })
    await expect(store.append(one('task:y'))).rejects.toMatchObject({ name: 'StoreUnavailable' })
    renameSync(`${head}.away`, head)
    // Both were committed: the head of task:x that the writer knew is old.
    expect(await store.append(one('task:x', 1))).toEqual({ ok: false, reason: 'version_conflict', version: 2 })
    expect(events(await store.append(one('task:x', 2)))).toMatchObject([{ seq: 4, version: 3 }])
    expect((await store.verify()).problems).toEqual([])
  })

  test('[REQ-POSTGRES-3] when the writer thread dies its appends fail and the next ones start it again', async () => {
    const { url, dir, store, lease } = await openNode()
    const thread = { file: 'postgres-writer-worker.cjs', data: { url, lease, channel: 'nobody' } }
    const writer = new Writer({ dir, thread, now: Date.now, onAppended: () => undefined })
    await writer.start()
    onTestFinished(() => writer.close())
    const append = (version: number) => writer.append(one('task:a', version))
    expect((await append(0)).ok).toBe(true)
    const pause = () => new Promise((resolve) => setTimeout(resolve, 300))
    await pause()
    await expect(Promise.all([append(1), writer.kill()])).rejects.toMatchObject({ name: 'StoreUnavailable' })
    expect(writer.settling).toBeNull()
    // Whether it was committed before the thread died nobody knows.
    const again = await append(1)
    expect(again.ok ? 2 : again.reason === 'version_conflict' && again.version).toBe(2)
    await pause()
    await writer.kill()
    const together = await Promise.all([append(2), append(3)])
    expect(together.map(({ ok }) => ok)).toEqual([true, true])
    expect((await store.verify()).problems).toEqual([])
  })

  test('[REQ-POSTGRES-3] a thread that finds no valid head file writes nothing', async () => {
    const { url, dir, lease } = await openNode()
    renameSync(join(dir, 'ledger.head'), join(dir, 'ledger.head.away'))
    const thread = { file: 'postgres-writer-worker.cjs', data: { url, lease, channel: 'nobody' } }
    const writer = new Writer({ dir, thread, now: Date.now, onAppended: () => undefined })
    await expect(writer.start()).rejects.toMatchObject({ name: 'StoreRefused', code: 'tampered' })
    renameSync(join(dir, 'ledger.head.away'), join(dir, 'ledger.head'))
  })

  test('[REQ-POSTGRES-3] closing answers everything that was accepted', async () => {
    const { store } = await openNode()
    const waiting = Array.from({ length: 200 }, (_, index) => store.append(one(`task:${index}`)))
    await store.close()
    expect((await Promise.all(waiting)).filter(({ ok }) => ok)).toHaveLength(200)
    await expect(store.append(one('task:late'))).rejects.toMatchObject({ name: 'StoreUnavailable' })
  })

  test('[REQ-NODES-1] heads that the writer knows are only those of its own streams', async () => {
    const { url, store } = await openNode()
    events(await store.append(one('system')))
    events(await store.append(one('task:x')))
    const copy = "SET hash = repeat('1', 64), version = 7"
    await server.run(url, `UPDATE stream ${copy} WHERE name = 'system'`)
    expect(await store.append(one('system', 1))).toEqual({ ok: false, reason: 'version_conflict', version: 7 })
    await server.run(url, `UPDATE stream ${copy} WHERE name = 'task:x'`)
    expect(events(await store.append(one('task:x', 1)))).toMatchObject([{ version: 2 }])
  })
})
