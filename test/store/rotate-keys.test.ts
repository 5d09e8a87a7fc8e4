import { createHmac, sign } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { recordOffline } from '../../src/app/ledger/record-offline.js'
import { makeBackup } from '../../src/store/backup/make-backup.js'
import { restoreBackup } from '../../src/store/backup/restore-backup.js'
import { exportLedger } from '../../src/store/export/export-ledger.js'
import { verifyExport } from '../../src/store/export/verify-export.js'
import { readChainKey, readSigningKey } from '../../src/store/keys.js'
import { finishRotation, prepareKeys } from '../../src/store/rotate-keys.js'
import { openSqliteStore } from '../../src/store/sqlite-store.js'
import { verifyDirectory } from '../../src/store/verify/verify-ledger.js'
import { computeEventHash } from '../../src/store/write/chain.js'
import { events, newEvent, temporaryDirectory } from './events.js'
import { tamper } from './ledger-on-disk.js'

async function append(dir: string, stream: string, version: number) {
  const store = await openSqliteStore({ dir })
  events(await store.append({ stream, expectedVersion: version, events: [newEvent('step', { stream, version })] }))
  await store.close()
}

async function rotate(dir: string) {
  const keys = prepareKeys({ dir, url: null })
  await recordOffline({ dir, url: null }, [{ type: 'ledger_keys_rotated', fingerprint: keys.fingerprint, reason: 'r' }])
  await keys.apply()
}

/** Events of task:a and task:b under the first keys, task:a and task:c under the second. */
async function rotatedLedger() {
  const dir = temporaryDirectory()
  await append(dir, 'task:a', 0)
  await append(dir, 'task:b', 0)
  const old = { key: readChainKey(dir), signing: readSigningKey(dir) }
  await rotate(dir)
  await append(dir, 'task:a', 1)
  await append(dir, 'task:c', 0)
  return { dir, old }
}

test('REQ-KEEP-10 what was written before a rotation verifies, also after a second one, in exports and backups', async () => {
  const { dir, old } = await rotatedLedger()
  expect(readChainKey(dir)?.equals(old.key as never)).toBe(false)
  expect(await verifyDirectory(dir)).toMatchObject({ ok: true, events: 5, streams: 4 })
  await rotate(dir)
  await append(dir, 'task:b', 1)
  expect(await verifyDirectory(dir)).toMatchObject({ ok: true, events: 7 })
  const lines: string[] = []
  await exportLedger({ dir, url: null }, async (line) => void lines.push(line))
  async function* each() {
    yield* lines
  }
  const pem = readFileSync(join(dir, 'ledger.ed25519.pub'), 'utf8')
  expect(await verifyExport(each(), pem)).toMatchObject({ ok: true, key: 'given' })
  const folder = temporaryDirectory()
  const file = join(folder, 'one.backup')
  await makeBackup({ dir, url: null, to: file, keys: { kind: 'plain' }, programVersion: '1' })
  const rest = { publicKey: null, keysDir: null, askPassphrase: async () => '', record: async () => undefined }
  await restoreBackup({ file, dir: join(folder, 'restored'), ...rest })
  expect(await verifyDirectory(join(folder, 'restored'))).toMatchObject({ ok: true, events: 7 })
})

describe('REQ-KEEP-11 replaced keys give nobody a way in', () => {
  test('an event that is rewritten with the stolen old chain key is found', async () => {
    const { dir, old } = await rotatedLedger()
    tamper(dir, (database) => {
      const row = database.prepare("SELECT * FROM event WHERE stream = 'task:b'").get()
      if (row === undefined || old.key === null) throw new Error('no event')
      const columns = { ...row, dataText: '{"forged":true}', prevHash: row.prev_hash }
      const hash = computeEventHash(old.key, columns as never)
      database.prepare("UPDATE event SET data = ?, hash = ? WHERE stream = 'task:b'").run('{"forged":true}', hash)
    })
    expect(await verifyDirectory(dir)).toMatchObject({ ok: false })
  })

  test('also when the checkpoints are signed again with the stolen old signing key', async () => {
    const { dir, old } = await rotatedLedger()
    const first = join(dir, 'checkpoints', '000000000003.json')
    const { signature: _old, ...checkpoint } = JSON.parse(readFileSync(first, 'utf8'))
    checkpoint.created_at = '2020-01-01T00:00:00.000Z'
    const signature = sign(null, Buffer.from(JSON.stringify(checkpoint)), old.signing as never).toString('base64')
    writeFileSync(first, `${JSON.stringify({ ...checkpoint, signature })}\n`)
    expect(await verifyDirectory(dir)).toMatchObject({ ok: false, problems: [{ code: 'checkpoint_missing' }] })
  })

  test('a new event that is written with an old key is found', async () => {
    const { dir, old } = await rotatedLedger()
    tamper(dir, (database) => {
      const row = database.prepare("SELECT * FROM event WHERE stream = 'task:c'").get()
      if (row === undefined || old.key === null) throw new Error('no event')
      const hash = computeEventHash(old.key, { ...row, dataText: row.data, prevHash: row.prev_hash } as never)
      database.prepare("UPDATE event SET hash = ? WHERE stream = 'task:c'").run(hash)
    })
    expect(await verifyDirectory(dir)).toMatchObject({ ok: false, problems: [{ code: 'changed_event', seq: 5 }] })
  })

  test('a changed or missing list of replaced keys', async () => {
    const { dir, old } = await rotatedLedger()
    const file = join(dir, 'ledger.keys')
    const ring = JSON.parse(readFileSync(file, 'utf8'))
    ring.earlier[0].through = 99
    const seal = createHmac('sha256', old.key as never).update(`phaselock-keys ${JSON.stringify(ring.earlier)}`)
    writeFileSync(file, JSON.stringify({ ...ring, seal: seal.digest('hex') }))
    expect(await verifyDirectory(dir)).toMatchObject({ ok: false, problems: [{ code: 'key_missing' }] })
    await expect(openSqliteStore({ dir })).rejects.toThrow(/ledger.key is missing or damaged/)
    rmSync(file)
    expect(await verifyDirectory(dir)).toMatchObject({ ok: false, problems: [{ code: 'changed_event', seq: 1 }, {}] })
  })
})

test('REQ-KEEP-12 a rotation that was interrupted is finished, and no server starts before', async () => {
  const { dir } = await rotatedLedger()
  const before = readFileSync(join(dir, 'ledger.key'))
  const keys = prepareKeys({ dir, url: null })
  // Killed before anything was replaced: the head is not readable for the replacement.
  renameSync(join(dir, 'ledger.checkpoint'), join(dir, 'aside'))
  await expect(keys.apply()).rejects.toThrow(/ledger.checkpoint/)
  renameSync(join(dir, 'aside'), join(dir, 'ledger.checkpoint'))
  await expect(openSqliteStore({ dir })).rejects.toThrow(/rotate-ledger/)
  expect(await finishRotation({ dir, url: null })).toBe(true)
  expect(existsSync(join(dir, 'ledger.rotating'))).toBe(false)
  expect(readFileSync(join(dir, 'ledger.key')).equals(before)).toBe(false)
  await append(dir, 'task:c', 1)
  expect(await verifyDirectory(dir)).toMatchObject({ ok: true, events: 6 })
  expect(await finishRotation({ dir, url: null })).toBe(false)
  const store = await openSqliteStore({ dir })
  await expect(prepareKeys({ dir, url: null }).apply()).rejects.toThrow(/Another server/)
  await store.close()
})
