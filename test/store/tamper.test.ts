import { createHmac, createSecretKey, randomBytes } from 'node:crypto'
import { copyFileSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Database } from '../../src/store/database.js'
import { openSqliteStore } from '../../src/store/sqlite-store.js'
import { verifyDirectory } from '../../src/store/verify/verify-ledger.js'
import { EVENT_COLUMNS } from '../../src/store/wire.js'
import { computeEventHash, FIRST_PREV_HASH } from '../../src/store/write/chain.js'
import { newEvent } from './events.js'
import { ledgerOnDisk, tamper } from './ledger-on-disk.js'

/** What `verify` says first, by code and event. */
async function firstProblem(dir: string): Promise<readonly [string | undefined, number | null | undefined]> {
  const [first] = (await verifyDirectory(dir)).problems
  return [first?.code, first?.seq]
}

test('REQ-LEDGER-15 an untouched ledger has no problems', async () => {
  const dir = await ledgerOnDisk()
  expect(await verifyDirectory(dir)).toEqual({ ok: true, events: 12, streams: 3, checkpoints: 2, problems: [] })
})

describe('REQ-LEDGER-15 a changed column of an event is found at that event', () => {
  const changes: Record<string, string> = {
    type: "type = 'other'",
    at: 'at = at + 1',
    actor: "actor = 'agent:eve'",
    epoch: 'epoch = 2',
    phase: 'phase = NULL',
    'phase to empty': "phase = ''",
    contract: "contract = 'c2'",
    data: `data = replace(data, '"step"', '"stop"')`,
    'spaces in data': `data = replace(data, ':', ': ')`,
    prev_hash: `prev_hash = '${'f'.repeat(64)}'`,
    hash: `hash = '${'f'.repeat(64)}'`,
    stream: "stream = 'task:z'",
    version: 'version = 99',
  }
  for (const [name, change] of Object.entries(changes)) {
    test(name, async () => {
      const dir = await ledgerOnDisk()
      tamper(dir, `UPDATE event SET ${change} WHERE seq = 5`)
      expect(await firstProblem(dir)).toEqual(['changed_event', 5])
    })
  }

  test('seq', async () => {
    const dir = await ledgerOnDisk()
    tamper(dir, 'UPDATE event SET seq = 99 WHERE seq = 5')
    expect(await firstProblem(dir)).toEqual(['missing_event', 5])
  })
})

describe('REQ-LEDGER-15 rows that were moved are found', () => {
  test('a deleted row in the middle', async () => {
    const dir = await ledgerOnDisk()
    tamper(dir, 'DELETE FROM event WHERE seq = 4')
    expect(await firstProblem(dir)).toEqual(['missing_event', 4])
  })

  test('the deleted first row', async () => {
    const dir = await ledgerOnDisk()
    tamper(dir, 'DELETE FROM event WHERE seq = 1')
    expect(await firstProblem(dir)).toEqual(['missing_event', 1])
  })

  test('two swapped rows', async () => {
    const dir = await ledgerOnDisk()
    tamper(
      dir,
      'UPDATE event SET seq = 99 WHERE seq = 4; UPDATE event SET seq = 4 WHERE seq = 7; UPDATE event SET seq = 7 WHERE seq = 99',
    )
    expect(await firstProblem(dir)).toEqual(['changed_event', 4])
  })

  test('an inserted copy with the numbers of those after it moved up', async () => {
    const dir = await ledgerOnDisk()
    tamper(
      dir,
      `UPDATE event SET seq = -seq - 1 WHERE seq > 6; UPDATE event SET seq = -seq WHERE seq < 0;
       INSERT INTO event (seq, stream, version, type, at, actor, epoch, phase, contract, data, prev_hash, hash)
       SELECT 7, 'task:b', 77, type, at, actor, epoch, phase, contract, data, prev_hash, hash FROM event WHERE seq = 6`,
    )
    expect(await firstProblem(dir)).toEqual(['changed_event', 7])
  })

  test('an event added at the end without the key', async () => {
    const dir = await ledgerOnDisk()
    tamper(
      dir,
      `INSERT INTO event (seq, stream, version, type, at, actor, epoch, phase, contract, data, prev_hash, hash)
       SELECT 13, stream, version + 1, type, at, actor, epoch, phase, contract, data, hash, '${'a'.repeat(64)}'
       FROM event WHERE seq = 12`,
    )
    expect(await firstProblem(dir)).toEqual(['changed_event', 13])
    await expect(openSqliteStore({ dir })).rejects.toMatchObject({ code: 'tampered' })
  })
})

describe('REQ-LEDGER-16 a cut tail is found and the store does not open', () => {
  for (const cut of [1, 5, 12]) {
    test(`the last ${cut} of twelve events`, async () => {
      const dir = await ledgerOnDisk()
      tamper(dir, `DELETE FROM event WHERE seq > ${12 - cut}`)
      expect(await firstProblem(dir)).toEqual(['cut_tail', 13 - cut])
      await expect(openSqliteStore({ dir })).rejects.toMatchObject({
        code: 'tampered',
        message: expect.stringContaining('phaselock audit verify'),
      })
    })
  }

  test('also when the newer half of the head was destroyed with it', async () => {
    const dir = await ledgerOnDisk()
    const head = readFileSync(join(dir, 'ledger.head'))
    const counts = [0, 4_096].map((offset) => Number(head.toString('latin1', offset, offset + 100).split(' ')[3]))
    expect(counts.toSorted((a, b) => a - b)).toEqual([11, 12])
    head.fill(0, counts.indexOf(12) * 4_096, counts.indexOf(12) * 4_096 + 512)
    writeFileSync(join(dir, 'ledger.head'), head)
    rmSync(join(dir, 'checkpoints', '000000000012.json'))
    tamper(dir, 'DELETE FROM event WHERE seq = 12')
    expect((await verifyDirectory(dir)).problems.map(({ code }) => code)).toContain('head_invalid')
    await expect(openSqliteStore({ dir })).rejects.toMatchObject({
      code: 'tampered',
      message: expect.stringContaining('One half of ledger.head'),
    })
  })

  test('while a head torn by power loss, which leaves the database ahead, is accepted', async () => {
    const dir = await ledgerOnDisk()
    const head = readFileSync(join(dir, 'ledger.head'))
    const newer = head.toString('latin1', 0, 100).split(' ')[3] === '12' ? 0 : 4_096
    head.fill(0, newer + 20, newer + 512)
    writeFileSync(join(dir, 'ledger.head'), head)
    expect((await verifyDirectory(dir)).problems).toEqual([])
    await (await openSqliteStore({ dir })).close()
    expect((await verifyDirectory(dir)).problems).toEqual([])
  })
})

describe('REQ-LEDGER-17 a recomputed chain is found', () => {
  function recompute(database: Database, key: Buffer): void {
    const ends = new Map<string, string>()
    for (const row of database.prepare(`SELECT ${EVENT_COLUMNS} FROM event ORDER BY seq`).all()) {
      const prevHash = ends.get(String(row.stream)) ?? FIRST_PREV_HASH
      const columns = { ...row, dataText: row.data, prevHash } as unknown as Parameters<typeof computeEventHash>[1]
      const hash = computeEventHash(createSecretKey(key), columns)
      database.prepare('UPDATE event SET prev_hash = ?, hash = ? WHERE seq = ?').run(prevHash, hash, Number(row.seq))
      ends.set(String(row.stream), hash)
    }
  }

  test('with another key', async () => {
    const dir = await ledgerOnDisk()
    tamper(dir, (database) => recompute(database, randomBytes(32)))
    expect(await firstProblem(dir)).toEqual(['changed_event', 1])
  })

  test('with the stolen key, by the signed checkpoints', async () => {
    const dir = await ledgerOnDisk()
    tamper(dir, "UPDATE event SET actor = 'agent:eve' WHERE seq = 5")
    tamper(dir, (database) => recompute(database, readFileSync(join(dir, 'ledger.key'))))
    const codes = (await verifyDirectory(dir)).problems.map(({ code, seq }) => [code, seq])
    expect(codes).toContainEqual(['checkpoint_mismatch', 6])
  })

  test('with a new key and a head made with it, by the signed checkpoints', async () => {
    const dir = await ledgerOnDisk()
    const key = randomBytes(32)
    writeFileSync(join(dir, 'ledger.key'), key)
    tamper(dir, (database) => {
      recompute(database, key)
      const seal = createHmac('sha256', key).update('phaselock ledger key').digest('hex')
      database.prepare("UPDATE meta SET value = ? WHERE name = 'key_seal'").run(seal)
    })
    const codes = (await verifyDirectory(dir)).problems.map(({ code }) => code)
    expect(codes).toContain('head_invalid')
    await expect(openSqliteStore({ dir })).rejects.toMatchObject({ code: 'tampered' })
  })
})

describe('REQ-LEDGER-18 an older copy or a missing file beside the database is found', () => {
  async function grown(dir: string): Promise<void> {
    const store = await openSqliteStore({ dir })
    await store.append({ stream: 'task:a', expectedVersion: 4, events: [newEvent()] })
    await store.close()
  }

  test('an older database put back', async () => {
    const dir = await ledgerOnDisk()
    copyFileSync(join(dir, 'ledger.db'), join(dir, 'backup'))
    await grown(dir)
    for (const suffix of ['-wal', '-shm']) rmSync(join(dir, `ledger.db${suffix}`), { force: true })
    copyFileSync(join(dir, 'backup'), join(dir, 'ledger.db'))
    expect(await firstProblem(dir)).toEqual(['cut_tail', 13])
    await expect(openSqliteStore({ dir })).rejects.toMatchObject({ code: 'tampered' })
  })

  test('an older database put back together with its head', async () => {
    const dir = await ledgerOnDisk()
    cpSync(dir, `${dir}-old`, { recursive: true })
    await grown(dir)
    for (const suffix of ['-wal', '-shm']) rmSync(join(dir, `ledger.db${suffix}`), { force: true })
    for (const name of ['ledger.db', 'ledger.head']) copyFileSync(join(`${dir}-old`, name), join(dir, name))
    rmSync(`${dir}-old`, { recursive: true })
    expect(await firstProblem(dir)).toEqual(['older_copy', 13])
    await expect(openSqliteStore({ dir })).rejects.toMatchObject({ code: 'tampered' })
  })

  for (const [name, code] of [
    ['ledger.head', 'head_missing'],
    ['ledger.key', 'key_missing'],
    ['ledger.ed25519.pub', 'key_missing'],
    ['ledger.checkpoint', 'checkpoint_missing'],
    ['checkpoints/000000000006.json', 'checkpoint_missing'],
    ['checkpoints/000000000012.json', 'checkpoint_missing'],
    ['checkpoints', 'checkpoint_missing'],
  ] as const) {
    test(`${name} removed`, async () => {
      const dir = await ledgerOnDisk()
      rmSync(join(dir, name), { recursive: true })
      expect((await firstProblem(dir))[0]).toBe(code)
    })
  }

  test('a changed checkpoint', async () => {
    const dir = await ledgerOnDisk()
    const path = join(dir, 'checkpoints', '000000000006.json')
    writeFileSync(path, readFileSync(path, 'utf8').replace('"streams":3', '"streams":4'))
    expect(await firstProblem(dir)).toEqual(['checkpoint_invalid', 6])
  })

  test('a head written without the key', async () => {
    const dir = await ledgerOnDisk()
    const head = readFileSync(join(dir, 'ledger.head'), 'latin1')
    writeFileSync(join(dir, 'ledger.head'), head.replaceAll(' 12 ', ' 11 '), 'latin1')
    tamper(dir, 'DELETE FROM event WHERE seq = 12')
    expect((await verifyDirectory(dir)).ok).toBe(false)
    await expect(openSqliteStore({ dir })).rejects.toMatchObject({ code: 'tampered' })
  })

  test('a missing head stops the start', async () => {
    const dir = await ledgerOnDisk()
    rmSync(join(dir, 'ledger.head'))
    await expect(openSqliteStore({ dir })).rejects.toMatchObject({
      code: 'tampered',
      message: expect.stringContaining('ledger.head is missing'),
    })
    expect(readdirSync(dir)).not.toContain('ledger.head')
  })
})

describe('REQ-LEDGER-15 what is beside the events is checked too', () => {
  test('a changed blob', async () => {
    const dir = await ledgerOnDisk()
    tamper(dir, "UPDATE blob SET content = x'00'")
    expect(await firstProblem(dir)).toEqual(['changed_blob', null])
  })

  test('a stream taken out of the table of streams', async () => {
    const dir = await ledgerOnDisk()
    tamper(dir, "DELETE FROM stream WHERE name = 'task:b'")
    expect(await firstProblem(dir)).toEqual(['stream_mismatch', null])
  })

  test('a trigger that would change what is written', async () => {
    const dir = await ledgerOnDisk()
    tamper(dir, "CREATE TRIGGER t AFTER INSERT ON event BEGIN DELETE FROM event WHERE type = 'tool_denied'; END")
    expect(await firstProblem(dir)).toEqual(['schema_changed', null])
    await expect(openSqliteStore({ dir })).rejects.toMatchObject({ code: 'tampered' })
  })

  test('a flipped byte anywhere in the used part of the file', async () => {
    const dir = await ledgerOnDisk()
    const path = join(dir, 'ledger.db')
    const bytes = readFileSync(path)
    const at = bytes.indexOf('task:b 2')
    bytes[at] = 'T'.charCodeAt(0)
    writeFileSync(path, bytes)
    expect(await firstProblem(dir)).toEqual(['changed_event', 8])
  })
})
