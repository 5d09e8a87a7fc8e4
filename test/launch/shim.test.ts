import { request } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SessionShim } from '../../src/cli/launch/session-shim.js'

const HUGE = 8 * 1024 * 1024 + 1
let shim: SessionShim
let handled: unknown[]

beforeEach(async () => {
  handled = []
  shim = await SessionShim.open({
    '/mcp': {
      methods: ['POST'],
      handle: async (_request, body) => {
        handled.push(body)
        return Response.json({ ok: true })
      },
      refuse: (status, detail) => Response.json({ error: detail }, { status }),
    },
  })
})
afterEach(() => shim.close())

interface Sent {
  readonly headers?: Record<string, string>
  readonly body?: string
  readonly path?: string
  readonly method?: string
}

/** With the secret, unless other headers say otherwise. */
function ask({ headers = {}, body = '{}', path = '/mcp', method = 'POST' }: Sent = {}): Promise<number> {
  const { hostname, port } = new URL(shim.url)
  return new Promise((resolve, reject) => {
    const sent = request(
      { hostname, port, path, method, headers: { authorization: `Bearer ${shim.secret}`, ...headers } },
      (response) => {
        response.resume()
        response.on('end', () => resolve(response.statusCode ?? 0))
      },
    )
    sent.on('error', (error: NodeJS.ErrnoException) => (error.code === 'EPIPE' ? resolve(413) : reject(error)))
    sent.end(method === 'POST' ? body : undefined)
  })
}

describe('the local address of a session', () => {
  it.each([
    ['without a secret', { headers: { authorization: '' } }, 401],
    ['with a wrong secret', { headers: { authorization: `Bearer ${'x'.repeat(43)}` } }, 401],
    ['with the secret in another form', { headers: { authorization: 'Basic abc' } }, 401],
    ['with a foreign Host', { headers: { host: 'evil.example' } }, 403],
    ['with another name of the loopback', { headers: { host: 'localhost' } }, 403],
    ['from a web page', { headers: { origin: 'http://127.0.0.1:8000' } }, 403],
    ['that is not JSON', { body: '{"jsonrpc": ' }, 400],
    ['that is empty', { body: '' }, 400],
    ['that is huge', { body: `"${'x'.repeat(HUGE)}"` }, 413],
    ['for another path', { path: '/api/v1/approvals' }, 404],
    ['with another method', { method: 'DELETE' }, 405],
  ])('[REQ-LAUNCH-3] refuses a request %s, and lives on', async (_name, sent, status) => {
    expect(await ask(sent)).toBe(status)
    expect(handled).toEqual([])
    expect(await ask()).toBe(200)
    expect(handled).toEqual([{}])
  })

  it('[REQ-LAUNCH-3] counts requests of strangers, for the person to see', async () => {
    await ask({ headers: { authorization: 'Bearer guess' } })
    await ask({ headers: { host: 'evil.example' } })
    await ask({ body: 'no JSON' })
    expect(shim.refused).toBe(2)
  })

  it('[REQ-LAUNCH-3] has a secret of its own for every session', async () => {
    const other = await SessionShim.open({})
    expect(other.secret).not.toBe(shim.secret)
    expect(await ask({ headers: { authorization: `Bearer ${other.secret}` } })).toBe(401)
    await other.close()
  })
})
