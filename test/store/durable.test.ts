import { copyFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/store/database.js'
import { CLAIMABLE_SQL } from '../../src/store/read/point-reads.js'
import { openSqliteStore } from '../../src/store/sqlite-store.js'
import { verifyDirectory } from '../../src/store/verify/verify-ledger.js'
import { Writer } from '../../src/store/write/writer.js'
import { events, newEvent, newTask, temporaryDirectory } from './events.js'
import { ledgerOnDisk, runProgram } from './ledger-on-disk.js'

test('REQ-LEDGER-9 what was acknowledged is there after the store is opened again', async () => {
  const dir = temporaryDirectory()
  const first = await openSqliteStore({ dir })
  const stored = events(
    await first.append({ stream: 'task:a', expectedVersion: 0, events: [newEvent()], task: newTask('a') }),
  )
  await first.close()
  const second = await openSqliteStore({ dir })
  onTestFinished(() => second.close())
  expect(await second.readStream('task:a', 0, 9)).toEqual(stored)
  expect(await second.findTask('a')).toEqual(newTask('a'))
  const [next] = events(await second.append({ stream: 'task:a', expectedVersion: 1, events: [newEvent()] }))
  expect(next).toMatchObject({ seq: 2, version: 2, prevHash: stored[0]?.hash })
  expect((await second.verify()).problems).toEqual([])
})

test('REQ-LEDGER-9 after kill -9 under load every acknowledged event is there and the chain is whole', async () => {
  const dir = temporaryDirectory()
  for (let round = 0; round < 3; round += 1) {
    const { child, lines, ended } = runProgram(
      dir,
      `const store = await openSqliteStore({ dir, checkpointEvery: 50 });
       for (let w = 0; w < 16; w += 1) (async () => {
         const stream = 'task:r${round}w' + w;
         for (let version = 0; ; version += 1) {
           const result = await store.append({ stream, expectedVersion: version, events: [event({ version })] });
           process.stdout.write(JSON.stringify([stream, version + 1, result.events[0].hash]) + '\\n');
         }
       })()`,
    )
    const acknowledged: [string, number, string][] = []
    for await (const line of lines) {
      if (line.endsWith('"]')) acknowledged.push(JSON.parse(line))
      if (acknowledged.length === 400 + round * 37) child.kill('SIGKILL')
    }
    await ended
    const store = await openSqliteStore({ dir })
    for (const [stream, version, hash] of acknowledged) {
      expect((await store.readStream(stream, version - 1, 1))[0]?.hash).toBe(hash)
    }
    expect((await store.verify()).problems).toEqual([])
    await store.close()
  }
})

test('REQ-LEDGER-10 sixty-four appends that arrive together share a few transactions', async () => {
  const store = await openSqliteStore({ dir: temporaryDirectory() })
  onTestFinished(() => store.close())
  const before = store.batches
  await Promise.all(
    Array.from({ length: 64 }, (_, index) =>
      store.append({ stream: `task:${index}`, expectedVersion: 0, events: [newEvent()] }),
    ),
  )
  expect(await store.lastSeq()).toBe(64)
  expect(store.batches - before).toBeLessThanOrEqual(4)
})

test('REQ-LEDGER-10 more than ten thousand waiting appends are refused, and the others are written', async () => {
  const store = await openSqliteStore({ dir: temporaryDirectory() })
  onTestFinished(() => store.close())
  const results = await Promise.allSettled(
    Array.from({ length: 10_050 }, (_, index) =>
      store.append({ stream: `task:${index}`, expectedVersion: 0, events: [newEvent()] }),
    ),
  )
  const refused = results.filter((result) => result.status === 'rejected')
  expect(refused).toHaveLength(50)
  expect(refused[0]?.reason).toMatchObject({ name: 'StoreUnavailable' })
  expect(await store.lastSeq()).toBe(10_000)
})

test('REQ-LEDGER-11 when the writer thread dies its appends fail and the next ones start it again', async () => {
  const dir = temporaryDirectory()
  await (await openSqliteStore({ dir })).close()
  const writer = new Writer({ dir, now: Date.now, onAppended: () => undefined })
  await writer.start()
  onTestFinished(() => writer.close())
  await new Promise((resolve) => setTimeout(resolve, 300))
  const append = (version: number) =>
    writer.append({ stream: 'task:a', expectedVersion: version, events: [newEvent()] })
  expect((await append(0)).ok).toBe(true)
  const lost = expect(Promise.all([append(1), writer.kill()])).rejects.toMatchObject({ name: 'StoreUnavailable' })
  await lost
  const result = await append(1)
  const version = result.ok ? 2 : result.reason === 'version_conflict' ? result.version : 0
  expect(version).toBe(2)
  await new Promise((resolve) => setTimeout(resolve, 300))
  await writer.kill()
  const together = await Promise.allSettled([
    append(2),
    new Promise((resolve) => setTimeout(resolve, 20)).then(() => append(3)),
  ])
  expect(together.map((each) => each.status)).toEqual(['fulfilled', 'fulfilled'])
  expect((await verifyDirectory(dir)).problems).toEqual([])
})

test('REQ-LEDGER-12 checkpoints are written on request, every so many events and at close', async () => {
  const dir = temporaryDirectory()
  const store = await openSqliteStore({ dir, checkpointEvery: 5 })
  const files = () => readdirSync(join(dir, 'checkpoints')).toSorted()
  const append = (version: number) => store.append({ stream: 'task:a', expectedVersion: version, events: [newEvent()] })
  await append(0)
  await Promise.all([store.writeSeal(), store.writeSeal(), store.writeSeal()])
  expect(files()).toEqual(['000000000001.json'])
  for (let version = 1; version < 7; version += 1) await append(version)
  await expect.poll(files).toHaveLength(2)
  await append(7)
  await store.close()
  expect(files().at(-1)).toBe('000000000008.json')
  expect(await verifyDirectory(dir)).toMatchObject({ ok: true, checkpoints: files().length })
})

test('REQ-LEDGER-12 a checkpoint that a crash left without its pointer is taken up by the next one', async () => {
  const dir = await ledgerOnDisk()
  copyFileSync(join(dir, 'ledger.checkpoint'), join(dir, 'older'))
  const store = await openSqliteStore({ dir })
  await store.append({ stream: 'task:a', expectedVersion: 4, events: [newEvent()] })
  await store.close()
  copyFileSync(join(dir, 'older'), join(dir, 'ledger.checkpoint'))
  const again = await openSqliteStore({ dir })
  await again.append({ stream: 'task:a', expectedVersion: 5, events: [newEvent()] })
  await again.close()
  expect(await verifyDirectory(dir)).toMatchObject({ ok: true, checkpoints: 4 })
})

test('REQ-LEDGER-13 the directory and its files are for their owner only', async () => {
  const dir = await ledgerOnDisk()
  expect(statSync(dir).mode & 0o777).toBe(0o700)
  for (const name of readdirSync(dir)) {
    if (name !== 'checkpoints') expect([name, statSync(join(dir, name)).mode & 0o777]).toEqual([name, 0o600])
  }
  expect(statSync(join(dir, 'checkpoints')).mode & 0o777).toBe(0o700)
})

test('REQ-LEDGER-4 the claim reads its index in order, however many tasks are blocked or finished', async () => {
  const dir = await ledgerOnDisk()
  const database = openDatabase(join(dir, 'ledger.db'), { readOnly: true })
  const plan = database.prepare(`EXPLAIN QUERY PLAN ${CLAIMABLE_SQL}`).all(10, 0)
  database.close()
  expect(plan.map((row) => row.detail)).toEqual(['SCAN task USING INDEX task_claimable'])
})
