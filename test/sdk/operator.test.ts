import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ApiError,
  InvalidOptions,
  OperatorClient,
  PhaselockError,
  Unreachable,
} from '../../sdk/typescript/src/index.js'
import { type Running, start } from '../http/harness.js'

let server: Running

beforeAll(async () => {
  server = await start()
})
afterAll(async () => {
  expect(server.faults).toEqual([])
  await server.stop()
})

const operator = (more: object = {}): OperatorClient =>
  new OperatorClient({ url: server.url, token: server.operator, ...more })

describe('the client for operators', () => {
  it('[REQ-SDK-26] adds, lists, shows and ends tasks, whatever their ids hold', async () => {
    const client = operator()
    const added = await client.addTask({ title: 'One', id: 'a.b-c_1' })
    expect(added).toMatchObject({ id: 'a.b-c_1', status: 'queued', agent_id: null, pending_approval: null })
    expect((await client.tasks({ status: 'queued', limit: 5 })).tasks.map(({ id }) => id)).toContain('a.b-c_1')
    const { rules, next_step, contract } = await client.task('a.b-c_1')
    expect(rules).toEqual({ open: null, acknowledged: [], unavailable: [] })
    expect(typeof next_step).toBe('string')
    expect((await client.contract(contract.hash)).contract.start_node).toBe('PLAN')
    expect((await client.timeline('a.b-c_1', { after: 0, limit: 10 })).events[0]?.type).toBe('task_created')
    expect((await client.cancelTask('a.b-c_1', { reason: 'done' })).status).toBe('cancelled')
    await expect(client.task('../operators')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('[REQ-SDK-26] answers with what the server has of agents, operators, the ledger and itself', async () => {
    const client = operator()
    const { agent_token } = await client.addAgent({ agent_id: 'ada' })
    await client.addTask({ title: 'Two', id: 'two' })
    const claimed = await operator({ token: agent_token }).claim({ agent_id: 'ada', task_id: 'two' })
    expect(claimed.task.agent_id).toBe('ada')
    expect((await client.agents()).agents.find((one) => one.agent_id === 'ada')).toMatchObject({ task_id: 'two' })
    expect((await client.overview()).agents).toMatchObject([{ agent_id: 'ada', task_id: 'two' }])
    expect((await client.activity()).tasks.map(({ id }) => id)).toContain('two')
    expect(await client.metrics('two')).toMatchObject({ task: { id: 'two' }, totals: { visits: 1 } })
    expect((await client.report('two')).run).toMatchObject({ kind: 'task', id: 'two' })
    expect((await client.health()).enforcement_mode).toBe('strict')
    expect((await client.ledgerStats()).by_type).toMatchObject({ task_claimed: 1 })
    expect(await client.verifyLedger()).toMatchObject({ ok: true, problems: [] })
  })

  it('[REQ-SDK-26] follows events from where it is told to', async () => {
    const client = operator()
    const [newest] = (await client.recentEvents(1)).events
    const frames = await client.follow(String((newest?.seq ?? 0) - 1))
    const first = await frames.next()
    expect(first.value).toMatchObject({ id: String(newest?.seq), event: newest?.type })
    await frames.return(undefined)
  })

  it('[REQ-SDK-26] refusals have their code, and are what the caller makes of them', async () => {
    await expect(operator().task('nope')).rejects.toBeInstanceOf(ApiError)
    await expect(operator({ token: null }).tasks({})).rejects.toMatchObject({ code: 'token_missing' })
    const fail = (error: PhaselockError): Error => new Error(`mine: ${(error as ApiError).code}`)
    await expect(operator({ fail }).task('nope')).rejects.toThrow('mine: not_found')
    expect(() => operator({ token: 'a b' })).toThrow(InvalidOptions)
    const gone = operator({ url: 'http://127.0.0.1:59999' }).health()
    await expect(gone).rejects.toBeInstanceOf(Unreachable)
    await expect(gone).rejects.toMatchObject({ attempts: 1, cause: { cause: { code: 'ECONNREFUSED' } } })
  })

  it('[REQ-SDK-26] sends nothing before it may, each change once, and ends with its signal', async () => {
    const seen: (string | undefined)[] = []
    const silent = createServer((request) => {
      seen.push(request.headers['idempotency-key'] as string | undefined)
    })
    await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done))
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
    const before = () => Promise.reject(new Error('not this one'))
    await expect(operator({ url, before }).addTask({ title: 'x' })).rejects.toThrow('not this one')
    expect(seen).toEqual([])
    await expect(operator({ url, callMsMax: 100 }).addTask({ title: 'x' })).rejects.toMatchObject({
      reason: 'no answer in time',
    })
    const stop = new AbortController()
    const waiting = operator({ url, signal: stop.signal }).addTask({ title: 'x' })
    setTimeout(() => stop.abort(), 100)
    await expect(waiting).rejects.toBeInstanceOf(PhaselockError)
    silent.closeAllConnections()
    silent.close()
    expect(seen).toHaveLength(2)
    expect(new Set(seen).size).toBe(2)
    expect(seen).not.toContain(undefined)
  })
})
