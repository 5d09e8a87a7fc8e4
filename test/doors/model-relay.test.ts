import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ModelRelay, openModelRelay } from '../../src/gateway/model-relay.js'
import { findBaseUrlProblem } from '../../src/gateway/relay-request.js'
import { openSocketDir } from '../../src/gateway/socket-paths.js'
import { built, ROOT } from '../cli/program.js'
import { until } from '../mcp/clients.js'
import { askThrough, sendThrough } from './asking.js'

interface Arrived {
  readonly method: string
  readonly url: string
  readonly rawHeaders: readonly string[]
  readonly body: string
}

let made: string
let dir: string
let endpoint: Server
let origin: string
let arrived: Arrived[]
let answer: (request: IncomingMessage, response: ServerResponse) => void
const relays: ModelRelay[] = []

beforeEach(async () => {
  made = mkdtempSync(join(tmpdir(), 'phaselock-relay-'))
  dir = openSocketDir(made)
  arrived = []
  answer = (_request, response) => response.end('{"said":"ok"}')
  endpoint = createServer(async (incoming, response) => {
    let body = ''
    try {
      for await (const chunk of incoming) body += String(chunk)
    } catch {
      return
    }
    const { method = '', url = '', rawHeaders } = incoming
    arrived.push({ method, url, rawHeaders, body })
    answer(incoming, response)
  })
  await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}`
})
afterEach(async () => {
  for (const relay of relays.splice(0)) await relay.close()
  endpoint.closeAllConnections()
  endpoint.close()
  expect(readdirSync(dir)).toEqual([])
  for (const one of [dir, made]) rmSync(one, { recursive: true, force: true })
})

async function open(more: Partial<Parameters<typeof openModelRelay>[0]> = {}): Promise<ModelRelay> {
  const relay = await openModelRelay({ baseUrl: `${origin}/v1`, dir, ...more })
  relays.push(relay)
  return relay
}

/** The names and values that arrived, as one text. */
const headersOf = (one: Arrived | undefined): string =>
  (one?.rawHeaders ?? []).map((word, at) => (at % 2 === 0 ? `${word.toLowerCase()}: ` : `${word}\n`)).join('')

describe('where a relay leads', () => {
  it('[REQ-SOCKET-6] no path that is outside of its base, or could be read as one, is passed on', async () => {
    const { path } = await open()
    const outside = ['/', '/v2/messages', '/v1x/messages', '/V1/messages', '/admin', '/v1%2fmessages', '/?/v1/']
    const leadingOut = [
      ...['/v1/..', '/v1/../admin', '/v1/../../', '/v1/./../admin', '/v1/%2e%2e/admin', '/v1/.%2E/admin', '/v1/%2e'],
      ...['/v1/..%2fadmin', '/v1/..%5cadmin', '/v1/..\\admin', '/v1/..;/admin', '/v1/..;x=1/admin', '/v1/..%3b/admin'],
      ...['/v1/%252e%252e/admin', '/v1//evil.example/x', '//evil.example/v1/x', '/v1/a%00b', '/v1/a#b'],
    ]
    for (const target of [...outside, ...leadingOut]) {
      const told = await sendThrough(path, `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
      expect(told, target).toMatch(/^HTTP\/1\.1 40[04] /)
    }
    expect(arrived).toEqual([])
  })

  it('[REQ-SOCKET-6] no other host: neither by the target, nor by CONNECT, nor by the Host header', async () => {
    const { path } = await open()
    const { port } = endpoint.address() as AddressInfo
    const lines = [
      `GET ${origin}/v1/models HTTP/1.1`,
      'GET http://evil.example/v1/models HTTP/1.1',
      `CONNECT 127.0.0.1:${port} HTTP/1.1`,
      'OPTIONS * HTTP/1.1',
      'TRACE /v1/models HTTP/1.1',
      'GET v1/models HTTP/1.1',
      'PRI * HTTP/2.0',
    ]
    for (const line of lines) {
      const told = await sendThrough(path, `${line}\r\nHost: evil.example\r\nConnection: close\r\n\r\n`)
      expect(told, line).toMatch(/^HTTP\/1\.1 40[05] /)
    }
    expect(arrived).toEqual([])
    await askThrough(path, { path: '/v1/models', host: 'evil.example' })
    expect(headersOf(arrived[0])).toContain(`host: 127.0.0.1:${port}\n`)
    expect(headersOf(arrived[0])).not.toContain('evil')
  })

  it.each([
    ['a GET with a body in chunks', 'GET', 'Transfer-Encoding: chunked'],
    [
      'a GET whose encoding is named in Connection',
      'GET',
      'Transfer-Encoding: chunked\r\nConnection: transfer-encoding',
    ],
    ['a DELETE with a body in chunks', 'DELETE', 'Transfer-Encoding: chunked'],
    ['a GET whose length is named in Connection', 'GET', 'Content-Length: LENGTH\r\nConnection: content-length'],
    ['a POST whose length is named in Connection', 'POST', 'Content-Length: LENGTH\r\nConnection: content-length'],
  ])('[REQ-SOCKET-6] no second request hides in the body of %s', async (_what, method, framing) => {
    const { path } = await open({ headers: { 'x-api-key': 'the-real-key' } })
    const hidden = 'GET /admin HTTP/1.1\r\nHost: x\r\nx-api-key: other\r\n\r\n'
    const body = framing.startsWith('Transfer') ? `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n` : hidden
    const head = `${method} /v1/models HTTP/1.1\r\nHost: x\r\n${framing.replace('LENGTH', String(hidden.length))}\r\n\r\n`
    const told = await sendThrough(path, head + body)
    expect(told).toContain('HTTP/1.1 200')
    expect(arrived.map((one) => [one.method, one.url, one.body])).toEqual([[method, '/v1/models', hidden]])
  })

  it('[REQ-SOCKET-6] a request that says twice where its body ends, or hides a header in another, is refused', async () => {
    const { path } = await open()
    const heads = [
      'Content-Length: 3\r\nTransfer-Encoding: chunked',
      'Content-Length: 3\r\nContent-Length: 4',
      'Transfer-Encoding: chunked, identity',
      'X-A: b\r\n c\rX-Api-Key: d',
      'X-A: b\nX-B\0: c',
      'X A: b',
    ]
    for (const head of heads) {
      const told = await sendThrough(path, `POST /v1/x HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\nabc`)
      expect(told, head).toMatch(/^HTTP\/1\.1 400 /)
    }
    expect(arrived).toEqual([])
  })

  it('[REQ-SOCKET-6] headers about the connection or about proxies are not passed on', async () => {
    const { path } = await open()
    answer = (_request, response) => {
      response.setHeader('alt-svc', 'h3=":443"')
      response.setHeader('connection', 'x-private')
      response.setHeader('x-private', '1')
      response.setHeader('x-kept', ['a', 'b'])
      response.end('{}')
    }
    const headers = {
      ...{ connection: 'x-mine, keep-alive', 'x-mine': '1', 'keep-alive': 'timeout=9', te: 'trailers', upgrade: 'h2c' },
      ...{ 'proxy-authorization': 'p', 'x-forwarded-host': 'evil', forwarded: 'host=evil', 'x-real-ip': '1.2.3.4' },
      ...{ 'x-http-method-override': 'DELETE', 'x-original-url': '/admin', 'anthropic-version': '2023-06-01' },
    }
    const told = await askThrough(path, { path: '/v1/models', headers })
    const names = (arrived[0]?.rawHeaders ?? []).filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase())
    expect(names.sort()).toEqual(['accept-encoding', 'anthropic-version', 'connection', 'host'])
    expect(told.headers).toMatchObject({ 'x-kept': 'a, b' })
    expect(told.headers['alt-svc'] ?? told.headers['x-private']).toBeUndefined()
  })

  it('[REQ-SOCKET-6] an address with a user, a query, a fragment or another scheme is not a base', async () => {
    for (const base of ['', 'x', 'ftp://a/', 'unix:/x', 'http://u:p@a/', 'http://u@a/', 'http://a/?q', 'http://a/#f']) {
      expect(findBaseUrlProblem(base), base).not.toBeNull()
      await expect(open({ baseUrl: base })).rejects.toThrow('base URL')
    }
    expect(findBaseUrlProblem('https://api.example.com/v1/')).toBeNull()
    expect((await open({ baseUrl: `${origin}/v1/` })).url).toBe('http://127.0.0.1:8701/v1')
    expect((await open({ baseUrl: origin })).url).toBe('http://127.0.0.1:8701')
  })
})

describe('the key of the model endpoint', () => {
  it('[REQ-SOCKET-7] replaces what the agent sends, however it spells it, and no other credential passes', async () => {
    const { path } = await open({ headers: { 'X-Api-Key': 'the-real-key' } })
    const headers = {
      ...{ 'X-API-KEY': 'mine', Authorization: 'Bearer mine', 'x-goog-api-key': 'mine', 'api-key': 'mine' },
      cookie: 'mine=1',
    }
    const told = await askThrough(path, { path: '/v1/messages', headers })
    expect(headersOf(arrived[0])).toContain('x-api-key: the-real-key\n')
    expect(headersOf(arrived[0])).not.toContain('mine')
    expect(JSON.stringify([told.headers, told.text])).not.toContain('the-real-key')
    for (const query of ['key=mine', 'a=b&api_key=mine', 'access_token=mine'])
      expect((await askThrough(path, { path: `/v1/models?${query}` })).status, query).toBe(403)
    expect(arrived).toHaveLength(1)
  })

  it("[REQ-SOCKET-7] where none is added, the agent's own passes", async () => {
    const { path } = await open()
    await askThrough(path, { path: '/v1/models?key=mine', headers: { 'x-api-key': 'mine' } })
    expect(headersOf(arrived[0])).toContain('x-api-key: mine\n')
    expect(arrived[0]?.url).toBe('/v1/models?key=mine')
  })
})

describe('what a relay carries', () => {
  it('[REQ-SOCKET-8] an endpoint that is down, hangs up or answers no HTTP is a 502', async () => {
    const hangsUp = createTcpServer((socket) => socket.on('data', () => socket.destroy()))
    const babbles = createTcpServer((socket) => socket.on('data', () => socket.end('hello\r\n\r\n')))
    for (const one of [hangsUp, babbles]) await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve))
    const ports = [1, ...[hangsUp, babbles].map((one) => (one.address() as AddressInfo).port)]
    for (const port of ports) {
      const { path } = await open({ baseUrl: `http://127.0.0.1:${port}` })
      const told = await askThrough(path, { method: 'POST', path: '/v1/messages', body: { a: 1 } })
      expect([told.status, told.body], String(port)).toEqual([
        502,
        { type: 'error', error: { type: 'relay_error', message: 'The model endpoint cannot be reached.' } },
      ])
    }
    for (const one of [hangsUp, babbles]) one.close()
  })

  it('[REQ-SOCKET-8] an endpoint that answers with an invalid status or another protocol is a 502', async () => {
    for (const line of ['099 Odd', '000 Odd', '101 Switching\r\nConnection: upgrade\r\nUpgrade: other']) {
      const odd = createTcpServer((socket) =>
        socket.on('data', () => socket.end(`HTTP/1.1 ${line}\r\ncontent-length: 0\r\n\r\n`)),
      )
      await new Promise<void>((resolve) => odd.listen(0, '127.0.0.1', resolve))
      const { path } = await open({ baseUrl: `http://127.0.0.1:${(odd.address() as AddressInfo).port}` })
      expect((await askThrough(path, { method: 'POST', path: '/v1/messages', body: { a: 1 } })).status, line).toBe(502)
      odd.close()
    }
  })

  it('[REQ-SOCKET-8] an answer that breaks off is broken off', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('half')
      setTimeout(() => response.destroy(), 50)
    }
    const { path } = await open()
    await expect(askThrough(path, { path: '/v1/models' })).rejects.toThrow()
  })

  it('[REQ-SOCKET-8] headers, targets and bodies beyond their bounds are refused', async () => {
    const { path } = await open({ bodyBytesMax: 1000 })
    const large = await askThrough(path, { path: '/v1/models', headers: { 'x-large': 'x'.repeat(70_000) } }).catch(
      () => ({ status: 431 }),
    )
    expect([400, 431]).toContain(large.status)
    expect((await askThrough(path, { path: `/v1/${'x'.repeat(9000)}` })).status).toBe(400)
    const said = await askThrough(path, { method: 'POST', path: '/v1/messages', body: 'x'.repeat(999) })
    expect(said.status).toBe(413)
    const chunk = `3E8\r\n${'x'.repeat(1000)}\r\n`
    const head = 'POST /v1/messages HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
    expect(await sendThrough(path, `${head}${chunk}1\r\nx\r\n0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 413 /)
    expect(arrived).toEqual([])
    expect(await sendThrough(path, `${head}${chunk}0\r\n\r\n`)).toContain('HTTP/1.1 200')
    expect(arrived).toHaveLength(1)
  })

  it('[REQ-SOCKET-8] events arrive one by one, as they are sent', async () => {
    const next: (() => void)[] = []
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.flushHeaders()
      for (const word of ['one', 'two', 'three']) next.push(() => response.write(`data: ${word}\n\n`))
      next.push(() => response.end())
    }
    const { path } = await open()
    const sent = request({ socketPath: path, path: '/v1/messages', method: 'POST', headers: { host: 'localhost' } })
    sent.end('{}')
    // The headers come before the first word.
    const [coming] = (await once(sent, 'response')) as [IncomingMessage]
    expect(coming.headers['content-type']).toBe('text/event-stream')
    for (const word of ['one', 'two', 'three']) {
      next.shift()?.()
      const [chunk] = (await once(coming, 'data')) as [Buffer]
      expect(chunk.toString()).toBe(`data: ${word}\n\n`)
    }
    next.shift()?.()
    await once(coming, 'end')
  })

  it('[REQ-SOCKET-8] a body is passed on while it is written, and a client that disconnects is disconnected upstream too', async () => {
    const seen: string[] = []
    let isGone = false
    endpoint.removeAllListeners('request')
    endpoint.on('request', (incoming: IncomingMessage, response: ServerResponse) => {
      incoming.on('data', (chunk: Buffer) => seen.push(chunk.toString()))
      incoming.on('error', () => undefined)
      response.on('close', () => {
        isGone = true
      })
    })
    const { path } = await open()
    const sent = request({ socketPath: path, path: '/v1/messages', method: 'POST', headers: { host: 'localhost' } })
    sent.on('error', () => undefined)
    sent.write('first')
    await until(() => seen.join('') === 'first')
    sent.write('second')
    await until(() => seen.join('') === 'firstsecond')
    sent.destroy()
    await until(() => isGone)
  })

  it('[REQ-SOCKET-8] 64 requests at once are each answered with their own answer, and told once', async () => {
    const uses: Parameters<NonNullable<Parameters<typeof openModelRelay>[0]['onUse']>>[0][] = []
    answer = (incoming, response) => setTimeout(() => response.end(JSON.stringify({ at: incoming.url })), 100)
    const { path } = await open({ onUse: (use) => uses.push(use) })
    const all = await Promise.all(
      Array.from({ length: 64 }, (_, at) => askThrough(path, { path: `/v1/models/${at}?q=1` })),
    )
    expect(all.map((one) => one.body.at)).toEqual(Array.from({ length: 64 }, (_, at) => `/v1/models/${at}?q=1`))
    await until(() => uses.length === 64)
    expect(uses.find((one) => one.path === '/v1/models/7')).toMatchObject({
      ...{ method: 'GET', status: 200, sentBytes: 0, receivedBytes: JSON.stringify({ at: '/v1/models/7?q=1' }).length },
    })
  })

  it('[REQ-SOCKET-8] no more connections are taken than there is room for, and a closed relay takes none', async () => {
    const relay = await open()
    const open256 = Array.from({ length: 300 }, () => connect(relay.path).on('error', () => undefined))
    await until(() => open256.filter((socket) => socket.closed).length >= 44)
    expect(open256.filter((socket) => !socket.closed).length).toBeLessThanOrEqual(256)
    for (const socket of open256) socket.destroy()
    await relay.close()
    await expect(askThrough(relay.path)).rejects.toThrow('ENOENT')
  })
})

describe('an endpoint behind TLS', () => {
  it('[REQ-SOCKET-6] is reached only with a certificate that is trusted for its name', async () => {
    await built()
    const made = mkdtempSync(join(tmpdir(), 'phaselock-tls-'))
    const [key, cert] = [join(made, 'key.pem'), join(made, 'cert.pem')]
    const done = spawnSync('openssl', [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=localhost'],
      ...['-addext', 'subjectAltName=DNS:localhost', '-keyout', key, '-out', cert],
    ])
    expect(done.status).toBe(0)
    const behind = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (incoming, response) => {
      response.end(JSON.stringify({ host: incoming.headers.host }))
    })
    await new Promise<void>((resolve) => behind.listen(0, 'localhost', resolve))
    const { port } = behind.address() as AddressInfo
    const untrusted = await open({ baseUrl: `https://localhost:${port}` })
    expect((await askThrough(untrusted.path, { path: '/v1/models' })).status).toBe(502)
    // Which authorities are trusted is said to a process when it starts.
    writeFileSync(
      join(made, 'relay.mjs'),
      `import { openModelRelay } from ${JSON.stringify(join(ROOT, 'dist/gateway/model-relay.js'))}
for (const host of ['localhost', '127.0.0.1'])
  console.log((await openModelRelay({ baseUrl: 'https://' + host + ':${port}', dir: ${JSON.stringify(made)} })).path)
`,
    )
    const child = spawn(process.execPath, [join(made, 'relay.mjs')], {
      env: { NODE_EXTRA_CA_CERTS: cert },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let told = ''
    child.stdout.on('data', (chunk: Buffer) => {
      told += chunk.toString()
    })
    await until(() => told.split('\n').length === 3)
    const [named = '', numbered = ''] = told.split('\n')
    expect((await askThrough(named, { path: '/v1/models' })).body).toEqual({ host: `localhost:${port}` })
    expect((await askThrough(numbered, { path: '/v1/models' })).status).toBe(502)
    child.kill()
    behind.closeAllConnections()
    behind.close()
    rmSync(made, { recursive: true, force: true })
  })
})
