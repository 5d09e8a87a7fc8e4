import { mkdirSync, renameSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { start } from './harness.js'

it('[REQ-READY-1] a store that takes no appends is not ready, until it does again', async () => {
  const server = await start()
  const ask = async () => {
    const answer = await fetch(`${server.url}/ready`)
    return [answer.status, await answer.json()]
  }
  const readMetrics = async () => (await fetch(`${server.url}/metrics`)).text()
  try {
    await server.addTask()
    expect(await ask()).toEqual([200, { status: 'ready' }])
    const before = await readMetrics()
    expect(before).toMatch(/^phaselock_store_append_seconds_count [1-9]/m)
    expect(before).toMatch(/^phaselock_store_append_queue 0$/m)
    expect(before).toMatch(/^phaselock_store_append_failures_total 0$/m)

    const head = join(server.stateDir, 'ledger.head')
    renameSync(head, `${head}.aside`)
    mkdirSync(head)
    expect((await server.call('POST', '/tasks', server.operator, { title: 'one' })).status).toBe(503)
    expect(await ask()).toEqual([503, { status: 'store_unavailable' }])
    expect(await ask()).toEqual([503, { status: 'store_unavailable' }])
    expect(await readMetrics()).toMatch(/^phaselock_store_append_failures_total [1-9]/m)

    rmdirSync(head)
    renameSync(`${head}.aside`, head)
    await expect.poll(ask, { interval: 200 }).toEqual([200, { status: 'ready' }])
    expect((await server.call('POST', '/tasks', server.operator, { title: 'two' })).status).toBe(201)
  } finally {
    await server.stop()
  }
}, 60_000)

it('[REQ-GONE-5] a refusal that cannot be recorded is answered', async () => {
  const server = await start()
  try {
    const ask = () => fetch(`${server.url}/api/v1/tasks`, { headers: { origin: 'http://evil.example' } })
    expect((await ask()).status).toBe(403)
    const head = join(server.stateDir, 'ledger.head')
    renameSync(head, `${head}.aside`)
    mkdirSync(head)
    const refused = await ask()
    expect([refused.status, await refused.json()]).toMatchObject([503, { code: 'store_unavailable' }])
    rmdirSync(head)
    renameSync(`${head}.aside`, head)
  } finally {
    await server.stop()
  }
}, 60_000)
