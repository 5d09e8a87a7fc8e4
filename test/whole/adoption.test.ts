import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { run, SECRET } from '../e2e/nodes.js'
import { findPostgres, type PostgresServer, startPostgres } from '../store/postgres-server.js'
import { begin, CONTRACT, countEvents, findUnexplained, OPERATIONS } from './operations.js'
import { EndingServer } from './walk.js'

const NOTHING = 'Nothing in the work tree changed without an allowed call.'
const WRITE = OPERATIONS.find(({ name }) => name.includes('several files'))
const bin = findPostgres()

describe.skipIf(bin === null)('a call whose node was killed (skipped where PostgreSQL is not installed)', () => {
  let postgres: PostgresServer
  let servers: readonly EndingServer[] = []
  let disk = ''
  beforeAll(async () => {
    postgres = await startPostgres(bin ?? '')
  })
  afterAll(() => postgres?.remove())
  afterEach(async () => {
    await Promise.all(servers.map((server) => server.remove()))
    rmSync(disk, { recursive: true, force: true })
  })

  const listNodes = async (by: EndingServer): Promise<readonly { id: string; alive: boolean }[]> => {
    const { body } = await by.call({ method: 'GET', path: '/nodes', token: by.operator })
    return body.nodes as readonly { id: string; alive: boolean }[]
  }

  it.each([
    { when: 'half-way', within: 'swapIn', step: 2, recorded: 0 },
    { when: 'after its event', within: 'removeKept', step: 1, recorded: 1 },
  ])('[REQ-WHOLE-12] is settled by the node that adopts it: killed $when', { timeout: 180_000 }, async (given) => {
    if (WRITE === undefined) throw new Error('there is no such call')
    disk = mkdtempSync(join(tmpdir(), 'phaselock-disk-'))
    const store = await postgres.createDatabase()
    const environment = { ...SECRET, PHASELOCK_STORE: store, PHASELOCK_SHARED_TREES: join(disk, 'kept') }
    const first = new EndingServer(CONTRACT, { environment })
    const second = new EndingServer(CONTRACT, { environment })
    servers = [first, second]
    const stage = await begin(first)
    expect(await run(['nodes', 'prepare', second.stateDir, '--state-dir', first.stateDir], {})).toMatchObject({
      code: 0,
    })
    await second.start()
    await WRITE.prepare(stage, 1)
    const before = await countEvents(stage, WRITE.event)
    const call = { ...WRITE.call(stage, 1), key: 'once' }
    first.endWithin(given.within, given.step)
    expect(await first.ask(call)).toBe(null)
    await first.waitForEnd()

    const id = readFileSync(join(first.stateDir, 'node.id'), 'utf8').trim()
    const isAlive = async () => (await listNodes(second)).find((node) => node.id === id)?.alive
    await expect.poll(isAlive, { timeout: 60_000, interval: 200 }).toBe(false)
    const adopt = { path: `/nodes/${id}/adopt`, token: second.operator, body: { reason: 'killed' } }
    expect(await second.call(adopt)).toMatchObject({ status: 200 })

    const there = { ...stage, server: second }
    expect((await countEvents(there, WRITE.event)) - before).toBe(given.recorded)
    expect(await second.call(call)).toMatchObject({ status: 200 })
    expect((await countEvents(there, WRITE.event)) - before).toBe(1)
    expect(await findUnexplained(there)).toBe(NOTHING)
    expect(WRITE.look(stage, 1)).toBe(WRITE.expected(stage, 1))
  })
})
