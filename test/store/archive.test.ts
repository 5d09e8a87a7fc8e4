import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { archiveOffline } from '../../src/app/ledger/archive-offline.js'
import { Entries } from '../../src/app/ledger/entries.js'
import { verifyArchive } from '../../src/store/archive/verify-archive.js'
import { makeBackup } from '../../src/store/backup/make-backup.js'
import { restoreBackup } from '../../src/store/backup/restore-backup.js'
import { exportLedger } from '../../src/store/export/export-ledger.js'
import { openSqliteStore } from '../../src/store/sqlite-store.js'
import { verifyDirectory } from '../../src/store/verify/verify-ledger.js'
import { events, NOW, newEvent, newTask, temporaryDirectory } from './events.js'
import { tamper } from './ledger-on-disk.js'

/** Two ended tasks, one of which another task waits for, and that task. */
async function fullLedger() {
  const dir = temporaryDirectory()
  const store = await openSqliteStore({ dir })
  const tasks = [
    newTask('old', { status: 'completed' }),
    newTask('needed', { status: 'completed' }),
    newTask('open', { dependsOn: ['needed'] }),
    newTask('new', { status: 'completed', updatedAt: NOW + 10 }),
  ]
  for (const [index, step] of ['first', 'second'].entries())
    for (const task of tasks) {
      const data = { text: `${step} of ${task.id}` }
      const append = { stream: `task:${task.id}`, expectedVersion: index, events: [newEvent('step', data)], task }
      events(await store.append(append))
    }
  await store.close()
  return { dir, folder: temporaryDirectory() }
}

async function archived() {
  const { dir, folder } = await fullLedger()
  const file = join(folder, 'one.archive')
  const made = await archiveOffline({ dir, url: null, to: file, before: NOW + 5, programVersion: '1' }, 'retention')
  return { dir, folder, file, made, place: { dir, url: null } }
}

test('REQ-KEEP-16 ended tasks move to a signed file that is read back, and the ledger still verifies', async () => {
  const { dir, folder, file, made, place } = await archived()
  expect(made).toMatchObject({ tasks: ['old'], events: [{ seq: 1 }, { seq: 5 }] })
  expect(await verifyDirectory(dir)).toMatchObject({ ok: true, events: 9, streams: 5 })
  expect(await verifyArchive(file, place)).toMatchObject({ events: 2 })
  expect(readFileSync(join(dir, 'ledger.db')).includes('first of old')).toBe(false)
  const store = await openSqliteStore({ dir })
  expect([await store.task('old'), await new Entries(store).get('old')]).toEqual([null, null])
  expect((await store.countTasks()).reduce((sum, { count }) => sum + count, 0)).toBe(3)
  const again = { stream: 'task:old', expectedVersion: 0, events: [newEvent()], task: newTask('old') }
  expect(await store.append(again)).toMatchObject({ ok: false, reason: 'version_conflict' })
  const open = { stream: 'task:open', expectedVersion: 2, events: [newEvent()] }
  events(await store.append(open))
  await store.close()
  expect(await verifyDirectory(dir)).toMatchObject({ ok: true, events: 10 })
  await exportLedger({ dir, url: null }, async () => undefined)
  const backup = join(folder, 'one.backup')
  await makeBackup({ ...place, to: backup, keys: { kind: 'plain' }, programVersion: '1' })
  const rest = { publicKey: null, keysDir: null, askPassphrase: async () => '', record: async () => undefined }
  await restoreBackup({ file: backup, dir: join(folder, 'restored'), ...rest })
  expect(await verifyDirectory(join(folder, 'restored'))).toMatchObject({ ok: true })
  await expect(restoreBackup({ file, dir: join(folder, 'never'), ...rest })).rejects.toThrow(/not a backup/)
})

test('REQ-KEEP-16 nothing that ended is old enough: nothing is written', async () => {
  const { dir, folder } = await fullLedger()
  const to = join(folder, 'one.archive')
  expect(await archiveOffline({ dir, url: null, to, before: NOW - 5, programVersion: '1' }, 'r')).toBe(null)
  expect(readdirSync(folder)).toEqual([])
  const store = await openSqliteStore({ dir })
  const request = { dir, url: null, to, before: NOW + 5, programVersion: '1' }
  await expect(archiveOffline(request, 'r')).rejects.toThrow(/Another server/)
  expect(await store.task('old')).not.toBe(null)
  await store.close()
  expect(await verifyDirectory(dir)).toMatchObject({ ok: true })
})

describe('REQ-KEEP-17 tampering that pretends to be an archive is found', () => {
  async function expectFound(seq: number, change: Parameters<typeof tamper>[1]) {
    const { dir } = await archived()
    tamper(dir, change)
    const { ok, problems } = await verifyDirectory(dir)
    expect([ok, problems[0]]).toMatchObject([false, { code: 'changed_event', seq }])
  }

  test('a tombstone that was copied to another event', () =>
    expectFound(2, 'UPDATE event SET data = (SELECT data FROM event WHERE seq = 1) WHERE seq = 2'))

  test('a tombstone of an archive that the ledger does not record, or with another seal', async () => {
    const other = `{"archived":"${'0'.repeat(32)}","seal":"${'0'.repeat(64)}"}`
    await expectFound(2, `UPDATE event SET data = '${other}' WHERE seq = 2`)
    await expectFound(1, 'UPDATE event SET data = replace(data, \'"seal":"\', \'"seal":"0\') WHERE seq = 1')
    await expectFound(1, "UPDATE event SET data = '{}' WHERE seq = 1")
  })

  test('an archived event with another actor, type or hash', async () => {
    await expectFound(1, "UPDATE event SET actor = 'agent:eve' WHERE seq = 1")
    await expectFound(1, "UPDATE event SET type = 'approved' WHERE seq = 1")
    await expectFound(5, `UPDATE event SET hash = '${'0'.repeat(64)}' WHERE seq = 5`)
  })

  test('a record that was removed or changed', async () => {
    await expectFound(1, "DELETE FROM event WHERE type = 'tasks_archived'")
    await expectFound(9, "UPDATE event SET data = replace(data, 'retention', 'accident') WHERE seq = 9")
  })

  test('an archive file that was changed, cut, or is another one', async () => {
    const { file, place, folder } = await archived()
    const whole = readFileSync(file)
    for (const at of [30, Math.floor(whole.length / 2), whole.length - 300]) {
      const changed = Buffer.from(whole)
      changed[at] = (changed[at] ?? 0) ^ 1
      writeFileSync(file, changed)
      await expect(verifyArchive(file, place)).rejects.toMatchObject({ name: 'StoreRefused' })
    }
    writeFileSync(file, whole.subarray(0, -1))
    await expect(verifyArchive(file, place)).rejects.toThrow(/cut off|not whole/)
    const other = await archived()
    await expect(verifyArchive(other.file, place)).rejects.toThrow(/does not record/)
    const backup = join(folder, 'one.backup')
    await makeBackup({ ...place, to: backup, keys: { kind: 'plain' }, programVersion: '1' })
    await expect(verifyArchive(backup, place)).rejects.toThrow(/not an archive/)
    expect(existsSync(file)).toBe(true)
  })
})
