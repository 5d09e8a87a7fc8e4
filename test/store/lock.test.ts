import { once } from 'node:events'
import { expect, test } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite-store.js'
import { temporaryDirectory } from './events.js'
import { runProgram } from './ledger-on-disk.js'

test('REQ-LEDGER-14 a second store on the same directory is refused in one process', async () => {
  const dir = temporaryDirectory()
  const store = await openSqliteStore({ dir })
  await expect(openSqliteStore({ dir })).rejects.toMatchObject({ name: 'StoreRefused', code: 'locked' })
  await store.close()
  await (await openSqliteStore({ dir })).close()
})

test('REQ-LEDGER-14 a second server is refused with the pid of the first, and kill -9 frees the directory', async () => {
  const dir = temporaryDirectory()
  const { child, lines, ended } = runProgram(
    dir,
    `const store = await openSqliteStore({ dir }); console.log('open'); setInterval(() => store, 1000)`,
  )
  await once(lines, 'line')
  await expect(openSqliteStore({ dir })).rejects.toMatchObject({
    code: 'locked',
    message: expect.stringContaining(`pid ${child.pid}`),
  })
  child.kill('SIGKILL')
  await ended
  await (await openSqliteStore({ dir })).close()
})
