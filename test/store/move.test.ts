import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeBackup } from '../../src/store/backup/make-backup.js'
import { restoreBackup } from '../../src/store/backup/restore-backup.js'
import { moveToPostgres, moveToSqlite } from '../../src/store/copy/move-ledger.js'
import { openStore } from '../../src/store/open-store.js'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.js'
import { verifyPostgresLedger } from '../../src/store/postgres/verify-postgres.js'
import { openSqliteStore } from '../../src/store/sqlite-store.js'
import { verifyDirectory } from '../../src/store/verify/verify-ledger.js'
import { events, newEvent, newTask, temporaryDirectory } from './events.js'
import { ledgerOnDisk, tamper } from './ledger-on-disk.js'
import { findPostgres, type PostgresServer, startPostgres } from './postgres-server.js'

const bin = findPostgres()
let server: PostgresServer

describe.skipIf(bin === null)('moving a ledger (skipped where PostgreSQL is not installed)', () => {
  beforeAll(async () => {
    server = await startPostgres(bin ?? '')
  })
  afterAll(() => server?.remove())

  const listTables = async (url: string) =>
    (await server.run(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")).length

  /** The ledger of twelve events, with tasks that depend on each other and an answer that was kept. */
  async function filledLedger() {
    const dir = await ledgerOnDisk()
    const store = await openSqliteStore({ dir })
    const remember = { principal: 'agent:ada', key: 'k', bodyHash: 'h', status: 200, answer: { ok: true } }
    const tasks = [newTask('b', { dependsOn: ['a'] }), newTask('c', { status: 'active', agentId: 'ada' })]
    for (const task of tasks)
      events(
        await store.append({
          ...{ stream: `task:new-${task.id}`, expectedVersion: 0, task },
          events: [newEvent('tool_denied', { code: 'forbidden_tool', success: false, text: 'nul \\u0000 é 😀' })],
          ...(task.id === 'b' ? { remember } : {}),
        }),
      )
    await store.close()
    return dir
  }

  test('[REQ-KEEP-7] a ledger moves to PostgreSQL and back with its chains, and goes on there', async () => {
    const dir = await filledLedger()
    const url = await server.createDatabase()
    const before = await openSqliteStore({ dir })
    const was = await before.readAll(0, 100)
    await before.close()
    expect(await moveToPostgres({ dir, url })).toMatchObject({ head: { count: 14 }, streams: 5 })
    expect(await verifyPostgresLedger(url, dir)).toMatchObject({ ok: true, events: 14, checkpoints: 3 })
    const store = await openPostgresStore({ dir, url })
    expect(await store.readAll(0, 100)).toEqual(was)
    expect((await store.listClaimable({ offset: 0, limit: 9 })).map(({ id }) => id)).toEqual(['a'])
    expect(await store.findHeldBy('ada')).toEqual(newTask('c', { status: 'active', agentId: 'ada' }))
    expect(await store.recall({ principal: 'agent:ada', key: 'k' })).toMatchObject({ answer: { ok: true } })
    expect((await store.query({ code: 'forbidden_tool', limit: 9 })).items).toHaveLength(2)
    const done = newTask('a', { status: 'completed' })
    events(await store.append({ stream: 'task:a', expectedVersion: 4, events: [newEvent()], task: done }))
    expect((await store.listClaimable({ offset: 0, limit: 9 })).map(({ id }) => id)).toEqual(['b'])
    await store.close()

    expect(await moveToSqlite({ dir, url })).toMatchObject({ head: { count: 15 } })
    expect(await verifyDirectory(dir)).toMatchObject({ ok: true, events: 15 })
    const back = await openSqliteStore({ dir })
    expect((await back.listClaimable({ offset: 0, limit: 9 })).map(({ id }) => id)).toEqual(['b'])
    expect(await back.countTasks()).toHaveLength(3)
    await back.close()
  })

  test('[REQ-KEEP-8] what was moved is not opened by accident', async () => {
    const dir = await ledgerOnDisk()
    const url = await server.createDatabase()
    await moveToPostgres({ dir, url })
    await expect(openStore({ dir, url: null })).rejects.toThrow(/was moved to postgres:\/\/127.*PHASELOCK_STORE/)
    expect(existsSync(join(dir, 'ledger.db'))).toBe(false)
    expect(readFileSync(join(dir, 'ledger.moved'), 'utf8')).not.toContain('postgres@')
    await expect(moveToPostgres({ dir, url })).rejects.toThrow(/was moved/)
    await moveToSqlite({ dir, url })
    await expect(openPostgresStore({ dir, url })).rejects.toThrow(/was moved to SQLite/)
    await expect(moveToSqlite({ dir, url })).rejects.toThrow(/was moved to SQLite/)
    expect(await verifyDirectory(dir)).toMatchObject({ ok: true })
  })

  describe('[REQ-KEEP-9] a move that must not be made is refused and leaves both sides as they were', () => {
    async function expectRefused(dir: string, url: string, found: RegExp) {
      const [files, tables] = [readdirSync(dir), await listTables(url)]
      await expect(moveToPostgres({ dir, url })).rejects.toMatchObject({ message: expect.stringMatching(found) })
      expect(readdirSync(dir).filter((name) => !/-(wal|shm|journal)$/.test(name))).toEqual(
        [...new Set([...files, 'server.lock'])].filter((name) => !/-(wal|shm|journal)$/.test(name)).sort(),
      )
      expect(await listTables(url)).toBe(tables)
    }

    test('a ledger that was tampered with, before and while it is copied', async () => {
      for (const change of ["UPDATE event SET actor = 'agent:eve' WHERE seq = 5", 'DELETE FROM event WHERE seq = 12']) {
        const dir = await ledgerOnDisk()
        tamper(dir, change)
        await expectRefused(dir, await server.createDatabase(), /Event 5|cut off/)
      }
    })

    test('a database with another ledger, one that is in use, and one that cannot be reached', async () => {
      const url = await server.createDatabase()
      const other = await openPostgresStore({ dir: temporaryDirectory(), url })
      await other.close()
      await expectRefused(await ledgerOnDisk(), url, /holds a ledger already/)
      const dir = await ledgerOnDisk()
      const store = await openSqliteStore({ dir })
      await expectRefused(dir, await server.createDatabase(), /Another server/)
      await store.close()
      await expect(moveToPostgres({ dir, url: 'postgres://nobody@127.0.0.1:1/x' })).rejects.toThrow(/cannot be opened/)
      const foreign = await server.createDatabase()
      await server.run(foreign, 'CREATE TABLE meta (x int)')
      await expectRefused(dir, foreign, /not from Phaselock|does not exist/)
    })

    test('a database that another server is connected to does not move back', async () => {
      const dir = await ledgerOnDisk()
      const url = await server.createDatabase()
      await moveToPostgres({ dir, url })
      const busy = await openPostgresStore({ dir, url })
      await expect(moveToSqlite({ dir, url })).rejects.toThrow(/Another server|Stop every node/)
      await busy.close()
    })

    test('a copy that was committed before the move was killed is finished by the next one', async () => {
      const dir = await ledgerOnDisk()
      const url = await server.createDatabase()
      await moveToPostgres({ dir, url })
      renameSync(join(dir, 'ledger.db.moved'), join(dir, 'ledger.db'))
      rmSync(join(dir, 'ledger.moved'))
      expect(await moveToPostgres({ dir, url })).toMatchObject({ head: { count: 12 } })
      await (await openPostgresStore({ dir, url })).close()
    })
  })

  test('[REQ-KEEP-1] a ledger in PostgreSQL is backed up while it is written, and restored into SQLite', async () => {
    const dir = await ledgerOnDisk()
    const url = await server.createDatabase()
    await moveToPostgres({ dir, url })
    const store = await openPostgresStore({ dir, url })
    const folder = temporaryDirectory()
    let isRunning = true
    let written = 0
    const writing = (async () => {
      for (; isRunning; written += 1)
        events(await store.append({ stream: 'task:w', expectedVersion: written, events: [newEvent()] }))
    })()
    const file = join(folder, 'one.backup')
    const made = await makeBackup({ dir, url, to: file, keys: { kind: 'plain' }, programVersion: '1' })
    isRunning = false
    await writing
    await store.close()
    expect(written).toBeGreaterThan(0)
    const to = join(folder, 'restored')
    const rest = { publicKey: null, keysDir: null, askPassphrase: async () => '', record: async () => undefined }
    await restoreBackup({ file, dir: to, ...rest })
    expect(await verifyDirectory(to)).toMatchObject({ ok: true, events: made.head.count })
  })
})
