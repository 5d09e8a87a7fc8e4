import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DESCRIBED } from '../../src/http/routes/all.js'
import { type Running, start } from './harness.js'

let run: Running
let task: string
beforeAll(async () => {
  run = await start()
  task = await run.addTask()
})
afterAll(() => run.stop())

function send(method: string, path: string, token: string | null = null, headers: Record<string, string> = {}) {
  return fetch(`${run.url}${path}`, {
    method,
    headers: { ...headers, ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
  })
}

describe('HEAD', () => {
  it('[REQ-HTTP-12] every path that GET takes answers HEAD with the same status and headers, and no body', async () => {
    const reads = DESCRIBED.filter(({ method, media }) => method === 'GET' && media === undefined)
    const paths = reads.map(({ path }) => `/api/v1${path.replace(':id', task).replace(/:\w+/g, 'none')}`)
    expect(paths.length).toBeGreaterThan(30)
    for (const path of [...paths, '/health', '/ready', '/docs', '/', '/style.css', '/api/v1/openapi.json', '/nope']) {
      const [got, head] = [await send('GET', path, run.operator), await send('HEAD', path, run.operator)]
      expect({ path, status: head.status }).toEqual({ path, status: got.status })
      expect({ path, type: head.headers.get('content-type') }).toEqual({ path, type: got.headers.get('content-type') })
      expect({ path, body: await head.text() }).toEqual({ path, body: '' })
    }
  })

  it('[REQ-HTTP-12] a HEAD of a path has the length of what a GET sends', async () => {
    const length = (await send('HEAD', '/style.css')).headers.get('content-length')
    expect(length).toBe(String((await (await send('GET', '/style.css')).text()).length))
  })

  it('[REQ-HTTP-12] a HEAD of a stream or an export has its headers, and ends', async () => {
    for (const [path, type] of [
      ['/events', 'text/event-stream'],
      ['/audit/export', 'application/x-ndjson'],
    ] as const) {
      const answer = await send('HEAD', `/api/v1${path}`, run.operator)
      expect({ path, status: answer.status }).toEqual({ path, status: 200 })
      expect(answer.headers.get('content-type')).toContain(type)
      expect(answer.headers.get('content-length')).toBeNull()
      expect(await answer.text()).toBe('')
    }
    expect((await send('HEAD', '/api/v1/coordinations/none/stream', run.operator)).status).toBe(404)
    expect(run.faults).toEqual([])
  })

  it('[REQ-HTTP-12] a HEAD is refused like a GET: without a token, to a caller without permission', async () => {
    expect((await send('HEAD', '/api/v1/tasks')).status).toBe(401)
    expect((await send('HEAD', '/api/v1/tasks', await run.addAgent('reader'))).status).toBe(403)
  })

  it('[REQ-HTTP-12] a HEAD of MCP is answered as GET is, and the stream can still be opened', async () => {
    const token = await run.addAgent('listener')
    expect((await send('HEAD', '/mcp', token)).status).toBe((await send('GET', '/mcp', token)).status)
    const accept = 'application/json, text/event-stream'
    const clientInfo = { name: 'test', version: '1' }
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
    const opened = await fetch(`${run.url}/mcp`, {
      method: 'POST',
      headers: { accept, 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
    })
    const session = { accept, 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
    await opened.text()
    const head = await send('HEAD', '/mcp', token, session)
    expect({ status: head.status, body: await head.text() }).toEqual({ status: 200, body: '' })
    expect(head.headers.get('content-type')).toContain('text/event-stream')
    const stream = await send('GET', '/mcp', token, session)
    expect(stream.status).toBe(200)
    await stream.body?.cancel()
    expect(run.faults).toEqual([])
  })

  it('[REQ-HTTP-12] a page that is not there is 404 for HEAD too', async () => {
    const headers = { accept: 'text/html' }
    const head = await send('HEAD', '/no/such/page', null, headers)
    expect(head.status).toBe(404)
    expect(head.headers.get('content-type')).toContain('text/html')
  })
})

describe('a method that a path does not take', () => {
  it.each([
    ['DELETE', '/api/v1/tasks', 'GET, HEAD, POST'],
    ['PUT', '/api/v1/tasks/none', 'GET, HEAD, PATCH'],
    // A task may be called `claim`.
    ['DELETE', '/api/v1/tasks/claim', 'GET, HEAD, PATCH, POST'],
    ['GET', '/api/v1/tools/execute', 'POST'],
    ['POST', '/health', 'GET, HEAD'],
    ['POST', '/', 'GET, HEAD'],
    ['PUT', '/mcp', 'DELETE, GET, HEAD, POST'],
    ['OPTIONS', '/api/v1/tasks?limit=1', 'GET, HEAD, POST'],
  ])('[REQ-HTTP-6] %s %s is 405 and says which it takes', async (method, path, allowed) => {
    const answer = await send(method, path, run.operator)
    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toBe(allowed)
    expect(answer.headers.get('content-type')).toContain('application/problem+json')
    expect(await answer.json()).toMatchObject({ code: 'method_not_allowed', status: 405 })
  })

  it('[REQ-HTTP-6] whatever body comes with it', async () => {
    for (const [type, body] of [
      ['text/plain', 'x'],
      ['application/json', '{"title":'],
    ] as const) {
      const answer = await fetch(`${run.url}/api/v1/tasks`, { method: 'PUT', headers: { 'content-type': type }, body })
      expect({ type, status: answer.status }).toEqual({ type, status: 405 })
    }
  })

  it('[REQ-HTTP-6] an unknown path stays 404, and a foreign Origin is refused first', async () => {
    expect((await send('DELETE', '/api/v1/nope', run.operator)).status).toBe(404)
    expect((await send('DELETE', `/api/v1/tasks/${'x'.repeat(129)}`, run.operator)).status).toBe(404)
    expect((await send('DELETE', '/api/v1/tasks', null, { origin: 'http://evil.example' })).status).toBe(403)
  })
})
