import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildServer } from '../../src/http/server.js'
import { type Running, start } from './harness.js'

describe('a localhost server on a hostile network', () => {
  let run: Running
  beforeAll(async () => {
    run = await start()
  })
  afterAll(() => run.stop())

  /** Sends bytes and gives the first answer whole. */
  const raw = (text: string) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(run.port, '127.0.0.1', () => socket.write(text))
      let answer = ''
      socket.on('data', (chunk) => {
        answer += chunk.toString()
      })
      socket.on('end', () => resolve(answer))
      socket.on('error', reject)
      setTimeout(() => socket.destroy(), 1500).unref()
      socket.on('close', () => resolve(answer))
    })

  it.each([
    ['no Host at all', 'GET /health HTTP/1.0\r\n\r\n'],
    ['a foreign Host', 'GET /health HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n'],
    ['a Host with another port', 'GET /health HTTP/1.1\r\nHost: localhost:1\r\nConnection: close\r\n\r\n'],
  ])('[REQ-HTTP-1] a request with %s is refused', async (_, text) => {
    const answer = await raw(text)
    expect(answer).toMatch(/^HTTP\/1\.1 (400|403)/)
    expect(answer).not.toContain('workflow_loaded')
  })

  it('[REQ-HTTP-1] two Host headers and an absolute target are refused, one right Host is served', async () => {
    const host = `localhost:${run.port}`
    expect(
      await raw(`GET /health HTTP/1.1\r\nHost: ${host}\r\nHost: evil.example\r\nConnection: close\r\n\r\n`),
    ).not.toContain('workflow_loaded')
    expect(
      await raw(`GET http://evil.example/health HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
    ).not.toContain('workflow_loaded')
    expect(await raw(`GET /health HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).toContain('workflow_loaded')
  })

  it('[REQ-HTTP-2] a foreign Origin is refused whatever the token, and the refusal has no CORS header', async () => {
    for (const origin of ['http://evil.example', 'null', `http://localhost:${run.port}.evil.example`, 'file://']) {
      const answer = await run.call('GET', '/tasks', run.operator, undefined, { origin })
      expect(answer, origin).toMatchObject({ status: 403, body: { code: 'host_not_allowed' } })
      expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    }
    expect(
      (await run.call('GET', '/tasks', run.operator, undefined, { origin: `http://127.0.0.1:${run.port}` })).status,
    ).toBe(200)
  })

  it('[REQ-HTTP-3] a body that is not JSON is refused by its type', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])
      expect(
        await run.call('POST', '/tasks', run.operator, '{"title":"x"}', { 'content-type': type }),
        type,
      ).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } })
  })

  it.each([
    ['broken JSON', '{"title":'],
    ['a list', '[]'],
    ['null', 'null'],
    ['a prototype key', '{"title":"x","metadata":{"__proto__":{"admin":true}}}'],
    ['a constructor key', '{"title":"x","metadata":{"constructor":1}}'],
    ['65 levels', `{"title":"x","metadata":${'{"a":'.repeat(64)}1${'}'.repeat(64)}}`],
    ['a million levels', '['.repeat(1_000_000)],
    ['an unknown field', '{"title":"x","admin":true}'],
    ['a number as title', '{"title":1}'],
    ['an empty title', '{"title":""}'],
    ['a path as id', '{"title":"x","id":"../../etc"}'],
    ['half a character', '{"title":"\\ud800"}'],
    ['half a character in a key', '{"title":"x","metadata":{"\\ud800":1}}'],
    ['a NUL in the title', '{"title":"a\\u0000b"}'],
    ['a line break in the title', '{"title":"a\\nb"}'],
    ['an unknown mode', '{"title":"x","mode":"off"}'],
    ['an unknown dependency', '{"title":"x","depends_on":["nope"]}'],
    ['a workspace that is no directory', '{"title":"x","workspace":"/nowhere/at/all"}'],
    ['a relative workspace', '{"title":"x","workspace":"tree"}'],
  ])('[REQ-HTTP-4] %s is a 400 that says what is wrong, and the server lives', async (_, body) => {
    const answer = await run.call('POST', '/tasks', run.operator, body)
    expect(answer).toMatchObject({
      status: 400,
      body: {
        code: 'invalid_request',
        title: expect.any(String),
        detail: expect.any(String),
        type: expect.any(String),
        status: 400,
        remedy: expect.any(String),
      },
    })
    expect(answer.headers.get('content-type')).toContain('application/problem+json')
    expect((await run.call('GET', '/health', null)).status).toBe(200)
  })

  it('[REQ-HTTP-4] the refusal names the field', async () => {
    expect((await run.call('POST', '/tasks', run.operator, { title: 'x', depnds_on: [] })).body.detail).toBe(
      'depnds_on: is not a known field',
    )
    expect((await run.call('POST', '/tasks', run.operator, {})).body.detail).toBe('title: is missing')
    expect((await run.call('GET', '/audit/query?limit=0', run.operator)).body.detail).toContain('query.limit')
    expect((await run.call('GET', '/audit/query?nope=1', run.operator)).body.detail).toContain('query.nope')
    for (const path of ['/audit/query?cursor=zzz', '/tasks?cursor=%00', '/approvals?cursor=-1'])
      expect(await run.call('GET', path, run.operator), path).toMatchObject({
        status: 400,
        body: { code: 'invalid_request' },
      })
  })

  it('[REQ-HTTP-5] a body over the limit is 413', async () => {
    const answer = await run.call('POST', '/tasks', run.operator, {
      title: 'x',
      description: 'y'.repeat(10 * 1024 * 1024),
    })
    expect(answer).toMatchObject({ status: 413, body: { code: 'payload_too_large' } })
  })

  it('[REQ-HTTP-6] unknown paths are 404 problems', async () => {
    for (const [method, path] of [
      ['GET', '/nope'],
      ['DELETE', '/nope'],
      ['GET', '/tasks/nope'],
      ['GET', '/approvals/apr-1-nope'],
      ['GET', '/contracts/nope'],
      ['GET', '/api/v1/../../etc/passwd'],
      ['GET', '/schemas/..%2f..%2fpackage.json'],
    ] as const)
      expect(await run.call(method, path, run.operator), path).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      })
  })

  it('[REQ-HTTP-11] a connection is given up for what its client is slow to send, never for what a tool takes', () => {
    const { server: entrance } = buildServer(run.app, { hosts: () => new Set(), onFault: () => undefined })
    const { timeout, requestTimeout, headersTimeout } = entrance.server
    expect({ timeout, requestTimeout, headersTimeout }).toEqual({
      timeout: 0,
      requestTimeout: 60_000,
      headersTimeout: 10_000,
    })
  })

  it('[REQ-HTTP-7] strangers are slowed down and cannot fill the ledger', async () => {
    const answers = await Promise.all(Array.from({ length: 300 }, () => run.call('GET', '/tasks', 'plop_wrong')))
    const limited = answers.filter((one) => one.status === 429)
    expect(limited.length).toBeGreaterThan(100)
    expect(limited[0]).toMatchObject({ body: { code: 'rate_limited' } })
    expect(Number(limited[0]?.headers.get('retry-after'))).toBeGreaterThan(0)
    const recorded = (await run.call('GET', '/audit/query?type=request_refused&limit=1000', run.operator)).body
      .events as { actor: string; at: string }[]
    const minutes = new Map<string, number>()
    for (const event of recorded.filter((one) => one.actor === 'stranger'))
      minutes.set(event.at.slice(0, 16), (minutes.get(event.at.slice(0, 16)) ?? 0) + 1)
    expect(minutes.size).toBeGreaterThan(0)
    for (const count of minutes.values()) expect(count).toBeLessThanOrEqual(60)
    expect((await run.call('GET', '/tasks', run.operator)).status).toBe(200)
  })

  it('[REQ-HTTP-8] an agent is slowed down by its own limit and operators are not', async () => {
    const slow = await start({ agentPerSecond: 2 })
    const agent = await slow.addAgent('a')
    const codes = await Promise.all(
      Array.from({ length: 40 }, () => slow.call('POST', '/tasks/claim', agent, { agent_id: 'a' })),
    )
    expect(codes.some((one) => one.status === 429)).toBe(true)
    const operator = await Promise.all(Array.from({ length: 200 }, () => slow.call('GET', '/tasks', slow.operator)))
    expect(operator.every((one) => one.status === 200)).toBe(true)
    await slow.stop()
  })

  it('[REQ-HTTP-9] pages and answers carry security headers, and no page loads anything from elsewhere', async () => {
    for (const path of ['/', '/docs', '/docs/errors']) {
      const answer = await run.call('GET', path, null)
      expect(answer.status, path).toBe(200)
      expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
      expect(String((answer.body as { text?: string }).text)).not.toMatch(/(src|href)="(https?:)?\/\//)
    }
  })

  it('[REQ-HTTP-10] the OpenAPI document lists every endpoint and needs no token; metrics carry no task texts', async () => {
    await run.addTask({ title: 'Very private title' })
    const document = await run.call('GET', '/api/v1/openapi.json', null)
    expect(document.body).toMatchObject({ openapi: '3.1.0' })
    const paths = document.body.paths as Record<string, unknown>
    for (const path of [
      '/tasks/claim',
      '/tasks/transition',
      '/tools/execute',
      '/tools/check',
      '/tools/batch',
      '/state/snapshot',
      '/tasks',
      '/tasks/{id}',
      '/approvals/{id}/decision',
      '/audit/query',
    ])
      expect(Object.keys(paths)).toContain(path)
    const metrics = String((await run.call('GET', '/metrics', null)).body.text)
    expect(metrics).toContain('phaselock_events_total')
    expect(metrics).not.toContain('private')
    expect((await run.call('GET', '/schemas/agent_workflow.schema.json', null)).body.$schema).toContain('2020-12')
    expect(run.faults).toEqual([])
  })
})
