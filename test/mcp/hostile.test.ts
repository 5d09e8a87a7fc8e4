import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Running, start } from '../http/harness.js'
import { ERAS, INITIALIZE, McpAgent, modern, until } from './clients.js'

const ACCEPT = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }

let server: Running
let token: string

beforeAll(async () => {
  server = await start({ bodyBytesMax: 200_000 })
  token = await server.addAgent('mallory')
})
afterAll(() => server.stop())

interface Got {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

async function send(
  method: string,
  given: { token?: string | null; body?: unknown; headers?: Record<string, string> } = {},
): Promise<Got> {
  const bearer = given.token === undefined ? token : given.token
  const response = await fetch(`${server.url}/mcp`, {
    method,
    headers: {
      ...ACCEPT,
      ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
      ...given.headers,
    },
    ...(given.body === undefined
      ? {}
      : { body: typeof given.body === 'string' ? given.body : JSON.stringify(given.body) }),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** Over a bare socket: `fetch` sets Host and Origin itself. */
function sendRaw(headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request(
      { host: '127.0.0.1', port: server.port, path: '/mcp', method: 'POST', headers: { ...ACCEPT, ...headers } },
      (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      },
    )
    asked.on('error', reject)
    asked.end(JSON.stringify(INITIALIZE))
  })
}

async function openSession(bearer = token): Promise<string> {
  const opened = await send('POST', { token: bearer, body: INITIALIZE })
  expect(opened.status, opened.text).toBe(200)
  return opened.headers.get('mcp-session-id') ?? ''
}

const LIST = { jsonrpc: '2.0', id: 2, method: 'tools/list' }

describe('who may speak MCP', () => {
  it('[REQ-MCP-1] a request without a token is refused in either era, also for a stream', async () => {
    for (const [method, given] of [
      ['POST', { body: INITIALIZE }],
      ['POST', modern('tools/list')],
      ['GET', {}],
      ['DELETE', {}],
    ] as const) {
      const got = await send(method, { ...given, token: null })
      expect(got.status).toBe(401)
      expect(got.headers.get('www-authenticate')).toBe('Bearer')
      expect(JSON.parse(got.text).code).toBe('token_missing')
    }
  })

  it('[REQ-MCP-1] a foreign token is refused', async () => {
    expect((await send('POST', { token: 'eyJhbGciOiJub25lIn0.e30.', body: INITIALIZE })).status).toBe(403)
  })

  it("[REQ-MCP-1] an operator's token is refused", async () => {
    const got = await send('POST', { token: server.operator, body: INITIALIZE })
    expect([got.status, JSON.parse(got.text).code]).toEqual([403, 'not_permitted'])
  })

  it('[REQ-MCP-1] an agent whose token was replaced or revoked is refused, and its session is gone', async () => {
    const old = await server.addAgent('oscar')
    const session = await openSession(old)
    const fresh = await server.addAgent('oscar')
    expect((await send('POST', { token: old, body: LIST, headers: { 'mcp-session-id': session } })).status).toBe(403)
    expect((await send('POST', { token: fresh, body: LIST, headers: { 'mcp-session-id': session } })).status).toBe(404)
  })

  it('[REQ-MCP-2] a Host or an Origin that is not served here is refused', async () => {
    const authorization = `Bearer ${token}`
    expect(await sendRaw({ host: 'evil.example', authorization })).toBe(403)
    expect(await sendRaw({ host: `127.0.0.1:${server.port}`, origin: 'http://evil.example', authorization })).toBe(403)
    expect(await sendRaw({ host: `127.0.0.1:${server.port}`, origin: 'null', authorization })).toBe(403)
    expect(await sendRaw({ host: `localhost:${server.port}`, authorization })).toBe(200)
  })
})

describe('what cannot be read', () => {
  it.each([
    ['broken JSON', '{"jsonrpc": "2.0", '],
    ['no JSON-RPC', '{"hello": 1}'],
    ['a number', '7'],
    ['an empty list', '[]'],
    ['a body that reaches for prototypes', '{"jsonrpc":"2.0","id":1,"method":"ping","__proto__":{"a":1}}'],
    ['a body that is nested too deeply', `${'['.repeat(100)}${']'.repeat(100)}`],
    ['half a character', '{"jsonrpc":"2.0","id":1,"method":"\\ud800"}'],
  ])('[REQ-MCP-3] %s is answered with an error of the protocol', async (_name, body) => {
    const got = await send('POST', { body })
    expect(got.status, got.text).toBe(400)
    expect(JSON.parse(got.text)).toMatchObject({ jsonrpc: '2.0', error: { code: expect.any(Number) } })
  })

  it('[REQ-MCP-3] a huge body is refused unread, and another media type too', async () => {
    expect((await send('POST', { body: JSON.stringify({ a: 'x'.repeat(300_000) }) })).status).toBe(413)
    expect((await send('POST', { body: 'hello', headers: { 'content-type': 'text/plain' } })).status).toBe(415)
  })

  it('[REQ-MCP-3] a batch of more than 32 messages is refused, also within a session', async () => {
    const session = await openSession()
    const batch = Array.from({ length: 33 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }))
    expect((await send('POST', { body: batch, headers: { 'mcp-session-id': session } })).status).toBe(400)
  })

  it.each(ERAS)('[REQ-MCP-3] an unknown method of $name is answered as unknown', async (era) => {
    const session = await openSession()
    const raw =
      era.mode === 'legacy'
        ? await send('POST', { body: { ...LIST, method: 'no/such' }, headers: { 'mcp-session-id': session } })
        : await send('POST', modern('no/such'))
    expect(raw.text).toContain('-32601')
  })
})

describe('sessions of the 2025 revisions', () => {
  it('[REQ-MCP-4] nothing but initialize begins one', async () => {
    expect((await send('POST', { body: LIST })).status).toBe(400)
    expect((await send('GET')).status).toBe(400)
    expect((await send('POST', { body: LIST, headers: { 'mcp-session-id': 'invented' } })).status).toBe(404)
  })

  it("[REQ-MCP-4] another agent's session does not exist, whatever is asked of it", async () => {
    const session = await openSession()
    const other = await server.addAgent('eve')
    for (const method of ['POST', 'GET', 'DELETE'])
      expect(
        (
          await send(method, {
            token: other,
            headers: { 'mcp-session-id': session },
            ...(method === 'POST' ? { body: LIST } : {}),
          })
        ).status,
      ).toBe(404)
    expect((await send('POST', { body: LIST, headers: { 'mcp-session-id': session } })).status).toBe(200)
  })

  it('[REQ-MCP-4] one that nobody used for half an hour is gone', async () => {
    const session = await openSession()
    server.now = Date.now() + 29 * 60_000
    expect((await send('POST', { body: LIST, headers: { 'mcp-session-id': session } })).status).toBe(200)
    server.now += 31 * 60_000
    expect((await send('POST', { body: LIST, headers: { 'mcp-session-id': session } })).status).toBe(404)
    server.now = null
  })

  it('[REQ-MCP-4] one whose client listens stays, until the client is gone as long', async () => {
    const session = await openSession()
    const stream = new AbortController()
    const listening = await fetch(`${server.url}/mcp`, {
      headers: { ...ACCEPT, authorization: `Bearer ${token}`, 'mcp-session-id': session },
      signal: stream.signal,
    })
    expect(listening.headers.get('content-type')).toBe('text/event-stream')
    const first = await listening.body?.getReader().read()
    expect(new TextDecoder().decode(first?.value)).toBe(': open\n\n')
    server.now = Date.now() + 31 * 60_000
    expect((await send('POST', { body: LIST, headers: { 'mcp-session-id': session } })).status).toBe(200)
    stream.abort()
    await until(async () => {
      server.now = (server.now ?? 0) + 31 * 60_000
      return (await send('POST', { body: LIST, headers: { 'mcp-session-id': session } })).status === 404
    })
    server.now = null
  })

  it('[REQ-MCP-4] an agent has at most eight, the oldest makes room, and nobody else loses one', async () => {
    const greedy = await server.addAgent('greedy')
    const kept = await openSession()
    const opened: string[] = []
    for (let count = 0; count < 9; count += 1) opened.push(await openSession(greedy))
    const status = async (session: string, bearer: string) =>
      (await send('POST', { token: bearer, body: LIST, headers: { 'mcp-session-id': session } })).status
    expect(await status(opened[0] ?? '', greedy)).toBe(404)
    expect(await status(opened[1] ?? '', greedy)).toBe(200)
    expect(await status(opened[8] ?? '', greedy)).toBe(200)
    expect(await status(kept, token)).toBe(200)
  })

  it('[REQ-MCP-4] a client that leaves ends its session', async () => {
    const session = await openSession()
    expect((await send('DELETE', { headers: { 'mcp-session-id': session } })).status).toBe(200)
    expect((await send('POST', { body: LIST, headers: { 'mcp-session-id': session } })).status).toBe(404)
  })
})

describe('streams of 2026-07-28', () => {
  it('[REQ-MCP-4] an agent listens on at most sixteen streams, and each ends with its token', async () => {
    const bearer = await server.addAgent('listener')
    const { headers, body } = modern('subscriptions/listen', { notifications: { toolsListChanged: true } })
    const open = async () =>
      fetch(`${server.url}/mcp`, {
        method: 'POST',
        headers: { ...ACCEPT, ...headers, authorization: `Bearer ${bearer}` },
        body: JSON.stringify(body),
      })
    const streams: Response[] = []
    for (let count = 0; count < 16; count += 1) {
      const stream = await open()
      expect(stream.headers.get('content-type')).toBe('text/event-stream')
      streams.push(stream)
    }
    expect((await open()).status).toBe(429)
    await server.addAgent('listener')
    for (const stream of streams) expect(await stream.text()).toContain('"resultType":"complete"')
    expect(server.faults).toEqual([])
  })
})

describe('tools that nobody has', () => {
  it.each(ERAS)(
    '[REQ-MCP-5] an unknown tool and a name that is not a name are refusals that a model can read ($name)',
    async (era) => {
      const bearer = await server.addAgent(`finder-${era.name}`)
      const agent = await McpAgent.connect(server.url, bearer, era)
      const before = await agent.refused('write_files', { path: 'a', content: 'b' })
      expect(before.structured).toMatchObject({ code: 'no_active_task', next_step: 'Claim a task.' })
      await server.addTask()
      await agent.does('claim_task')
      const unknown = await agent.refused('Write_Files', {})
      expect(unknown.structured).toMatchObject({
        code: 'unknown_tool',
        allowed_tools: expect.arrayContaining(['grep']),
      })
      expect(unknown.text).toContain("Tool 'Write_Files' does not exist")
      expect((await agent.refused('x'.repeat(500))).structured.code).toBe('invalid_request')
      expect((await agent.refused('request_transition', { target: 'TDD' })).structured).toMatchObject({
        code: 'invalid_request',
        detail: expect.stringContaining('target'),
      })
      expect((await agent.refused('vote', { agent_id: 'a', reason: 'b' })).structured.code).toBe('unknown_tool')
      await agent.close()
      await until(
        async () => (await server.call('GET', '/audit/query?code=unknown_tool', server.operator)).status === 200,
      )
    },
  )
})

describe('a server that stops', () => {
  it('[REQ-MCP-4] ends every session and stream at once', async () => {
    const other = await start()
    const bearer = await other.addAgent('ada')
    const agents = await Promise.all(ERAS.map((era) => McpAgent.connect(other.url, bearer, era)))
    const before = Date.now()
    await other.stop()
    expect(Date.now() - before).toBeLessThan(5000)
    expect(other.faults).toEqual([])
    await Promise.all(agents.map((agent) => agent.close()))
  })
})
