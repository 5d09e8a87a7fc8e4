import { createSecretKey } from 'node:crypto'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { computeLockNumber } from '../../src/store/postgres/node-lease.js'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.js'
import { openSqliteStore } from '../../src/store/sqlite-store.js'
import { events, newEvent, newTask, sha256, temporaryDirectory } from './events.js'
import { findPostgres, type PostgresServer, startPostgres, WITH_PASSWORD } from './postgres-server.js'
import { storeSuite } from './suite.js'

const NODE_FILES = ['ledger.key', 'ledger.ed25519', 'ledger.ed25519.pub', 'ledger.head', 'ledger.checkpoint']

const bin = findPostgres()
let server: PostgresServer

describe.skipIf(bin === null)('in PostgreSQL (skipped where it is not installed)', () => {
  beforeAll(async () => {
    server = await startPostgres(bin ?? '')
  })
  afterAll(() => server?.remove())

  storeSuite('PostgreSQL', async (options) =>
    openPostgresStore({ url: await server.createDatabase(), dir: temporaryDirectory(), ...options }),
  )

  /** A store with twelve events over three streams, closed after the test. */
  async function openFilled() {
    const url = await server.createDatabase()
    const dir = temporaryDirectory()
    const store = await openPostgresStore({ url, dir, checkpointEvery: 5 })
    onTestFinished(() => store.close())
    for (let version = 0; version < 4; version += 1)
      for (const id of ['a', 'b', 'c'])
        events(
          await store.append({
            stream: `task:${id}`,
            expectedVersion: version,
            events: [newEvent('tool_denied', { step: version, code: 'forbidden_tool', tool_name: 'bash' })],
            ...(version === 0 ? { task: newTask(id), blobs: [{ sha256: sha256(id), content: id }] } : {}),
          }),
        )
    return { url, dir, store }
  }

  describe('[REQ-POSTGRES-1] what must not be opened is refused in one line that says what to do', () => {
    const open = (url: string, dir = temporaryDirectory()) => openPostgresStore({ url, dir })

    test('an address that names no database, or is none', async () => {
      for (const [url, says] of [
        ['mysql://x/y', /URL like postgres:/],
        ['postgres://127.0.0.1', /names no database/],
        ['postgres://a:p@ss:w/x@y', /cannot be read|cannot be opened/],
      ] as const)
        await expect(open(url), url).rejects.toThrow(says)
    })

    test('a wrong database, and a server that is not there, without repeating the password', async () => {
      const url = (await server.createDatabase()).replace('postgres@', 'postgres:hunter2secret@')
      const gone = await open(url.replace(/ledger\d+$/, 'nowhere')).catch((error) => error)
      expect(gone).toMatchObject({ name: 'StoreRefused', code: 'unreachable' })
      expect(gone.message).toMatch(/Create the database first/)
      const away = await open('postgres://postgres:hunter2secret@127.0.0.1:1/x').catch((error) => error)
      expect(away.message).toMatch(/Check that PostgreSQL runs/)
      expect(`${gone.message}${away.message}`).not.toContain('hunter2secret')
    })

    test('a wrong password, and none', async () => {
      const url = await server.createDatabase()
      await server.run(url, `CREATE ROLE ${WITH_PASSWORD} LOGIN PASSWORD 'right' SUPERUSER`)
      for (const given of [':wrongsecret', '']) {
        const error = await open(url.replace('postgres@', `${WITH_PASSWORD}${given}@`)).catch((one) => one)
        expect(error).toMatchObject({ name: 'StoreRefused', code: 'unreachable' })
        expect(error.message).toMatch(/Check user and password/)
        expect(error.message).not.toContain('wrongsecret')
      }
      await (await open(url.replace('postgres@', `${WITH_PASSWORD}:right@`))).close()
    })

    test('a user without the right to create tables', async () => {
      const url = await server.createDatabase()
      await server.run(url, 'CREATE ROLE weak LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC')
      await expect(open(url.replace('postgres@', 'weak@'))).rejects.toThrow(/GRANT CREATE ON SCHEMA/)
    })

    test('a state directory that another server uses, and a copy of it', async () => {
      const { url, dir } = await openFilled()
      await expect(open(url, dir)).rejects.toMatchObject({ code: 'locked' })
      const copy = temporaryDirectory()
      for (const name of [...NODE_FILES, 'node.id']) cpSync(join(dir, name), join(copy, name))
      await expect(open(url, copy)).rejects.toMatchObject({
        code: 'locked',
        message: /Another server runs as node-[0-9a-f]{12} on this ledger/,
      })
    })

    test('a ledger that a server of an earlier version uses', async () => {
      const { url, dir, store } = await openFilled()
      await store.close()
      const key = createSecretKey(readFileSync(join(dir, 'ledger.key')))
      const earlier = new pg.Client({ connectionString: url })
      await earlier.connect()
      await earlier.query('SELECT pg_advisory_lock($1)', [computeLockNumber(key, 'phaselock advisory lock')])
      await expect(open(url, dir)).rejects.toMatchObject({ code: 'locked', message: /an earlier version/ })
      await earlier.end()
      await (await open(url, dir)).close()
    })

    test('a ledger with other keys, or without its keys', async () => {
      const { url, store } = await openFilled()
      await store.close()
      await expect(open(url)).rejects.toMatchObject({ code: 'tampered', message: /whose keys are not in/ })
      const other = await openFilled()
      await other.store.close()
      await expect(open(url, other.dir)).rejects.toMatchObject({ code: 'tampered', message: /not the key/ })
    })

    test('an empty database where the directory has a ledger', async () => {
      const { dir, store } = await openFilled()
      await store.close()
      await expect(open(await server.createDatabase(), dir)).rejects.toMatchObject({ message: /events were cut off/ })
      const sqlite = temporaryDirectory()
      await (await openSqliteStore({ dir: sqlite })).close()
      await expect(open(await server.createDatabase(), sqlite)).rejects.toMatchObject({ message: /ledger in SQLite/ })
    })

    test('a newer schema, and a table meta of somebody else', async () => {
      const { url, dir, store } = await openFilled()
      await store.close()
      await server.run(url, "UPDATE meta SET value = '99' WHERE name = 'schema_version'")
      await expect(open(url, dir)).rejects.toMatchObject({ code: 'too_new' })
      const foreign = await server.createDatabase()
      await server.run(foreign, 'CREATE TABLE meta (name TEXT, value TEXT)')
      await expect(open(foreign)).rejects.toMatchObject({ code: 'corrupt', message: /not from Phaselock/ })
    })

    test('a cut tail, an older copy and a trigger', async () => {
      const { url, dir, store } = await openFilled()
      await store.close()
      await server.run(url, 'CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$')
      await server.run(url, 'CREATE TRIGGER sly BEFORE INSERT ON event FOR EACH ROW EXECUTE FUNCTION f()')
      await expect(open(url, dir)).rejects.toMatchObject({ code: 'tampered', message: /trigger sly/ })
      await server.run(url, 'DROP TRIGGER sly ON event')
      await server.run(url, 'DELETE FROM event WHERE seq > 10')
      await expect(open(url, dir)).rejects.toMatchObject({ code: 'tampered', message: /events were cut off/ })
    })
  })

  describe('[REQ-POSTGRES-2] verify finds what was changed in the database', () => {
    const changes: Record<string, [sql: string, code: string, seq: number | null]> = {
      data: [`UPDATE event SET data = replace(data, 'bash', 'grep') WHERE seq = 5`, 'changed_event', 5],
      time: ['UPDATE event SET at = at + 1 WHERE seq = 5', 'changed_event', 5],
      'the code that searches use': ["UPDATE event SET code = 'other' WHERE seq = 5", 'changed_event', 5],
      'a deleted event': ['DELETE FROM event WHERE seq = 4', 'missing_event', 4],
      'a cut tail': ['DELETE FROM event WHERE seq = 12', 'cut_tail', 12],
      'the head in the database': ['UPDATE ledger_head SET count = 11', 'head_mismatch', null],
      'the end of a stream': ["UPDATE stream SET version = 3 WHERE name = 'task:a'", 'head_mismatch', null],
      'a stream that is gone': ["DELETE FROM stream WHERE name = 'task:c'", 'stream_mismatch', null],
      'a kept text': [`UPDATE blob SET content = 'x' WHERE sha256 = '${sha256('a')}'`, 'changed_blob', null],
    }
    for (const [name, [sql, code, seq]] of Object.entries(changes))
      test(name, async () => {
        const { url, store } = await openFilled()
        expect(await store.verify()).toMatchObject({ ok: true, events: 12, streams: 3, problems: [] })
        await server.run(url, sql)
        const { ok, problems } = await store.verify()
        expect(ok).toBe(false)
        expect(problems[0]).toMatchObject({ code, seq })
      })
  })

  test('[REQ-POSTGRES-3] what was acknowledged is there after the store is opened again', async () => {
    const { url, dir, store } = await openFilled()
    const before = await store.readAll(0, 100)
    await store.close()
    const again = await openPostgresStore({ url, dir })
    onTestFinished(() => again.close())
    expect(await again.readAll(0, 100)).toEqual(before)
    const [next] = events(await again.append({ stream: 'task:a', expectedVersion: 4, events: [newEvent()] }))
    expect(next).toMatchObject({ seq: 13, version: 5 })
    expect((await again.verify()).problems).toEqual([])
  })

  test('[REQ-NODES-1] a ledger from before there were nodes is migrated, and its streams belong to the first', async () => {
    const { url, dir, store } = await openFilled()
    await store.close()
    await server.run(url, 'DROP TABLE node')
    await server.run(url, 'DROP TABLE shared_tree')
    await server.run(url, 'ALTER TABLE stream DROP COLUMN home')
    await server.run(url, "UPDATE meta SET value = '1' WHERE name = 'schema_version'")
    const again = await openPostgresStore({ url, dir })
    onTestFinished(() => again.close())
    expect(await again.cluster.findHome('task:a')).toBe(again.cluster.nodeId)
    events(await again.append({ stream: 'task:a', expectedVersion: 4, events: [newEvent()] }))
    expect((await again.verify()).problems).toEqual([])
  })

  test('[REQ-POSTGRES-3] while PostgreSQL is away the store says so, and goes on without a restart', async () => {
    const { store } = await openFilled()
    server.stopNow()
    await expect(store.append({ stream: 'x', expectedVersion: 0, events: [newEvent()] })).rejects.toMatchObject({
      name: 'StoreUnavailable',
    })
    await expect(store.lastSeq()).rejects.toMatchObject({ name: 'StoreUnavailable' })
    // It must not look like a ledger that was tampered with.
    await expect(store.verify()).rejects.toMatchObject({ name: 'StoreUnavailable' })
    server.start()
    await expect.poll(() => store.lastSeq().catch(() => 0)).toBe(12)
    events(await store.append({ stream: 'x', expectedVersion: 0, events: [newEvent()] }))
    expect((await store.verify()).problems).toEqual([])
  })

  test('[REQ-POSTGRES-3] crashes of PostgreSQL under load lose nothing that was acknowledged', async () => {
    const { store } = await openFilled()
    const acknowledged: [string, number, string][] = []
    let isOver = false
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      const stream = `task:w${writer}`
      let version = 0
      while (!isOver) {
        const result = await store
          .append({ stream, expectedVersion: version, events: [newEvent('step', { version })] })
          .catch(() => null)
        if (result === null) await new Promise((resolve) => setTimeout(resolve, 20))
        else if (result.ok) acknowledged.push([stream, ++version, result.events[0]?.hash ?? ''])
        else if (result.reason === 'version_conflict') version = result.version
      }
    })
    for (let round = 0; round < 3; round += 1) {
      const before = acknowledged.length
      await expect.poll(() => acknowledged.length).toBeGreaterThan(before + 50)
      server.crash()
    }
    isOver = true
    await Promise.all(writers)
    // Connections that the last crash has ended are noticed by the first read.
    await expect.poll(() => store.lastSeq().catch(() => 0)).toBeGreaterThanOrEqual(acknowledged.length)
    for (const [stream, version, hash] of acknowledged)
      expect((await store.readStream(stream, version - 1, 1))[0]?.hash).toBe(hash)
    expect((await store.verify()).problems).toEqual([])
  })

  test('[REQ-POSTGRES-4] a server that another one replaced writes nothing more', async () => {
    const { url, store } = await openFilled()
    await server.run(url, "UPDATE ledger_head SET owner = 'somebody else'")
    await expect(store.append({ stream: 'x', expectedVersion: 0, events: [newEvent()] })).rejects.toThrow(
      /A server of another version has taken over/,
    )
    expect(await store.lastSeq()).toBe(12)
  })

  test('[REQ-POSTGRES-4] a database that lost acknowledged events is not written to', async () => {
    const { url, store } = await openFilled()
    await server.run(url, 'DELETE FROM event WHERE seq = 12')
    await expect(store.append({ stream: 'x', expectedVersion: 0, events: [newEvent()] })).rejects.toThrow(
      /Event 12 was acknowledged and is not in the database any more/,
    )
  })

  test('sixty-four appends that arrive together share a few transactions', async () => {
    const { store } = await openFilled()
    const before = store.batches
    await Promise.all(
      Array.from({ length: 64 }, (_, index) =>
        store.append({ stream: `s${index}`, expectedVersion: 0, events: [newEvent()] }),
      ),
    )
    expect(store.batches - before).toBeLessThan(8)
  })

  test('a damaged head file is refused', async () => {
    const { url, dir, store } = await openFilled()
    await store.close()
    writeFileSync(join(dir, 'ledger.head'), 'nothing')
    await expect(openPostgresStore({ url, dir })).rejects.toMatchObject({ code: 'tampered' })
  })
})
