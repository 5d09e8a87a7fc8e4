import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { eraseOffline, findErasable } from '../../src/app/ledger/erase-offline.js'
import { recordOffline } from '../../src/app/ledger/record-offline.js'
import { makeBackup } from '../../src/store/backup/make-backup.js'
import { restoreBackup } from '../../src/store/backup/restore-backup.js'
import { exportLedger } from '../../src/store/export/export-ledger.js'
import { prepareKeys } from '../../src/store/rotate-keys.js'
import { openSqliteStore } from '../../src/store/sqlite-store.js'
import { verifyDirectory } from '../../src/store/verify/verify-ledger.js'
import { events, newEvent, newTask, sha256, temporaryDirectory } from './events.js'
import { tamper } from './ledger-on-disk.js'

const SECRET = 'hunter2 "quoted" näme'

/** Five events with two that contain the secret, in data, names, a task, a blob and a kept answer. */
async function leakedLedger() {
  const dir = temporaryDirectory()
  const store = await openSqliteStore({ dir })
  const content = `before ${SECRET} after`
  const remember = { principal: 'p', key: 'k', bodyHash: 'h', status: 200, answer: { said: SECRET } }
  const rows = [
    { stream: 'task:a', version: 0, data: { text: `my ${SECRET}!`, [SECRET]: [{ deep: SECRET }] }, remember },
    { stream: 'task:a', version: 1, data: { text: 'harmless' } },
    { stream: 'task:b', version: 0, data: { text: SECRET } },
    { stream: 'task:b', version: 1, data: { text: 'harmless' } },
  ]
  for (const { stream, version, data, remember } of rows)
    events(
      await store.append({
        ...{ stream, expectedVersion: version, events: [newEvent('step', data)] },
        ...(version === 0 ? { blobs: [{ sha256: sha256(content), content }] } : {}),
        ...(stream === 'task:a' ? { task: newTask('a', { title: `about ${SECRET}` }) } : {}),
        ...(remember === undefined ? {} : { remember }),
      }),
    )
  await store.close()
  return { dir, place: { dir, url: null }, blob: sha256(content) }
}

async function erase(place: { dir: string; url: null }) {
  const found = await findErasable(place, SECRET)
  await eraseOffline(place, found, 'leaked')
  return found
}

test('REQ-KEEP-13 an erased text is nowhere in the database, and the ledger still verifies, exports, and is backed up', async () => {
  const { dir, place, blob } = await leakedLedger()
  const found = await erase(place)
  expect([found.events.length, found.tasks.length, found.blobs, found.answers.length]).toEqual([2, 1, [blob], 1])
  for (const name of ['ledger.db', 'ledger.db-wal']) {
    const bytes = (() => {
      try {
        return readFileSync(join(dir, name))
      } catch {
        return Buffer.alloc(0)
      }
    })()
    for (const form of [SECRET, JSON.stringify(SECRET).slice(1, -1), 'hunter2'])
      expect(bytes.includes(form)).toBe(false)
  }
  expect(await verifyDirectory(dir)).toMatchObject({ ok: true, events: 5, streams: 3 })
  const store = await openSqliteStore({ dir })
  const [first] = await store.readStream('task:a', 0, 1)
  expect(first?.data).toEqual({ text: 'my [erased]!', '[erased]': [{ deep: '[erased]' }] })
  expect(await store.task('a')).toMatchObject({ title: 'about [erased]' })
  expect([await store.readBlob(blob), await store.recall({ principal: 'p', key: 'k' })]).toEqual([null, null])
  events(await store.append({ stream: 'task:a', expectedVersion: 2, events: [newEvent()] }))
  await store.close()
  const keys = prepareKeys(place)
  await recordOffline(place, [{ type: 'ledger_keys_rotated', fingerprint: keys.fingerprint, reason: '' }])
  await keys.apply()
  expect(await verifyDirectory(dir)).toMatchObject({ ok: true, events: 7 })
  await exportLedger({ dir, url: null }, async (line) => expect(line).not.toContain('hunter2'))
  const folder = temporaryDirectory()
  const file = join(folder, 'one.backup')
  await makeBackup({ dir, url: null, to: file, keys: { kind: 'plain' }, programVersion: '1' })
  const rest = { publicKey: null, keysDir: null, askPassphrase: async () => '', record: async () => undefined }
  await restoreBackup({ file, dir: join(folder, 'restored'), ...rest })
  expect(await verifyDirectory(join(folder, 'restored'))).toMatchObject({ ok: true })
})

describe('REQ-KEEP-14 tampering that pretends to be an erasure is found', () => {
  async function expectFound(seq: number, change: Parameters<typeof tamper>[1], code = 'changed_event') {
    const { dir, place } = await leakedLedger()
    await erase(place)
    tamper(dir, change)
    const report = await verifyDirectory(dir)
    expect(report.ok).toBe(false)
    expect(report.problems[0]).toMatchObject({ code, seq })
    await expect(exportLedger({ dir, url: null }, async () => undefined)).rejects.toMatchObject({ code: 'tampered' })
  }

  test('a text replaced like an erasure that nobody recorded', () =>
    expectFound(2, 'UPDATE event SET data = \'{"text":"[erased]"}\' WHERE seq = 2'))

  test('another content for an event that was erased', () =>
    expectFound(3, 'UPDATE event SET data = \'{"text":"[erased] and more"}\' WHERE seq = 3'))

  test('another column of an event that was erased', async () => {
    await expectFound(3, "UPDATE event SET actor = 'agent:eve' WHERE seq = 3")
    await expectFound(3, "UPDATE event SET type = 'approved' WHERE seq = 3")
  })

  test('the content of one erased event in another', () =>
    expectFound(1, 'UPDATE event SET data = (SELECT data FROM event WHERE seq = 3) WHERE seq = 1'))

  test('a record of an erasure that was changed, invented or removed', async () => {
    await expectFound(5, "UPDATE event SET data = replace(data, 'leaked', 'wanted') WHERE seq = 5")
    await expectFound(2, (database) => {
      const { data } = database.prepare('SELECT data FROM event WHERE seq = 5').get() ?? {}
      const { hash } = database.prepare('SELECT hash FROM event WHERE seq = 2').get() ?? {}
      const record = JSON.parse(String(data))
      record.erased.push({ seq: 2, hash, seal: record.erased[0].seal })
      database.prepare('UPDATE event SET data = ? WHERE seq = 5').run(JSON.stringify(record))
      database.exec('UPDATE event SET data = \'{"text":"[erased]"}\' WHERE seq = 2')
    })
    await expectFound(1, 'DELETE FROM event WHERE seq = 5')
  })

  test('the seal of a record in place of the hash', () =>
    expectFound(3, (database) => {
      const { data } = database.prepare('SELECT data FROM event WHERE seq = 5').get() ?? {}
      const entry = JSON.parse(String(data)).erased.find(({ seq }: { seq: number }) => seq === 3)
      database.prepare('UPDATE event SET hash = ? WHERE seq = 3').run(entry.seal)
    }))
})

describe('REQ-KEEP-15 what must not be erased is refused, and nothing is changed', () => {
  test('a text that is too short, a tampered ledger, and a contract', async () => {
    const { dir, place } = await leakedLedger()
    await expect(findErasable(place, 'ab')).rejects.toThrow(/at least 6/)
    tamper(dir, "UPDATE event SET actor = 'agent:eve' WHERE seq = 2")
    await expect(findErasable(place, SECRET)).rejects.toMatchObject({ code: 'tampered' })
    const other = await leakedLedger()
    const { blob } = other
    await recordOffline(other.place, [
      { type: 'contract_registered', hash: blob, name: 'c', version: '1', origin: 'o' },
    ])
    await expect(findErasable(other.place, SECRET)).rejects.toThrow(/is in the contract/)
  })

  test('the ledger of a running server', async () => {
    const { dir, place } = await leakedLedger()
    const found = await findErasable(place, SECRET)
    const store = await openSqliteStore({ dir })
    await expect(eraseOffline(place, found, 'r')).rejects.toThrow(/Another server/)
    expect((await store.readStream('task:b', 0, 1))[0]?.data).toEqual({ text: SECRET })
    await store.close()
  })
})
