import { createHmac } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { Webhooks } from '../../src/app/webhooks/webhooks.js'
import { loadContractText } from '../../src/contract/load/load-contract.js'
import { type Running, start } from '../http/harness.js'
import { until } from '../mcp/clients.js'
import { openReceiver, type Receiver } from './receiver.js'

const SECRET = 'a-secret-of-the-receiver'
const ends: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function receiver(): Promise<Receiver> {
  const one = await openReceiver()
  ends.push(() => one.close())
  return one
}

function contract(url: string, more = ''): string {
  return `name: told
version: "1"
phases:
  - {id: A, allowed_tools: [], gates: [{id: g, type: approval, approvers: [human]}]}
  - {id: B}
transitions:
  - {from: A, to: B, gate: g}
webhooks: [{url: "${url}", events: [approval_requested, task_cancelled]${more}}]
`
}

async function serve(text: string, environment: NodeJS.ProcessEnv = {}): Promise<Running> {
  const server = await start({ contract: text, environment })
  ends.push(() => server.stop())
  return server
}

async function cancel(server: Running, title = 'A task'): Promise<string> {
  const id = await server.addTask({ title })
  const cancelled = await server.call('POST', `/tasks/${id}/cancel`, server.operator, { reason: 'enough' })
  expect(cancelled.status, JSON.stringify(cancelled.body)).toBe(200)
  return id
}

describe('contracts that name addresses', () => {
  it.each([
    ['an event that does not exist', 'url: "http://x", events: [task_parkd]', "Did you mean 'task_parked'?"],
    ['no address', 'url: "ftp://x", events: [task_parked]', 'not an http(s) address'],
    ['a password', 'url: "http://me:pass@x", events: [task_parked]', 'holds a user or a password'],
  ])('[REQ-HOOKOUT-1] are refused with %s', async (_name, hook, said) => {
    const source = `name: bad\nversion: "1"\nphases:\n  - {id: A}\nwebhooks: [{${hook}}]\n`
    const loaded = await loadContractText(source, { file: 'bad.yaml', baseDir: null })
    expect(loaded.ok).toBe(false)
    const text = JSON.stringify(loaded)
    expect(text).toContain(said)
    expect(text).not.toContain('me:pass')
  })
})

describe('notices', () => {
  it('[REQ-HOOKOUT-2] come for the events that were named, in their order, and for no others', async () => {
    const hook = await receiver()
    const server = await serve(contract(hook.url))
    const first = await cancel(server, 'one')
    const second = await cancel(server, 'two')
    await until(() => hook.got.length >= 2)
    expect(hook.got.map(({ json }) => [json.type, json.task_id])).toEqual([
      ['task_cancelled', first],
      ['task_cancelled', second],
    ])
    expect(hook.got[0]?.headers).toMatchObject({
      'x-phaselock-event': 'task_cancelled',
      'x-phaselock-delivery': String(hook.got[0]?.json.seq),
    })
    expect(hook.got[0]?.headers['x-phaselock-signature']).toBeUndefined()
  })

  it('[REQ-HOOKOUT-3] are signed with the secret, which is in no notice and not in the ledger', async () => {
    const hook = await receiver()
    const server = await serve(contract(hook.url, ', secret_env_var: RECEIVER_KEY'), { RECEIVER_KEY: SECRET })
    await cancel(server)
    await until(() => hook.got.length === 1)
    const [got] = hook.got
    const signed = `${String(got?.headers['x-phaselock-timestamp'])}.${got?.body ?? ''}`
    expect(got?.headers['x-phaselock-signature']).toBe(
      `v1=${createHmac('sha256', SECRET).update(signed).digest('hex')}`,
    )
    const ledger = JSON.stringify(await server.app.ledger.store.readAll(0, 1000))
    expect(ledger).not.toContain(SECRET)
    expect(got?.body).not.toContain(SECRET)
  })

  it('[REQ-HOOKOUT-3] without the variable nothing is sent unsigned, and nothing is lost', async () => {
    const hook = await receiver()
    const text = contract(hook.url, ', secret_env_var: RECEIVER_KEY')
    const server = await start({ contract: text })
    const id = await cancel(server)
    await until(async () => (await failures(server)).length === 1)
    expect((await failures(server))[0]).toMatchObject({ seq: null })
    expect(hook.got).toEqual([])
    const dir = server.stateDir.replace(/\/state$/, '')
    await server.app.close()
    const again = await start({ contract: text, dir, environment: { RECEIVER_KEY: SECRET } })
    ends.push(() => again.stop())
    await until(() => hook.got.length === 1)
    expect(hook.got[0]?.json.task_id).toBe(id)
  })

  it('[REQ-HOOKOUT-4] are sent again until they are taken; a redirect is not followed', async () => {
    const hook = await receiver()
    hook.answers.push(500, 302)
    const server = await serve(contract(hook.url))
    const first = await cancel(server, 'one')
    const second = await cancel(server, 'two')
    await until(() => hook.got.length >= 4, 60_000)
    expect(hook.got.map(({ json }) => json.task_id)).toEqual([first, first, first, second])
    const deliveries = hook.got.map(({ headers }) => headers['x-phaselock-delivery'])
    expect(new Set(deliveries).size).toBe(2)
  })

  it('[REQ-HOOKOUT-4] an address that takes nothing is given up after its attempts, and the next event follows', async () => {
    const hook = await receiver()
    const server = await serve(contract('http://127.0.0.1:1/'))
    const quick = new Webhooks({ ...server.app, stateDir: `${server.stateDir}/quick` }, {}, () => undefined, {
      attemptsMax: 2,
      backoffMs: 5,
    })
    await quick.start()
    ends.push(() => quick.close())
    await cancel(server)
    await until(async () => (await failures(server)).length === 1)
    const [failure] = await failures(server)
    expect(failure).toMatchObject({
      origin: 'http://127.0.0.1:1',
      reason: '2 attempts; the last: it cannot be reached',
    })
    expect(hook.got).toEqual([])
  })

  it('[REQ-HOOKOUT-2] an address beyond the hundredth gets none, and the ledger says so once', async () => {
    const hooks = Array.from({ length: 102 }, (_, at) => `{url: "http://127.0.0.1:1/${at}", events: [task_cancelled]}`)
    const text = `name: many\nversion: "1"\nphases:\n  - {id: A}\nwebhooks: [${hooks.join(', ')}]\n`
    const server = await serve(text)
    await cancel(server, 'one')
    await until(async () => (await failures(server)).length > 0)
    await cancel(server, 'two')
    const said = (await failures(server)).filter(({ reason }) => String(reason).startsWith('there are 100 addresses'))
    expect(said).toHaveLength(1)
  })

  it('[REQ-HOOKOUT-5] none is left out when the server stops before it was taken', async () => {
    const hook = await openReceiver()
    const port = Number(new URL(hook.url).port)
    await hook.close()
    const server = await start({ contract: contract(hook.url) })
    const id = await cancel(server)
    const dir = server.stateDir.replace(/\/state$/, '')
    await server.app.close()
    const back = await openReceiver(port)
    ends.push(() => back.close())
    const again = await start({ contract: contract(hook.url), dir })
    ends.push(() => again.stop())
    await until(() => back.got.length === 1, 60_000)
    expect(back.got[0]?.json.task_id).toBe(id)
  })

  it('[REQ-HOOKOUT-5] a receiver that never answers does not delay shutdown, and gets its event after the next start', async () => {
    const waits: Socket[] = []
    const silent = createServer((socket) => waits.push(socket))
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as AddressInfo
    const url = `http://127.0.0.1:${port}/hook`
    const server = await start({ contract: contract(url) })
    const id = await cancel(server)
    await until(() => waits.length === 1)
    const dir = server.stateDir.replace(/\/state$/, '')
    const began = performance.now()
    await server.app.close()
    expect(performance.now() - began).toBeLessThan(5000)
    for (const socket of waits) socket.destroy()
    await new Promise<void>((resolve) => silent.close(() => resolve()))
    const back = await openReceiver(port)
    ends.push(() => back.close())
    const again = await start({ contract: contract(url), dir })
    ends.push(() => again.stop())
    await until(() => back.got.length === 1, 60_000)
    expect(back.got[0]?.json.task_id).toBe(id)
  })

  it('[REQ-HOOKOUT-5] a server that is thousands of events behind lets requests in between while it catches up', async () => {
    const server = await serve(contract((await receiver()).url))
    await appendMany(server, 3000)
    const stateDir = `${server.stateDir}/behind`
    const file = `${stateDir}/webhooks.json`
    mkdirSync(stateDir)
    writeFileSync(file, JSON.stringify({ discovered: 0, lanes: [] }))
    let turn = 0
    let counting = setImmediate(function count() {
      turn += 1
      counting = setImmediate(count)
    })
    ends.push(async () => clearImmediate(counting))
    const turns: number[] = []
    const { store } = server.app.ledger
    const read = store.readAll.bind(store)
    store.readAll = async (after, limit) => {
      turns.push(turn)
      return read(after, limit)
    }
    const behind = new Webhooks({ ...server.app, stateDir }, {}, () => undefined)
    await behind.start()
    ends.push(() => behind.close())
    await until(() => Number(JSON.parse(readFileSync(file, 'utf8')).discovered) > 3000)
    expect(turns.length).toBeGreaterThan(5)
    expect(new Set(turns).size).toBe(turns.length)
  })

  it('[REQ-HOOKOUT-5] a delivered event is not sent again after a restart', async () => {
    const hook = await receiver()
    const server = await start({ contract: contract(hook.url) })
    await cancel(server, 'one')
    // An event whose answer was not read yet would be sent again.
    const looked = async () => JSON.stringify((await server.call('GET', '/webhooks', server.operator)).body)
    await expect.poll(looked).toContain('"delivered"')
    const dir = server.stateDir.replace(/\/state$/, '')
    await server.app.close()
    const again = await start({ contract: contract(hook.url), dir })
    ends.push(() => again.stop())
    const second = await cancel(again, 'two')
    await until(() => hook.got.length >= 2)
    expect(hook.got.at(-1)?.json.task_id).toBe(second)
    expect(hook.got).toHaveLength(2)
  })
})

/** Events that no address asks for, written past the server: calls would take long. */
async function appendMany(server: Running, count: number): Promise<void> {
  const [first] = await server.app.ledger.store.readAll(0, 1)
  const hash = String(first?.data.hash)
  const one = {
    at: Date.now(),
    actor: 'system',
    epoch: 1,
    phase: 'A',
    contract: hash,
    type: 'lease_extended',
    data: {},
  }
  const events = Array.from({ length: 500 }, () => one)
  for (let expectedVersion = 0; expectedVersion < count; expectedVersion += events.length)
    await server.app.ledger.store.append({ stream: 'task:busy', expectedVersion, events })
}

async function failures(server: Running) {
  const events = await server.app.ledger.store.readAll(0, 1000)
  return events.filter(({ type }) => type === 'webhook_failed').map(({ data }) => data)
}
