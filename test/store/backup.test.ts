import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { checkBackupFile, readBackupLines, writeBackupFile } from '../../src/store/backup/backup-file.js'
import { type KeyChoice, LineTally, makeBackup } from '../../src/store/backup/make-backup.js'
import { type RestoreRequest, restoreBackup } from '../../src/store/backup/restore-backup.js'
import { readSigningKey } from '../../src/store/keys.js'
import { openSqliteStore } from '../../src/store/sqlite-store.js'
import { verifyDirectory } from '../../src/store/verify/verify-ledger.js'
import { events, newEvent, newTask, temporaryDirectory } from './events.js'
import { ledgerOnDisk, tamper } from './ledger-on-disk.js'

const PLAIN: KeyChoice = { kind: 'plain' }

async function backedUp(keys: KeyChoice = PLAIN) {
  const dir = await ledgerOnDisk()
  const folder = temporaryDirectory()
  const file = join(folder, 'one.backup')
  const made = await makeBackup({ dir, url: null, to: file, keys, programVersion: '1' })
  return { dir, folder, file, made }
}

function restore(file: string, rest: Partial<RestoreRequest> = {}) {
  const dir = join(dirname(file), 'restored')
  return restoreBackup({
    ...{ file, dir, publicKey: null, keysDir: null },
    askPassphrase: async () => 'correct horse battery',
    record: async () => undefined,
    ...rest,
  })
}

/** Refused, and nothing is beside the backup that was not there before. */
async function expectRefused(file: string, found: RegExp, rest: Partial<RestoreRequest> = {}) {
  const before = readdirSync(dirname(file))
  await expect(restore(file, rest)).rejects.toMatchObject({
    name: 'StoreRefused',
    message: expect.stringMatching(found),
  })
  expect(readdirSync(dirname(file))).toEqual(before)
}

test('REQ-KEEP-1 a restored backup verifies and has every event, task, blob and answer', async () => {
  const { dir, file, folder, made } = await backedUp()
  expect(made).toMatchObject({ head: { count: 12 }, streams: 3, counts: { event: 12, task: 1, blob: 1, file: 2 } })
  await restore(file)
  const restored = join(folder, 'restored')
  expect(await verifyDirectory(restored)).toMatchObject({ ok: true, events: 12, streams: 3, checkpoints: 2 })
  const [was, is] = [await openSqliteStore({ dir }), await openSqliteStore({ dir: restored })]
  try {
    expect(await is.readAll(0, 100)).toEqual(await was.readAll(0, 100))
    expect(await is.task('a')).toEqual(newTask('a'))
    expect(await is.countTasks()).toEqual(await was.countTasks())
    events(await is.append({ stream: 'task:a', expectedVersion: 4, events: [newEvent()] }))
  } finally {
    await was.close()
    await is.close()
  }
  expect(await verifyDirectory(restored)).toMatchObject({ ok: true, events: 13 })
})

describe('REQ-KEEP-2 a backup that is not what was written is refused, and nothing is left behind', () => {
  test('any one changed byte', async () => {
    const { file } = await backedUp()
    const whole = readFileSync(file)
    const places = [
      ...new Set([
        0,
        17,
        18,
        40,
        ...Array.from({ length: 24 }, (_, i) => Math.floor((i * whole.length) / 24)),
        whole.length - 1,
      ]),
    ]
    for (const place of places) {
      const changed = Buffer.from(whole)
      changed[place] = (changed[place] ?? 0) ^ 0x20
      writeFileSync(file, changed)
      await expectRefused(file, /./)
    }
  })

  test('a cut tail, an empty file, and a file that is no backup', async () => {
    const { file } = await backedUp()
    const { length } = readFileSync(file)
    for (const end of [length - 1, length - 200, 400, 10]) {
      truncateSync(file, end)
      await expectRefused(file, /cut off|not whole|not a backup/)
    }
    writeFileSync(file, '')
    await expectRefused(file, /not a backup/)
    writeFileSync(file, 'hello\n'.repeat(100))
    await expectRefused(file, /not a backup/)
  })

  test('another key than the one that is trusted, and keys of another ledger', async () => {
    const { file } = await backedUp()
    await expectRefused(file, /another key/, { publicKey: generateKeyPairSync('ed25519').publicKey })
    const other = await backedUp({ kind: 'none' })
    const foreign = temporaryDirectory()
    await (await openSqliteStore({ dir: foreign })).close()
    await expectRefused(other.file, /not those of the ledger/, { keysDir: foreign })
    const mixed = temporaryDirectory()
    writeFileSync(join(mixed, 'ledger.ed25519'), readFileSync(join(other.dir, 'ledger.ed25519')))
    writeFileSync(join(mixed, 'ledger.key'), readFileSync(join(foreign, 'ledger.key')))
    await expectRefused(other.file, /does not verify|changed/, { keysDir: mixed })
  })

  /** The same backup, signed again by its own key after a change: what the manifest and the chain still find. */
  async function resign(change: (lines: string[]) => string[], schema = 1) {
    const { dir, file } = await backedUp()
    const checked = await checkBackupFile(file, null)
    const lines: string[] = []
    for await (const line of readBackupLines(checked)) lines.push(line)
    const forged = join(dirname(file), 'forged.backup')
    const signingKey = readSigningKey(dir)
    if (signingKey === null) throw new Error('no key')
    async function* each() {
      yield* change(lines)
    }
    await writeBackupFile(forged, { header: { ...checked.header, schema }, signingKey }, each())
    return forged
  }

  test('a part that is missing, doubled or unknown', async () => {
    await expectRefused(await resign((lines) => lines.filter((line) => !line.startsWith('["blob"'))), /missing/)
    await expectRefused(await resign((lines) => lines.filter((line) => !line.startsWith('["secrets"'))), /./)
    await expectRefused(await resign((lines) => lines.slice(0, -1)), /missing/)
    await expectRefused(await resign((lines) => [...lines, lines[1] ?? '']), /after its end/)
    await expectRefused(await resign((lines) => [lines[0] ?? '', '["odd",1]', ...lines.slice(1)]), /does not know/)
  })

  test('a changed event with a manifest that fits', async () => {
    const forged = await resign((lines) => {
      const changed = lines.slice(0, -1).map((line) => line.replace('task:b 1', 'task:b 9'))
      const tally = new LineTally()
      for (const line of changed) tally.take(JSON.parse(line)[0], line)
      const [, manifest] = JSON.parse(lines.at(-1) ?? '')
      return [...changed, JSON.stringify(['end', { ...manifest, ...tally.read() }])]
    })
    await expectRefused(forged, /Event 5 .* was changed/)
  })

  test('a file that would be written outside of the directory', async () => {
    for (const path of ['../evil', 'contracts/../../evil', '/etc/evil', 'ledger.key', 'contracts/..'])
      await expectRefused(
        await resign((lines) => [...lines.slice(0, 2), JSON.stringify(['file', path, '']), ...lines.slice(2)]),
        /does not belong/,
      )
  })

  test('a newer schema, and a newer form of file', async () => {
    await expectRefused(await resign((lines) => lines, 2), /schema version 2/)
    const { file } = await backedUp()
    writeFileSync(file, readFileSync(file, 'latin1').replace('phaselock-backup 1', 'phaselock-backup 2'), 'latin1')
    await expectRefused(file, /newer phaselock/)
  })
})

describe('REQ-KEEP-3 a backup is restored only into a new directory', () => {
  test('not into one with files, one that a server uses, a link, or a file', async () => {
    const { file, folder, dir } = await backedUp()
    const full = join(folder, 'full')
    mkdirSync(full)
    writeFileSync(join(full, 'note'), '')
    await expectRefused(file, /not empty/, { dir: full })
    expect(readdirSync(full)).toEqual(['note'])
    const store = await openSqliteStore({ dir })
    await expectRefused(file, /Another server/, { dir })
    await store.close()
    await expectRefused(file, /not empty/, { dir })
    symlinkSync(temporaryDirectory(), join(folder, 'link'))
    await expectRefused(file, /not a folder/, { dir: join(folder, 'link') })
    await expectRefused(file, /not a folder/, { dir: file })
    const empty = join(folder, 'empty')
    mkdirSync(empty)
    await restore(file, { dir: empty })
    expect(await verifyDirectory(empty)).toMatchObject({ ok: true })
  })
})

describe('REQ-KEEP-4 private keys are in a backup only on request', () => {
  test('without them it is restored with the keys from elsewhere', async () => {
    const { dir, file, folder } = await backedUp({ kind: 'none' })
    await expectRefused(file, /does not hold its keys.*--keys DIR/)
    const publicKey = createPublicKey(readFileSync(join(dir, 'ledger.ed25519.pub')))
    await restore(file, { keysDir: dir, publicKey })
    expect(await verifyDirectory(join(folder, 'restored'))).toMatchObject({ ok: true })
  })

  test('encrypted ones need the passphrase', async () => {
    const { dir, file, folder } = await backedUp({ kind: 'encrypted', passphrase: 'correct horse battery' })
    const raw: string[] = []
    for await (const line of readBackupLines(await checkBackupFile(file, null))) raw.push(line)
    expect(raw.join('\n')).not.toContain(readFileSync(join(dir, 'ledger.key')).toString('base64'))
    await expectRefused(file, /passphrase is not the one/, { askPassphrase: async () => 'wrong horse battery' })
    await restore(file)
    expect(readFileSync(join(folder, 'restored', 'ledger.key'))).toEqual(readFileSync(join(dir, 'ledger.key')))
  })
})

test('REQ-KEEP-5 a ledger that was tampered with is not backed up', async () => {
  for (const change of [
    "UPDATE event SET actor = 'agent:eve' WHERE seq = 5",
    'DELETE FROM event WHERE seq = 12',
    'DELETE FROM event WHERE seq = 3',
    "UPDATE blob SET content = x'00'",
  ]) {
    const dir = await ledgerOnDisk()
    tamper(dir, change)
    const folder = temporaryDirectory()
    const to = join(folder, 'one.backup')
    await expect(makeBackup({ dir, url: null, to, keys: PLAIN, programVersion: '1' })).rejects.toMatchObject({
      code: 'tampered',
    })
    expect(existsSync(to)).toBe(false)
    expect(readdirSync(folder)).toEqual([])
  }
  const { dir, file } = await backedUp()
  await expect(makeBackup({ dir, url: null, to: file, keys: PLAIN, programVersion: '1' })).rejects.toThrow(/exists/)
})
