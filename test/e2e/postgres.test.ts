import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPostgres, type PostgresServer, startPostgres } from '../store/postgres-server.js'
import { makePlace, type Place, type Served, serve } from './process.js'
import { makeRepository } from './projects.js'
import { implementation, testFiles, Walker } from './walker.js'

const TEST = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sum } from '../src/sum.js'

test('prices are summed up', () => assert.equal(sum([5, 7]), 12))
`

const bin = findPostgres()

describe.skipIf(bin === null)('a ledger in PostgreSQL (skipped where it is not installed)', () => {
  let postgres: PostgresServer
  let place: Place
  let server: Served
  const environment: NodeJS.ProcessEnv = { ORCHESTRATOR_JWT_SECRET: 'a secret of more than thirty-two bytes' }

  beforeAll(async () => {
    postgres = await startPostgres(bin ?? '')
    environment.PHASELOCK_STORE = await postgres.createDatabase()
    place = await makePlace()
    makeRepository(place.workspace, {
      'package.json': '{"name": "carts", "type": "module", "scripts": {"test": "node --test"}}\n',
    })
    server = await serve(place, 'tdd', environment)
  })
  afterAll(async () => {
    await server?.stop()
    postgres?.remove()
    place?.remove()
  })

  it('[REQ-POSTGRES-5] an honest task completes across kill -9 of the server and a crash of PostgreSQL', async () => {
    let agent = await Walker.claim(server, 'T1')
    await agent.plan()
    await agent.does('write_files', { files: [{ path: 'tests/sum.test.js', content: TEST }] })
    await server.kill()
    server = await serve(place, 'tdd', environment)
    agent = Walker.goOn(server, agent)
    await agent.enters('IMPL', testFiles('tests/sum.test.js'))
    postgres.crash()
    await expect.poll(async () => (await server.call('GET', '/tasks', server.operator)).status).toBe(200)
    const text = 'export const sum = (prices) => prices.reduce((all, price) => all + price, 0)\n'
    await agent.does('write_files', { files: [{ path: 'src/sum.js', content: text }] })
    await agent.enters('REVIEW', implementation('src/sum.js'))
    await agent.finish('Sum up prices')
    const { body } = await server.call('GET', '/audit/verify', server.operator)
    expect(body).toMatchObject({ ok: true, problems: [] })
  })

  it('[REQ-POSTGRES-5] while PostgreSQL is away calls are refused with 503, and then answered again', async () => {
    const added = await server.call('POST', '/tasks', server.operator, { title: 'Before', id: 'T2' })
    expect(added.status).toBe(201)
    postgres.stopNow()
    const refused = await server.call('POST', '/tasks', server.operator, { title: 'Meanwhile', id: 'T3' })
    expect(refused).toMatchObject({ status: 503, body: { code: 'store_unavailable' } })
    expect((await fetch(`http://127.0.0.1:${place.port}/ready`)).status).toBe(503)
    postgres.start()
    await expect
      .poll(async () => (await server.call('POST', '/tasks', server.operator, { title: 'After', id: 'T4' })).status)
      .toBe(201)
    expect((await server.call('GET', '/tasks/T3', server.operator)).status).toBe(404)
  })
})
