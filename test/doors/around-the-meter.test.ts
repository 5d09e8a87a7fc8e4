import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ModelRelay, openModelRelay } from '../../src/gateway/model-relay.js'
import { openSocketDir } from '../../src/gateway/socket-paths.js'
import type { TakenUsage } from '../../src/gateway/usage-book.js'
import { until } from '../mcp/clients.js'
import { ANTHROPIC_EVENTS } from './answers.js'
import { askThrough } from './asking.js'

let made: string
let dir: string
let endpoint: Server
let origin: string
let answer: (request: IncomingMessage, response: ServerResponse) => void
let asked: IncomingMessage[]
let taken: TakenUsage[]
const relays: ModelRelay[] = []

beforeEach(async () => {
  made = mkdtempSync(join(tmpdir(), 'phaselock-around-'))
  dir = openSocketDir(made)
  taken = []
  asked = []
  answer = (_request, response) => response.end('{}')
  endpoint = createServer((incoming, response) => {
    asked.push(incoming)
    incoming.on('error', () => undefined)
    incoming.resume()
    incoming.on('end', () => answer(incoming, response))
  })
  await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}`
})
afterEach(async () => {
  for (const relay of relays.splice(0)) await relay.close()
  endpoint.closeAllConnections()
  endpoint.close()
  for (const one of [dir, made]) rmSync(one, { recursive: true, force: true })
})

async function open(more: Partial<Parameters<typeof openModelRelay>[0]> = {}): Promise<ModelRelay> {
  const relay = await openModelRelay({ ...{ baseUrl: origin, dir }, onTaken: (one) => taken.push(one), ...more })
  relays.push(relay)
  return relay
}

/** Asks, and hangs up once the endpoint has the whole question and has not said a word. */
async function askAndLeave(path: string, body: string | null = '{}'): Promise<void> {
  const before = asked.length
  const sent = request({ socketPath: path, path: '/v1/messages', method: 'POST', headers: { host: 'localhost' } })
  sent.on('error', () => undefined)
  if (body === null) sent.write('{"half":')
  else sent.end(body)
  await until(() => asked.length > before && (body === null || asked.at(-1)?.complete === true))
  // The relay has heard that its bytes were taken.
  await new Promise((resolve) => setTimeout(resolve, 50))
  sent.destroy()
}

describe('a query that goes around the relay', () => {
  it.each(['%6bey', 'k%65y', 'KEY', 'api%5fkey', 'apiKey', 'access%5Ftoken', 'oauth_token', '+key', 'key%20'])(
    '[REQ-BREAKAGAIN-1] a key of its own under the name %s is refused, wherever it stands',
    async (name) => {
      const { path } = await open({ headers: { 'x-goog-api-key': 'the-real-key' } })
      for (const query of [`${name}=mine`, `a=b&${name}=mine`, `a=b;${name}=mine`, `a=?&${name}`])
        expect((await askThrough(path, { path: `/v1/models?${query}` })).status, query).toBe(403)
      expect(asked).toEqual([])
    },
  )

  it.each([
    ...['fields=candidates', '%66ields=candidates', 'a=b&FIELDS=x', '$fields=candidates', '%24fields=candidates'],
    ...['alt=proto', 'alt=media', 'al%74=proto', '$alt=proto', 'callback=f', '$callback=f'],
    ...['$httpHeaders=x-goog-fieldmask:candidates', '$httpMethod=GET', 'alt=sse&alt=proto'],
  ])('[REQ-BREAKAGAIN-2] an answer without the part that says what it took cannot be asked for: %s', async (query) => {
    const { path } = await open()
    const told = await askThrough(path, { method: 'POST', path: `/v1/models/m:generateContent?${query}`, body: {} })
    expect([told.status, asked.length]).toEqual([403, 0])
  })

  it('[REQ-BREAKAGAIN-2] neither by a header nor by an ambiguous query; ordinary requests of clients pass', async () => {
    const { path } = await open()
    expect((await askThrough(path, { path: '/v1/models?a=%' })).status).toBe(400)
    expect((await askThrough(path, { path: '/v1/models?%ff=b' })).status).toBe(400)
    expect(asked).toEqual([])
    const targets = ['/v1/m?alt=sse', '/v1/m?alt=json', '/v1/m?beta=true&pageToken=x', '/v1/m?', '/v1/m?include[]=a']
    for (const target of targets) {
      const headers = { 'X-Goog-FieldMask': 'candidates' }
      expect((await askThrough(path, { path: target, headers })).status, target).toBe(200)
    }
    expect(asked.map(({ url }) => url)).toEqual(targets)
    for (const { headers } of asked) expect(headers['x-goog-fieldmask']).toBeUndefined()
  })
})

describe('a client that disconnects before the first word', () => {
  it('[REQ-BREAKAGAIN-3] has made a request, and the usage of the answer is counted', async () => {
    const { path } = await open()
    let say: () => void = () => undefined
    answer = (_request, response) => {
      say = () => response.writeHead(200).end(ANTHROPIC_EVENTS.join(''))
    }
    await askAndLeave(path)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(taken).toEqual([])
    say()
    await until(() => taken.length === 1)
    expect(taken).toMatchObject([{ input: 100, output: 57 }])
  })

  it('[REQ-BREAKAGAIN-3] is waited for up to a limit, and not at all if its request was cut off', async () => {
    const { path } = await open({ carryLimits: { readOnMsMax: 1500 } })
    let gone = 0
    answer = () => undefined
    endpoint.prependListener('request', (_incoming, response: ServerResponse) =>
      response.on('close', () => {
        gone += 1
      }),
    )
    const before = Date.now()
    await askAndLeave(path, null)
    await until(() => gone === 1)
    expect(Date.now() - before).toBeLessThan(1500)
    await askAndLeave(path)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(gone).toBe(1)
    await until(() => gone === 2)
    expect(taken).toEqual([])
  })

  it('[REQ-BREAKAGAIN-3] is dropped when the relay closes, or if nothing is counted', async () => {
    let gone = 0
    endpoint.prependListener('request', (_incoming, response: ServerResponse) =>
      response.on('close', () => {
        gone += 1
      }),
    )
    answer = () => undefined
    const relay = await open()
    await askAndLeave(relay.path)
    await relay.close()
    await until(() => gone === 1)
    const uncounted = await openModelRelay({ baseUrl: origin, dir })
    relays.push(uncounted)
    await askAndLeave(uncounted.path)
    await until(() => gone === 2)
  })
})

describe('requests behind each other on one connection', () => {
  it('[REQ-BREAKAGAIN-4] are not kept: a connection that sends them is ended, and the first of them still counts', async () => {
    let say: () => void = () => undefined
    answer = (_request, response) => {
      say = () => response.writeHead(200).end(ANTHROPIC_EVENTS.join(''))
    }
    const { path } = await open()
    const socket = connect(path).on('error', () => undefined)
    const one = 'POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}'
    socket.write(one)
    await until(() => asked.length === 1)
    socket.write(one.repeat(1000))
    await until(() => socket.closed)
    expect(asked).toHaveLength(1)
    say()
    await until(() => taken.length === 1)
    expect(taken).toMatchObject([{ output: 57 }])
  })

  it('[REQ-BREAKAGAIN-4] one after the other they are each answered', async () => {
    const { path } = await open()
    answer = (_request, response) => response.end(`{"usage":{"output_tokens":${asked.length}}}`)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const sockets = new Set<unknown>()
    for (let at = 1; at <= 20; at += 1) {
      const sent = request({ agent, socketPath: path, path: '/v1/messages', method: 'POST' })
      sent.on('socket', (socket) => sockets.add(socket))
      sent.end('{}')
      const [told] = (await once(sent, 'response')) as [IncomingMessage]
      let said = ''
      for await (const chunk of told) said += String(chunk)
      expect(said).toBe(`{"usage":{"output_tokens":${at}}}`)
    }
    expect(sockets.size).toBe(1)
    agent.destroy()
    expect(taken).toHaveLength(20)
  })
})
