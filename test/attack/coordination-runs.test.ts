import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { begin, type Status } from '../coordination/council.js'
import { type Running, start } from '../http/harness.js'

let server: Running
afterEach(() => server.stop())

const AGENTS = { agents: [{ id: 'a', kind: 'remote' }] }
const fileOf = (id: string): string => join(server.stateDir, 'runs', id, 'status.json')
const cancel = (id: string) => server.call('POST', `/coordinations/${id}/cancel`, server.operator, { reason: 'enough' })
const said = (id: string): Status => JSON.parse(readFileSync(fileOf(id), 'utf8')) as Status

describe('the status of a coordination', () => {
  it('[REQ-BREAK-2] that says less than the ledger is written again by the next start, also of a run that is over', async () => {
    server = await start()
    const { id } = await begin(server, AGENTS)
    const { id: lost } = await begin(server, AGENTS)
    await expect.poll(() => existsSync(fileOf(id))).toBe(true)
    const open = readFileSync(fileOf(id))
    await cancel(id)
    await cancel(lost)
    await server.app.runFiles.flush()
    // As a server leaves it that is killed before it wrote what was recorded.
    writeFileSync(fileOf(id), open)
    rmSync(join(server.stateDir, 'runs', lost), { recursive: true })
    server = await server.restart()
    await expect.poll(() => said(id)).toMatchObject({ finish_reason: 'cancelled', is_complete: true })
    await expect.poll(() => existsSync(fileOf(lost)) && said(lost)).toMatchObject({ finish_reason: 'cancelled' })
  })

  it('[REQ-BREAK-3] is by default that of the newest run, not of one that was never begun', async () => {
    server = await start()
    const { id } = await begin(server, AGENTS)
    // As a server leaves it that is killed between the two.
    await server.app.ledger.record({ type: 'coordination_opened', id: 'coord-lost' }, { now: Date.now(), actor: 'x' })
    for (let times = 0; times < 2; times += 1) {
      const newest = await server.call('GET', '/status', server.operator)
      expect(newest).toMatchObject({ status: 200, body: { meta: { session_id: id } } })
      server = await server.restart()
    }
  })
})

describe('an id', () => {
  it('[REQ-BREAK-4] is that of a task or of a coordination, never of both', async () => {
    server = await start()
    const { id } = await begin(server, AGENTS)
    const taken = await server.call('POST', '/tasks', server.operator, { title: 'The same', id })
    expect(taken).toMatchObject({ status: 409, body: { code: 'conflict' } })
    await server.addTask({ id: 'consensus-taken' })
    const council = { agents: [{ id: 'a', kind: 'remote' as const }], tools: [] }
    const { options } = (await server.app.coordinations.read(id)) ?? {}
    if (options === undefined) throw new Error('there is no run')
    const by = { actor: 'system', once: undefined }
    const begun = await server.app.coordinations.start(
      { question: 'Which?', council, options, id: 'consensus-taken' },
      by,
    )
    expect(begun).toMatchObject({ ok: false, problem: { code: 'conflict' } })
  })
})
