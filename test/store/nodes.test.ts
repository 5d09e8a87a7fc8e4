import { cpSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openPostgresStore, type PostgresStore } from '../../src/store/postgres/postgres-store.js'
import type { StoredEvent } from '../../src/store/store.js'
import { events, newEvent, newTask, temporaryDirectory } from './events.js'
import { findPostgres, type PostgresServer, startPostgres } from './postgres-server.js'

const bin = findPostgres()
let server: PostgresServer

const KEY_FILES = ['ledger.key', 'ledger.ed25519', 'ledger.ed25519.pub', 'ledger.head', 'ledger.checkpoint']

/** A directory with the keys of another node, as `phaselock nodes prepare` makes it. */
function prepare(dir: string, more: readonly string[] = []): string {
  const copy = temporaryDirectory()
  for (const name of [...KEY_FILES, ...more]) cpSync(join(dir, name), join(copy, name))
  return copy
}

async function open(url: string, dir: string, leaseMs = 6_000): Promise<PostgresStore> {
  const store = await openPostgresStore({ url, dir, leaseMs })
  onTestFinished(() => store.close().catch(() => undefined))
  return store
}

/** Two nodes on a new database. */
async function openTwo(leaseMs?: number) {
  const url = await server.createDatabase()
  const dir = temporaryDirectory()
  const a = await open(url, dir, leaseMs)
  const other = prepare(dir)
  const b = await open(url, other, leaseMs)
  return { url, dir, other, a, b }
}

const one = (stream: string, expectedVersion = 0) => ({ stream, expectedVersion, events: [newEvent()] })

describe.skipIf(bin === null)('several nodes on PostgreSQL (skipped where it is not installed)', () => {
  beforeAll(async () => {
    server = await startPostgres(bin ?? '')
  })
  afterAll(() => server?.remove())

  test('[REQ-NODES-1] another node cannot append to a stream, and its home can', async () => {
    const { a, b } = await openTwo()
    events(await a.append(one('task:x')))
    expect(await b.append(one('task:x', 1))).toEqual({ ok: false, reason: 'wrong_node', home: a.cluster.nodeId })
    expect(await b.cluster.findHome('task:x')).toBe(a.cluster.nodeId)
    expect(await b.append(one('task:x', 0))).toMatchObject({ ok: false, reason: 'wrong_node' })
    expect(events(await a.append(one('task:x', 1)))).toMatchObject([{ seq: 2, version: 2 }])
  })

  test('[REQ-NODES-1] both append to the system stream, each only at its newest version', async () => {
    const { a, b } = await openTwo()
    events(await a.append(one('system')))
    expect(await b.append(one('system', 0))).toMatchObject({ reason: 'version_conflict', version: 1 })
    events(await b.append(one('system', 1)))
    expect(await a.append(one('system', 1))).toMatchObject({ reason: 'version_conflict', version: 2 })
    for (const store of [a, b]) expect((await store.verify()).problems).toEqual([])
  })

  test('[REQ-NODES-1] of one agent on two nodes only one claim is written', async () => {
    const { a, b } = await openTwo()
    const claim = (store: PostgresStore, id: string) =>
      store.append({ ...one(`task:${id}`), task: { ...newTask(id), status: 'active', agentId: 'same' } })
    const results = await Promise.all([claim(a, 'l'), claim(b, 'r')])
    expect(results.filter(({ ok }) => ok)).toHaveLength(1)
    expect(results.find(({ ok }) => !ok)).toMatchObject({ reason: 'agent_busy' })
  })

  test('[REQ-NODES-2] every node follows the events of all in their order, each once', async () => {
    const { a, b } = await openTwo()
    const seen = new Map<PostgresStore, number[]>([a, b].map((store) => [store, []]))
    for (const [store, list] of seen)
      store.cluster.follow((told: readonly StoredEvent[]) => list.push(...told.map(({ seq }) => seq)))
    const write = async (store: PostgresStore, name: string) => {
      for (let version = 0; version < 20; version += 1) {
        const written = events(await store.append(one(`task:${name}`, version)))
        store.cluster.note(written)
      }
    }
    await Promise.all([write(a, 'l'), write(b, 'r'), write(a, 'm')])
    const all = Array.from({ length: 60 }, (_, index) => index + 1)
    for (const [store, list] of seen) {
      await store.cluster.refresh()
      expect(list).toEqual(all)
    }
    expect(b.cluster.isElsewhere('task:l')).toBe(true)
    expect(b.cluster.isElsewhere('task:r')).toBe(false)
  })

  test('[REQ-NODES-2] what was committed before a refresh is known after it, without any notice', async () => {
    const { a, b } = await openTwo()
    let last = 0
    b.cluster.follow((told) => {
      last = told.at(-1)?.seq ?? last
    })
    for (let version = 0; version < 10; version += 1) {
      events(await a.append(one('task:x', version)))
      await b.cluster.refresh()
      expect(last).toBe(version + 1)
    }
  })

  test('[REQ-NODES-3] a node that was replaced writes nothing and answers nothing', async () => {
    const { url, dir, a } = await openTwo(800)
    events(await a.append(one('task:x')))
    // As if it were paused: its lease ends, and a copy of it is started elsewhere.
    a.cluster.pause()
    const copy = prepare(dir, ['node.id'])
    await expect
      .poll(
        () =>
          open(url, copy, 60_000).then(
            () => true,
            () => false,
          ),
        { timeout: 15_000 },
      )
      .toBe(true)
    await expect(a.append(one('task:x', 1))).rejects.toThrow(/Another server has taken over/)
    await expect(a.cluster.refresh()).rejects.toMatchObject({ name: 'StoreUnavailable' })
    expect(await a.lastSeq()).toBe(1)
  })

  test('[REQ-NODES-3] a node that is replaced while its append waits for the lock writes nothing', async () => {
    const { url, a } = await openTwo()
    events(await a.append(one('task:x')))
    const other = new pg.Client({ connectionString: url })
    await other.connect()
    onTestFinished(() => other.end())
    await other.query('BEGIN; SELECT count FROM ledger_head FOR UPDATE')
    const late = a.append(one('task:x', 1)).then(
      () => 'written',
      (error: Error) => error.message,
    )
    const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FOR UPDATE%'"
    await expect.poll(async () => (await server.run(url, waiting)).length).toBe(1)
    await other.query(`UPDATE node SET epoch = epoch + 1 WHERE id = '${a.cluster.nodeId}'; COMMIT`)
    expect(await late).toMatch(/Another server has taken over/)
    expect(await a.lastSeq()).toBe(1)
  })

  test('[REQ-NODES-3] a node past its lease writes nothing until it has renewed it', async () => {
    const { a } = await openTwo(300)
    a.cluster.pause()
    await expect
      .poll(() =>
        a.append(one('system')).then(
          () => 'written',
          (error: Error) => error.message,
        ),
      )
      .toMatch(/lease of node-\w+ has ended/)
    await a.cluster.refresh()
    events(await a.append(one('system', await countSystem(a))))
  })

  test('[REQ-NODES-11] a node is adopted when it is away, not while it is alive, and then writes nothing', async () => {
    const { a, b, url } = await openTwo(800)
    events(await a.append(one('task:x')))
    expect(await b.cluster.adopt(a.cluster.nodeId)).toBe('alive')
    expect(await b.cluster.adopt('node-000000000000')).toBe('unknown')
    expect(await b.append(one('task:x', 1))).toMatchObject({ reason: 'wrong_node' })
    a.cluster.pause()
    await expect.poll(() => b.cluster.adopt(a.cluster.nodeId)).toBe(1)
    await expect(a.append(one('task:x', 1))).rejects.toMatchObject({ name: 'StoreUnavailable' })
    await expect(a.cluster.refresh()).rejects.toMatchObject({ name: 'StoreUnavailable' })
    expect(events(await b.append(one('task:x', 1)))).toMatchObject([{ version: 2 }])
    expect((await server.run(url, 'SELECT home FROM stream'))[0]?.home).toBe(b.cluster.nodeId)
  })

  test('a row that PostgreSQL rejects fails only its own append among those that share a transaction', async () => {
    const { a: store } = await openTwo()
    const append = (id: string, questions = 0) =>
      store.append({
        stream: `task:${id}`,
        expectedVersion: 0,
        events: [newEvent()],
        task: { ...newTask(id), questions },
      })
    const before = store.batches
    const results = await Promise.allSettled([append('d'), append('e', 2 ** 40), append('f')])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(results[1]).toMatchObject({ reason: { name: 'TypeError' } })
    expect(store.batches - before).toBe(2)
    expect([await store.lastSeq(), await store.task('e'), (await store.task('f'))?.id]).toEqual([2, null, 'f'])
    expect((await store.verify()).problems).toEqual([])
  })

  test('[REQ-NODES-4] a node with another signing secret is refused, and accepted while both are known', async () => {
    const { a, b } = await openTwo()
    await a.cluster.agreeOnSecrets(['old'])
    await expect(b.cluster.agreeOnSecrets(['new'])).rejects.toMatchObject({
      name: 'StoreRefused',
      message: /signs its tokens with another secret/,
    })
    await expect(b.cluster.agreeOnSecrets(['new', 'old'])).rejects.toMatchObject({ name: 'StoreRefused' })
    await b.cluster.agreeOnSecrets(['old', 'new'])
    await a.cluster.agreeOnSecrets(['new', 'old'])
  })

  test('[REQ-NODES-1] six nodes that start at once on an empty database make one schema', async () => {
    const url = await server.createDatabase()
    const first = temporaryDirectory()
    await (await open(await server.createDatabase(), first)).close()
    const dirs = Array.from({ length: 6 }, () => prepare(first))
    const stores = await Promise.all(dirs.map((dir) => open(url, dir)))
    expect(new Set(stores.map(({ cluster }) => cluster.nodeId)).size).toBe(6)
    await Promise.all(stores.map((store, index) => store.append(one(`task:${index}`))))
    expect(await stores[0]?.lastSeq()).toBe(6)
    expect((await stores[0]?.verify())?.problems).toEqual([])
    expect((await stores[0]?.cluster.listNodes())?.filter(({ isAlive }) => isAlive)).toHaveLength(6)
  })
})

async function countSystem(store: PostgresStore): Promise<number> {
  return (await store.readStream('system', 0, 100)).length
}
