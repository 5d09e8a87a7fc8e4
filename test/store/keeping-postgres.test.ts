import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { archiveOffline } from '../../src/app/ledger/archive-offline.js'
import { eraseOffline, findErasable } from '../../src/app/ledger/erase-offline.js'
import { recordOffline } from '../../src/app/ledger/record-offline.js'
import { verifyArchive } from '../../src/store/archive/verify-archive.js'
import { makeBackup } from '../../src/store/backup/make-backup.js'
import { restoreBackup } from '../../src/store/backup/restore-backup.js'
import { exportLedger } from '../../src/store/export/export-ledger.js'
import { verifyExport } from '../../src/store/export/verify-export.js'
import { readChainKey } from '../../src/store/keys.js'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.js'
import { verifyPostgresLedger } from '../../src/store/postgres/verify-postgres.js'
import { prepareNode } from '../../src/store/prepare-node.js'
import { finishRotation, prepareKeys } from '../../src/store/rotate-keys.js'
import { verifyDirectory } from '../../src/store/verify/verify-ledger.js'
import { computeEventHash } from '../../src/store/write/chain.js'
import { events, NOW, newEvent, newTask, sha256, temporaryDirectory } from './events.js'
import { findPostgres, type PostgresServer, startPostgres } from './postgres-server.js'

const SECRET = 'hunter2 "quoted" näme'
const bin = findPostgres()
let server: PostgresServer

interface Place {
  readonly dir: string
  readonly url: string
}

describe.skipIf(bin === null)('keeping a ledger in PostgreSQL (skipped where it is not installed)', () => {
  beforeAll(async () => {
    server = await startPostgres(bin ?? '')
  })
  afterAll(() => server?.remove())

  const verify = ({ dir, url }: Place) => verifyPostgresLedger(url, dir)
  const change = ({ url }: Place, sql: string) => server.run(url, sql)

  async function append(place: Place, stream: string, version: number): Promise<void> {
    const store = await openPostgresStore(place)
    events(await store.append({ stream, expectedVersion: version, events: [newEvent('step', { stream, version })] }))
    await store.close()
  }

  async function restore(place: Place) {
    const folder = temporaryDirectory()
    const file = join(folder, 'one.backup')
    await makeBackup({ ...place, to: file, keys: { kind: 'plain' }, programVersion: '1' })
    const rest = { publicKey: null, keysDir: null, askPassphrase: async () => '', record: async () => undefined }
    await restoreBackup({ file, dir: join(folder, 'restored'), ...rest })
    return verifyDirectory(join(folder, 'restored'))
  }

  async function exportLines(place: Place): Promise<readonly string[]> {
    const lines: string[] = []
    await exportLedger(place, async (line) => void lines.push(line))
    return lines
  }

  /** Runs the work while another node is alive on the same ledger. */
  async function besideNode<T>(place: Place, work: () => Promise<T>): Promise<T> {
    const dir = join(temporaryDirectory(), 'other')
    prepareNode(place.dir, dir)
    const other = await openPostgresStore({ dir, url: place.url })
    try {
      return await work()
    } finally {
      await other.close()
    }
  }

  /** Four events, two of which contain the secret, as do a task, a blob and a kept answer. */
  async function leakedLedger(): Promise<Place> {
    const place = { dir: temporaryDirectory(), url: await server.createDatabase() }
    const store = await openPostgresStore(place)
    const content = `before ${SECRET} after`
    const remember = { principal: 'p', key: 'k', bodyHash: 'h', status: 200, answer: { said: SECRET } }
    const append = (stream: string, expectedVersion: number, data: Record<string, string>, more = {}) =>
      store.append({ stream, expectedVersion, events: [newEvent('step', data)], ...more })
    const blobs = [{ sha256: sha256(content), content }]
    const task = newTask('a', { title: `about ${SECRET}` })
    events(await append('task:a', 0, { text: `my ${SECRET}!` }, { blobs, task, remember }))
    events(await append('task:a', 1, { text: 'harmless' }))
    events(await append('task:b', 0, { text: SECRET, tool_name: SECRET }))
    events(await append('task:b', 1, { text: 'harmless' }))
    await store.close()
    return place
  }

  async function erasedLedger(): Promise<Place> {
    const place = await leakedLedger()
    await eraseOffline(place, await findErasable(place, SECRET), 'leaked')
    return place
  }

  test('[REQ-KEEP-13] an erased text is in no table, and the ledger verifies, exports and is backed up', async () => {
    const place = await erasedLedger()
    for (const table of ['event', 'task', 'blob', 'idempotency', 'stream', 'meta']) {
      const [found] = await server.run(
        place.url,
        `SELECT count(*) AS rows FROM ${table} t WHERE t::text LIKE '%hunter2%'`,
      )
      expect([table, Number(found?.rows)]).toEqual([table, 0])
    }
    expect(await verify(place)).toMatchObject({ ok: true, events: 5 })
    const store = await openPostgresStore(place)
    expect((await store.readStream('task:a', 0, 1))[0]?.data).toEqual({ text: 'my [erased]!' })
    expect(await store.task('a')).toMatchObject({ title: 'about [erased]' })
    expect(await store.recall({ principal: 'p', key: 'k' })).toBe(null)
    events(await store.append({ stream: 'task:a', expectedVersion: 2, events: [newEvent()] }))
    await store.close()
    expect(await verify(place)).toMatchObject({ ok: true, events: 6 })
    expect((await exportLines(place)).join('\n')).not.toContain('hunter2')
    expect(await restore(place)).toMatchObject({ ok: true })
  })

  describe('[REQ-KEEP-14] tampering that pretends to be an erasure is found', () => {
    const cases: readonly (readonly [name: string, seq: number, sql: string])[] = [
      ['a text that nobody erased', 2, 'UPDATE event SET data = \'{"text":"[erased]"}\' WHERE seq = 2'],
      ['another content', 3, 'UPDATE event SET data = \'{"text":"[erased] and more"}\' WHERE seq = 3'],
      ['another actor', 3, "UPDATE event SET actor = 'agent:eve' WHERE seq = 3"],
      ['the content of another', 1, 'UPDATE event SET data = (SELECT data FROM event WHERE seq = 3) WHERE seq = 1'],
      ['a changed record', 5, "UPDATE event SET data = replace(data, 'leaked', 'wanted') WHERE seq = 5"],
      ['a removed record', 1, 'DELETE FROM event WHERE seq = 5'],
    ]
    for (const [name, seq, sql] of cases)
      test(name, async () => {
        const place = await erasedLedger()
        await change(place, sql)
        const report = await verify(place)
        expect([report.ok, report.problems[0]]).toMatchObject([false, { code: 'changed_event', seq }])
        await expect(exportLedger(place, async () => undefined)).rejects.toMatchObject({ code: 'tampered' })
      })
  })

  test('[REQ-KEEP-15] nothing is erased from a tampered ledger, or beside another node', async () => {
    const place = await leakedLedger()
    const found = await findErasable(place, SECRET)
    await besideNode(place, () =>
      expect(eraseOffline(place, found, 'r')).rejects.toThrow(/runs on this ledger. Stop every node first/),
    )
    await change(place, "UPDATE event SET actor = 'agent:eve' WHERE seq = 2")
    await expect(findErasable(place, SECRET)).rejects.toMatchObject({ code: 'tampered' })
    const rows = await server.run(place.url, 'SELECT data FROM event ORDER BY seq')
    expect(rows.filter(({ data }) => data.includes('hunter2'))).toHaveLength(2)
    expect(rows).toHaveLength(4)
  })

  /** Two ended tasks, one of which another task waits for, and that task; the first one is archived. */
  async function archivedLedger() {
    const place = { dir: temporaryDirectory(), url: await server.createDatabase() }
    const store = await openPostgresStore(place)
    const tasks = [
      newTask('old', { status: 'completed' }),
      newTask('needed', { status: 'completed' }),
      newTask('open', { dependsOn: ['needed'] }),
    ]
    for (const [index, step] of ['first', 'second'].entries())
      for (const task of tasks) {
        const data = { text: `${step} of ${task.id}`, tool_name: `tool of ${task.id}` }
        const append = { stream: `task:${task.id}`, expectedVersion: index, events: [newEvent('step', data)], task }
        events(await store.append(append))
      }
    await store.close()
    const folder = temporaryDirectory()
    const request = { ...place, to: join(folder, 'one.archive'), before: NOW + 5, programVersion: '1' }
    return { place, folder, request, archive: () => archiveOffline(request, 'retention') }
  }

  test('[REQ-KEEP-16] ended tasks move to a signed file that is read back, and the ledger still verifies', async () => {
    const { place, request, archive } = await archivedLedger()
    expect(await archive()).toMatchObject({ tasks: ['old'], events: [{ seq: 1 }, { seq: 4 }] })
    expect(await verify(place)).toMatchObject({ ok: true, events: 7 })
    expect(await verifyArchive(request.to, place)).toMatchObject({ events: 2 })
    const left = await server.run(place.url, "SELECT 1 FROM event e WHERE e::text LIKE '%of old%'")
    expect(left).toEqual([])
    const store = await openPostgresStore(place)
    expect(await store.task('old')).toBe(null)
    const again = { stream: 'task:old', expectedVersion: 0, events: [newEvent()], task: newTask('old') }
    expect(await store.append(again)).toMatchObject({ ok: false, reason: 'version_conflict' })
    events(await store.append({ stream: 'task:open', expectedVersion: 2, events: [newEvent()] }))
    await store.close()
    expect(await verify(place)).toMatchObject({ ok: true, events: 8 })
    expect(await restore(place)).toMatchObject({ ok: true })
  })

  test('[REQ-KEEP-16] beside another node, and where nothing is old enough, nothing is archived', async () => {
    const { place, folder, request } = await archivedLedger()
    expect(await archiveOffline({ ...request, before: NOW - 5 }, 'r')).toBe(null)
    expect(readdirSync(folder)).toEqual([])
    await besideNode(place, () => expect(archiveOffline(request, 'r')).rejects.toThrow(/Stop every node first/))
    expect(await server.run(place.url, "SELECT 1 FROM event WHERE type = 'tasks_archived'")).toEqual([])
    expect(await server.run(place.url, 'SELECT 1 FROM task')).toHaveLength(3)
  })

  describe('[REQ-KEEP-17] tampering that pretends to be an archive is found', () => {
    const cases: readonly (readonly [name: string, seq: number, sql: string])[] = [
      ['a copied tombstone', 2, 'UPDATE event SET data = (SELECT data FROM event WHERE seq = 1) WHERE seq = 2'],
      ['an empty tombstone', 1, "UPDATE event SET data = '{}' WHERE seq = 1"],
      ['another actor', 1, "UPDATE event SET actor = 'agent:eve' WHERE seq = 1"],
      ['another hash', 4, `UPDATE event SET hash = '${'0'.repeat(64)}' WHERE seq = 4`],
      ['a changed record', 7, "UPDATE event SET data = replace(data, 'retention', 'accident') WHERE seq = 7"],
      ['a removed record', 1, "DELETE FROM event WHERE type = 'tasks_archived'"],
    ]
    for (const [name, seq, sql] of cases)
      test(name, async () => {
        const { place, archive } = await archivedLedger()
        await archive()
        await change(place, sql)
        const { ok, problems } = await verify(place)
        expect([ok, problems[0]]).toMatchObject([false, { code: 'changed_event', seq }])
      })

    test('a changed archive file', async () => {
      const { place, request, archive } = await archivedLedger()
      await archive()
      const whole = readFileSync(request.to)
      const middle = Math.floor(whole.length / 2)
      writeFileSync(
        request.to,
        whole.map((byte, index) => (index === middle ? byte ^ 1 : byte)),
      )
      await expect(verifyArchive(request.to, place)).rejects.toMatchObject({ name: 'StoreRefused' })
    })
  })

  async function rotate(place: Place): Promise<void> {
    const keys = prepareKeys(place)
    await recordOffline(place, [{ type: 'ledger_keys_rotated', fingerprint: keys.fingerprint, reason: 'r' }])
    await keys.apply()
  }

  /** Events of task:a and task:c under the first keys, of task:a and task:b under the second. */
  async function rotatedLedger() {
    const place = { dir: temporaryDirectory(), url: await server.createDatabase() }
    await append(place, 'task:a', 0)
    await append(place, 'task:c', 0)
    const old = readChainKey(place.dir)
    await rotate(place)
    await append(place, 'task:a', 1)
    await append(place, 'task:b', 0)
    return { place, old }
  }

  test('[REQ-KEEP-10] what was written before a rotation verifies, exports and is backed up', async () => {
    const { place, old } = await rotatedLedger()
    expect(old === null || readChainKey(place.dir)?.equals(old)).toBe(false)
    expect(await verify(place)).toMatchObject({ ok: true, events: 5 })
    const lines = await exportLines(place)
    async function* each() {
      yield* lines
    }
    const pem = readFileSync(join(place.dir, 'ledger.ed25519.pub'), 'utf8')
    expect(await verifyExport(each(), pem)).toMatchObject({ ok: true, key: 'given' })
    expect(await restore(place)).toMatchObject({ ok: true, events: 5 })
    const before = { dir: temporaryDirectory(), url: place.url }
    await expect(openPostgresStore(before)).rejects.toThrow(/whose keys are not in/)
  })

  test('[REQ-KEEP-11] an old or new event that is written with the stolen old chain key is found', async () => {
    for (const stream of ['task:c', 'task:b']) {
      const { place, old } = await rotatedLedger()
      const [row] = await server.run(place.url, 'SELECT * FROM event WHERE stream = $1', [stream])
      if (row === undefined || old === null) throw new Error('no event')
      const numbers = {
        seq: Number(row.seq),
        version: Number(row.version),
        at: Number(row.at),
        epoch: Number(row.epoch),
      }
      const dataText = '{"forged":true}'
      const hash = computeEventHash(old, { ...row, ...numbers, dataText, prevHash: row.prev_hash } as never)
      await server.run(place.url, 'UPDATE event SET data = $1, hash = $2 WHERE stream = $3', [dataText, hash, stream])
      expect(await verify(place)).toMatchObject({ ok: false })
    }
  })

  test('[REQ-KEEP-12] keys are not rotated beside another node; an interrupted rotation is finished', async () => {
    const { place } = await rotatedLedger()
    await besideNode(place, () => expect(rotate(place)).rejects.toThrow(/Stop every node first/))
    expect(await verify(place)).toMatchObject({ ok: true, events: 5 })
    const keys = prepareKeys(place)
    await recordOffline(place, [{ type: 'ledger_keys_rotated', fingerprint: keys.fingerprint, reason: 'r' }])
    // The database goes away after the new keys are beside the old ones.
    server.stopNow()
    await expect(keys.apply()).rejects.toMatchObject({ name: 'StoreRefused' })
    server.start()
    await expect(openPostgresStore(place)).rejects.toThrow(/rotat/)
    expect(await finishRotation(place)).toBe(true)
    await append(place, 'task:b', 1)
    expect(await verify(place)).toMatchObject({ ok: true, events: 7 })
  })
})
