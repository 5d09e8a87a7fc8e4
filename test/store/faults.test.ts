import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, type TestContext, test } from 'vitest'
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite-store.js'
import { StoreUnavailable } from '../../src/store/store.js'
import { verifyDirectory } from '../../src/store/verify/verify-ledger.js'
import { newEvent, temporaryDirectory } from './events.js'

async function opened(dir: string): Promise<SqliteStore> {
  const store = await openSqliteStore({ dir })
  onTestFinished(() => store.close())
  return store
}

const step = (expectedVersion: number, text = '') => ({
  stream: 'task:a',
  expectedVersion,
  events: [newEvent('step', { text })],
})

/** A small file system of its own, so that it can be full. */
function smallDisk(context: TestContext): string {
  const dir = temporaryDirectory()
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', dir], { stdio: 'ignore' })
  } catch {
    context.skip('needs the right to mount a small file system')
  }
  onTestFinished(() => {
    execFileSync('umount', ['-l', dir])
  })
  return dir
}

test('REQ-LEDGER-11 on a full disk appends are refused whole, and go on when there is room again', async (context) => {
  const dir = smallDisk(context)
  const store = await opened(join(dir, 'state'))
  expect((await store.append(step(0))).ok).toBe(true)
  const filler = join(dir, 'filler')
  fill(filler)
  const big = 'x'.repeat(200_000)
  const refused = await Promise.allSettled(
    Array.from({ length: 8 }, (_, index) => store.append({ ...step(0, big), stream: `task:${index}` })),
  )
  expect(refused.map((result) => result.status === 'rejected' && result.reason.name)).toEqual(
    Array(8).fill('StoreUnavailable'),
  )
  expect(await store.lastSeq()).toBe(1)
  rmSync(filler)
  expect(await store.append(step(1))).toMatchObject({ ok: true, events: [{ seq: 2 }] })
  expect((await store.append({ ...step(0), stream: 'task:3' })).ok).toBe(true)
  expect((await store.verify()).problems).toEqual([])
})

function fill(path: string): void {
  for (let size = 4 * 1024 * 1024; size >= 512; size /= 2) {
    try {
      writeFileSync(path, Buffer.alloc(size), { flag: 'a' })
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC')
    }
  }
}

test('REQ-LEDGER-11 an event whose head cannot be written is not acknowledged, and the head is repaired first', async () => {
  const dir = temporaryDirectory()
  const store = await opened(dir)
  expect((await store.append(step(0))).ok).toBe(true)
  const head = join(dir, 'ledger.head')
  renameSync(head, join(dir, 'kept'))
  mkdirSync(head)
  await expect(store.append(step(1))).rejects.toMatchObject({ name: 'StoreUnavailable' })
  await expect(store.append(step(2))).rejects.toMatchObject({ name: 'StoreUnavailable' })
  rmSync(head, { recursive: true })
  renameSync(join(dir, 'kept'), head)
  expect(await store.append(step(1))).toEqual({ ok: false, reason: 'version_conflict', version: 2 })
  expect((await verifyDirectory(dir)).problems).toEqual([])
  expect(await store.append(step(2))).toMatchObject({ ok: true, events: [{ seq: 3 }] })
  await store.close()
  await (await openSqliteStore({ dir })).close()
  expect((await verifyDirectory(dir)).problems).toEqual([])
})

test.each(['ledger.db', 'ledger.db-wal'])(
  'REQ-LEDGER-11 nothing is acknowledged once %s was removed while the store is open',
  async (name) => {
    const dir = temporaryDirectory()
    const store = await opened(dir)
    expect((await store.append(step(0))).ok).toBe(true)
    rmSync(join(dir, name))
    await expect(store.append(step(1))).rejects.toThrow(
      name === 'ledger.db' ? /ledger.db was removed/ : /removed|gone|not in/,
    )
    await expect(store.append(step(1))).rejects.toMatchObject({ name: 'StoreUnavailable' })
  },
)

test('REQ-LEDGER-11 appends go on when a file that was moved away is put back', async () => {
  const dir = temporaryDirectory()
  const store = await opened(dir)
  expect((await store.append(step(0))).ok).toBe(true)
  renameSync(join(dir, 'ledger.db'), join(dir, 'kept'))
  await expect(store.append(step(1))).rejects.toMatchObject({ name: 'StoreUnavailable' })
  renameSync(join(dir, 'kept'), join(dir, 'ledger.db'))
  const again = await store.append(step(1))
  expect(again.ok ? 'appended' : again.reason).toMatch(/appended|version_conflict/)
  expect((await store.append({ ...step(0), stream: 'task:b' })).ok).toBe(true)
  expect((await store.verify()).problems).toEqual([])
})

test('REQ-LEDGER-11 a head that was removed or replaced by a link while the store is open is put right', async () => {
  const dir = temporaryDirectory()
  const store = await opened(dir)
  const head = join(dir, 'ledger.head')
  await store.append(step(0))
  rmSync(head)
  await expect(store.append(step(1))).rejects.toMatchObject({ name: 'StoreUnavailable' })
  expect((await store.append(step(2))).ok).toBe(true)
  rmSync(head)
  symlinkSync('/dev/null', head)
  await expect(store.append(step(3))).rejects.toMatchObject({ name: 'StoreUnavailable' })
  expect((await store.append(step(4))).ok).toBe(true)
  expect((await store.verify()).problems).toEqual([])
})

test('REQ-LEDGER-11 a ledger that was deleted takes no appends, and no empty one is made in its place', async () => {
  const dir = join(temporaryDirectory(), 'state')
  const store = await opened(dir)
  expect((await store.append(step(0))).ok).toBe(true)
  rmSync(dir, { recursive: true })
  await expect(store.append(step(1))).rejects.toThrow(StoreUnavailable)
  // Something else of the server makes the folder again.
  mkdirSync(dir)
  for (const _ of [1, 2]) await expect(store.append(step(1))).rejects.toThrow(StoreUnavailable)
  expect(existsSync(join(dir, 'ledger.db'))).toBe(false)
})

test('REQ-LEDGER-2 an append that the database does not take fails alone', async () => {
  const store = await opened(temporaryDirectory())
  let deep: object = {}
  for (let level = 0; level < 3_000; level += 1) deep = { deep }
  const results = await Promise.allSettled([
    store.append({ ...step(0), stream: 'task:before' }),
    store.append({ stream: 'task:deep', expectedVersion: 0, events: [newEvent('step', { deep: deep as never })] }),
    store.append({ ...step(0), stream: 'task:after' }),
  ])
  expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(await store.lastSeq()).toBe(2)
  expect((await store.verify()).problems).toEqual([])
})
