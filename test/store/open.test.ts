import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/store/database.js'
import { openSqliteStore } from '../../src/store/sqlite-store.js'
import { verifyDirectory } from '../../src/store/verify/verify-ledger.js'
import { newEvent, temporaryDirectory } from './events.js'
import { ledgerOnDisk, runProgram, tamper } from './ledger-on-disk.js'

const refusedAs = (code: string) => expect.objectContaining({ name: 'StoreRefused', code })

describe('REQ-LEDGER-19 a damaged database stops the start and is left as it is', () => {
  const damages: Record<string, (path: string) => void> = {
    'an empty file': (path) => truncateSync(path, 0),
    'a cut file': (path) => truncateSync(path, 20_000),
    'a cut header': (path) => truncateSync(path, 50),
    'a text file': (path) => writeFileSync(path, 'this is no database at all, but it is long enough\n'.repeat(500)),
    'zeros in its pages': (path) => {
      const bytes = readFileSync(path)
      writeFileSync(path, bytes.fill(0, 8_192, 24_576))
    },
    'a missing file': (path) => rmSync(path),
  }
  for (const [name, damage] of Object.entries(damages)) {
    test(name, async () => {
      const dir = await ledgerOnDisk()
      const path = join(dir, 'ledger.db')
      damage(path)
      const before = existsSync(path) ? readFileSync(path) : null
      await expect(openSqliteStore({ dir })).rejects.toEqual(refusedAs('corrupt'))
      await expect(openSqliteStore({ dir })).rejects.toEqual(refusedAs('corrupt'))
      expect(existsSync(path) ? readFileSync(path) : null).toEqual(before)
      expect((await verifyDirectory(dir)).ok).toBe(false)
    })
  }
})

describe('REQ-LEDGER-19 a ledger never starts empty where one was', () => {
  for (const kept of ['ledger.key', 'ledger.head', 'ledger.ed25519', 'checkpoints']) {
    test(`only ${kept} is left`, async () => {
      const dir = await ledgerOnDisk()
      for (const name of [
        'ledger.db',
        'ledger.key',
        'ledger.head',
        'ledger.ed25519',
        'ledger.ed25519.pub',
        'ledger.checkpoint',
        'checkpoints',
      ]) {
        if (name !== kept) rmSync(join(dir, name), { recursive: true })
      }
      await expect(openSqliteStore({ dir })).rejects.toMatchObject({ name: 'StoreRefused' })
      expect(existsSync(join(dir, 'ledger.db'))).toBe(false)
    })
  }

  test('but a making that was interrupted begins again', async () => {
    const dir = temporaryDirectory()
    writeFileSync(join(dir, 'ledger.creating'), '')
    writeFileSync(join(dir, 'ledger.key'), 'half')
    const store = await openSqliteStore({ dir })
    await store.append({ stream: 'task:a', expectedVersion: 0, events: [newEvent()] })
    await store.close()
    expect((await verifyDirectory(dir)).ok).toBe(true)
    writeFileSync(join(dir, 'ledger.creating'), '')
    const again = await openSqliteStore({ dir })
    expect(await again.lastSeq()).toBe(1)
    await again.close()
  })
})

test('REQ-LEDGER-20 a database of a newer program is refused and not changed', async () => {
  const dir = await ledgerOnDisk()
  tamper(dir, "UPDATE meta SET value = '99' WHERE name = 'schema_version'")
  await expect(openSqliteStore({ dir })).rejects.toEqual(refusedAs('too_new'))
  const database = openDatabase(join(dir, 'ledger.db'), { readOnly: true })
  expect(database.prepare("SELECT value FROM meta WHERE name = 'schema_version'").get()?.value).toBe('99')
  database.close()
})

test('REQ-LEDGER-19 the key of another ledger is refused', async () => {
  const dir = await ledgerOnDisk()
  const other = temporaryDirectory()
  await (await openSqliteStore({ dir: other })).close()
  writeFileSync(join(dir, 'ledger.key'), readFileSync(join(other, 'ledger.key')))
  await expect(openSqliteStore({ dir })).rejects.toEqual(refusedAs('tampered'))
})

test('REQ-LEDGER-13 a directory that cannot be written is refused with its name', async (context) => {
  if (process.getuid?.() !== 0) context.skip('needs root to run a program as another user')
  const dir = await ledgerOnDisk()
  const { lines, ended } = runProgram(
    dir,
    `await openSqliteStore({ dir }).then(() => console.log('opened'), (error) => console.log(error.code))`,
    { uid: 65_534 },
  )
  const said: string[] = []
  lines.on('line', (line) => said.push(line))
  await ended
  expect(said).toEqual(['unreadable'])
})
