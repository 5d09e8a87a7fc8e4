import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Running, start } from '../http/harness.js'
import { say } from './wire.js'

const BODY = '{"title":"x"}'

describe('bytes that are not the request they seem to be', () => {
  let run: Running
  beforeAll(async () => {
    run = await start()
  })
  afterAll(async () => {
    expect((await run.call('GET', '/audit/verify', run.operator)).body).toMatchObject({ ok: true, problems: [] })
    expect(run.faults).toEqual([])
    await run.stop()
  })

  const host = () => `Host: 127.0.0.1:${run.port}`
  const bearer = () => `Authorization: Bearer ${run.operator}`
  const lines = (...parts: readonly string[]) => `${parts.join('\r\n')}\r\n\r\n`
  /** A right request to make a task, with other headers. */
  const post = (headers: readonly string[], body: string | Buffer = BODY) =>
    Buffer.concat([
      Buffer.from(
        lines('POST /api/v1/tasks HTTP/1.1', host(), bearer(), 'Content-Type: application/json', ...headers),
        'latin1',
      ),
      Buffer.from(body),
    ])
  const tasks = async () =>
    ((await run.call('GET', '/tasks?limit=1000', run.operator)).body.tasks as readonly unknown[]).length
  /** Refused, closed, nothing done, nothing leaked, and the server goes on. */
  const refused = async (bytes: string | Buffer, statuses: readonly number[]) => {
    const before = await tasks()
    const heard = await say(run.port, bytes)
    expect(heard.isClosed).toBe(true)
    expect(heard.statuses.length).toBeLessThanOrEqual(1)
    for (const status of heard.statuses) expect(statuses).toContain(status)
    for (const secret of [run.operator, run.stateDir, 'node_modules', 'workflow_loaded'])
      expect(heard.text).not.toContain(secret)
    if (heard.text.includes('\r\n\r\n{')) {
      expect(heard.text).toContain('application/problem+json')
      expect(JSON.parse(heard.text.slice(heard.text.indexOf('\r\n\r\n{') + 4))).toMatchObject({
        code: expect.any(String),
        detail: expect.any(String),
        status: heard.statuses[0],
      })
    }
    expect(await tasks()).toBe(before)
    expect((await run.call('GET', '/health', null)).status).toBe(200)
    return heard
  }

  it('[REQ-GARBAGE-2] the right request, sent by hand, is taken: the control of this file', async () => {
    const before = await tasks()
    const heard = await say(run.port, post([`Content-Length: ${BODY.length}`, 'Connection: close']))
    expect(heard).toMatchObject({ statuses: [201], isClosed: true })
    expect(await tasks()).toBe(before + 1)
  })

  it.each<[string, () => string | Buffer, readonly number[]]>([
    ['64 KiB of headers', () => lines('GET /health HTTP/1.1', host(), `X-Big: ${'z'.repeat(65_536)}`), [400]],
    [
      '5,000 headers',
      () => lines('GET /health HTTP/1.1', host(), ...Array.from({ length: 5000 }, (_, i) => `X${i}: 1`)),
      [400],
    ],
    ['a target of 64 KiB', () => lines(`GET /${'a'.repeat(65_536)} HTTP/1.1`, host()), [400]],
    [
      '10 MiB and one byte, announced',
      () => post([`Content-Length: ${10 * 1024 * 1024 + 1}`, 'Connection: close']),
      [413],
    ],
    [
      '10 MiB and one byte, in chunks',
      () => {
        const chunk = `100000\r\n${' '.repeat(0x100000)}\r\n`
        return post(['Transfer-Encoding: chunked', 'Connection: close'], `${chunk.repeat(10)}1\r\n \r\n0\r\n\r\n`)
      },
      [413],
    ],
    ['a chunk size that is no number', () => post(['Transfer-Encoding: chunked'], 'zz\r\n{}\r\n0\r\n\r\n'), [400]],
    ['a chunk longer than it says', () => post(['Transfer-Encoding: chunked'], `1\r\n${BODY}\r\n0\r\n\r\n`), [400]],
    [
      'a chunk size beyond all numbers',
      () => post(['Transfer-Encoding: chunked'], `${'f'.repeat(17)}\r\n{}\r\n`),
      [400, 413],
    ],
    ['a negative length', () => post(['Content-Length: -1']), [400]],
    ['a length with a sign', () => post(['Content-Length: +13']), [400]],
    ['a length in hexadecimal', () => post(['Content-Length: 0xd']), [400]],
    ['a length of 30 digits', () => post([`Content-Length: ${'9'.repeat(30)}`]), [400]],
    ['two different lengths', () => post(['Content-Length: 13', 'Content-Length: 5']), [400]],
    ['two lengths in one header', () => post(['Content-Length: 13, 13']), [400]],
    [
      'a length and chunks (request smuggling)',
      () => post(['Content-Length: 13', 'Transfer-Encoding: chunked'], `0\r\n\r\n`),
      [400],
    ],
    [
      'chunks and a length (request smuggling)',
      () => post(['Transfer-Encoding: chunked', 'Content-Length: 4'], `0\r\n\r\n`),
      [400],
    ],
    ['chunked twice', () => post(['Transfer-Encoding: chunked, chunked'], `d\r\n${BODY}\r\n0\r\n\r\n`), [400]],
    ['another transfer encoding', () => post(['Transfer-Encoding: gzip'], BODY), [400, 501]],
    ['a hidden transfer encoding', () => post(['Transfer-Encoding : chunked'], `0\r\n\r\n`), [400]],
    [
      'a bare line feed for a line end',
      () => `POST /api/v1/tasks HTTP/1.1\n${host()}\n${bearer()}\nContent-Length: 0\n\n`,
      [400],
    ],
    ['a folded header', () => lines('GET /health HTTP/1.1', host(), 'X-Fold: a', '  b', 'Connection: close'), [400]],
    [
      'a folded Host',
      () => lines('GET /health HTTP/1.1', 'Host:', ` 127.0.0.1:${run.port}`, 'Connection: close'),
      [400, 403],
    ],
    ['a header without a colon', () => lines('GET /health HTTP/1.1', host(), 'nonsense'), [400]],
    ['a header name with a space', () => lines('GET /health HTTP/1.1', host(), 'X Y: 1'), [400]],
    ['a NUL in a header', () => lines('GET /health HTTP/1.1', host(), 'X: a\0b'), [400]],
    ['a line feed in a header', () => lines('GET /health HTTP/1.1', host(), 'X: a\rb'), [400]],
    ['a line break and a Host in the path', () => `GET /health\r\n${host()} HTTP/1.1\r\n\r\n`, [400, 403]],
    ['a space in the path', () => lines('GET /hea lth HTTP/1.1', host()), [400]],
    [
      'a byte above 127 in the path',
      () => Buffer.from(lines('GET /\u00ff\u0080 HTTP/1.1', host(), 'Connection: close'), 'latin1'),
      [400, 404],
    ],
    ['no Host', () => lines('GET /health HTTP/1.1', 'Connection: close'), [400, 403]],
    ['two Hosts', () => lines('GET /health HTTP/1.1', host(), 'Host: evil.example', 'Connection: close'), [400, 403]],
    ['the same Host twice', () => lines('GET /health HTTP/1.1', host(), host(), 'Connection: close'), [400, 403]],
    [
      'a Host with userinfo',
      () => lines('GET /health HTTP/1.1', `Host: evil@127.0.0.1:${run.port}`, 'Connection: close'),
      [403],
    ],
    ['a Host with a path', () => lines('GET /health HTTP/1.1', `${host()}/x`, 'Connection: close'), [403]],
    ['a Host list', () => lines('GET /health HTTP/1.1', `${host()}, evil.example`, 'Connection: close'), [403]],
    [
      'a Host with a dot at its end',
      () => lines('GET /health HTTP/1.1', `Host: localhost.:${run.port}`, 'Connection: close'),
      [403],
    ],
    ['HTTP/1.0 without Host', () => lines('GET /health HTTP/1.0'), [400, 403]],
    ['HTTP/0.9', () => 'GET /health\r\n\r\n', [400, 403]],
    ['HTTP/2 with prior knowledge', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400]],
    ['HTTP/9.9', () => lines('GET /health HTTP/9.9', host()), [400]],
    [
      'an absolute target elsewhere',
      () => lines('GET http://evil.example/health HTTP/1.1', host(), 'Connection: close'),
      [403],
    ],
    [
      'an absolute target here',
      () => lines(`GET http://127.0.0.1:${run.port}/health HTTP/1.1`, host(), 'Connection: close'),
      [403],
    ],
    [
      'an absolute target, foreign Host',
      () => lines(`GET http://127.0.0.1:${run.port}/health HTTP/1.1`, 'Host: evil.example', 'Connection: close'),
      [403],
    ],
    ['the target *', () => lines('OPTIONS * HTTP/1.1', host(), 'Connection: close'), [403, 404]],
    ['CONNECT', () => lines('CONNECT evil.example:443 HTTP/1.1', host()), [400, 403, 404]],
    ['TRACE', () => lines('TRACE /api/v1/tasks HTTP/1.1', host(), bearer(), 'Connection: close'), [400, 405]],
    [
      'OPTIONS with a foreign Origin',
      () =>
        lines(
          'OPTIONS /api/v1/tasks HTTP/1.1',
          host(),
          'Origin: http://evil.example',
          'Access-Control-Request-Method: POST',
          'Connection: close',
        ),
      [403],
    ],
    ['a method of lower-case letters', () => lines('get /health HTTP/1.1', host()), [400]],
    ['a method nobody knows', () => lines('FROBNICATE /health HTTP/1.1', host()), [400]],
    ['a TLS hello', () => Buffer.from('16030100c8010000c403035d', 'hex'), [400]],
    ['512 random bytes', () => Buffer.from(Array.from({ length: 512 }, (_, i) => (i * 197 + 31) % 256)), [400]],
    [
      'an expectation nobody has',
      () => post(['Expect: 200-maybe', `Content-Length: ${BODY.length}`, 'Connection: close']),
      [400, 417],
    ],
    [
      'a gzip body',
      () => {
        const packed = gzipSync(BODY)
        return post(['Content-Encoding: gzip', `Content-Length: ${packed.length}`, 'Connection: close'], packed)
      },
      [400, 415],
    ],
    [
      'a gzip bomb',
      () => {
        const packed = gzipSync(Buffer.alloc(50_000_000))
        return post(['Content-Encoding: gzip', `Content-Length: ${packed.length}`, 'Connection: close'], packed)
      },
      [400, 415],
    ],
    ['a body shorter than it says, then an end', () => post(['Content-Length: 5', 'Connection: close']), [400]],
  ])('[REQ-GARBAGE-2] %s: refused, closed, nothing done', async (_, bytes, statuses) => {
    await refused(bytes(), statuses)
  })

  it('[REQ-GARBAGE-2] bytes after the body are read as another request and refused, and make no second task', async () => {
    const before = await tasks()
    const heard = await say(
      run.port,
      Buffer.concat([post([`Content-Length: ${BODY.length}`]), Buffer.from('GARBAGE\r\n\r\n')]),
    )
    expect(heard).toMatchObject({ statuses: [201, 400], isClosed: true })
    expect(await tasks()).toBe(before + 1)
  })

  it('[REQ-GARBAGE-2] a body that never comes keeps nobody else waiting', async () => {
    const open = say(run.port, post(['Content-Length: 100'], '{'), { waitMs: 1000 })
    const answers = await Promise.all(Array.from({ length: 20 }, () => run.call('GET', '/tasks', run.operator)))
    expect(answers.every((one) => one.status === 200)).toBe(true)
    expect((await open).statuses).toEqual([])
  })

  it('[REQ-GARBAGE-2] requests sent in one piece are answered in order', async () => {
    const one = (path: string) => lines(`GET ${path} HTTP/1.1`, host(), bearer())
    const paths = ['/health', '/api/v1/tasks', '/nope', '/api/v1/audit/stats', '/health']
    const heard = await say(run.port, paths.map(one).join(''), { answers: paths.length })
    expect(heard.statuses).toEqual([200, 200, 404, 200, 200])
  })

  it('[REQ-GARBAGE-2] a right request with Expect: 100-continue or over HTTP/1.0 is served', async () => {
    const expecting = await say(
      run.port,
      post(['Expect: 100-continue', `Content-Length: ${BODY.length}`, 'Connection: close']),
    )
    expect(expecting.statuses.at(-1)).toBe(201)
    const old = await say(run.port, lines('GET /health HTTP/1.0', host()))
    expect(old).toMatchObject({ statuses: [200], isClosed: true })
  })

  it('[REQ-GARBAGE-2] after an upgrade that is not taken the connection is closed, so that nothing after it waits for ever', async () => {
    const upgrade = lines('GET /health HTTP/1.1', host(), 'Upgrade: websocket', 'Connection: upgrade')
    const heard = await say(run.port, upgrade + lines('GET /health HTTP/1.1', host(), `X: ${'z'.repeat(20_000)}`))
    expect(heard).toMatchObject({ statuses: [200], isClosed: true })
  })

  it('[REQ-GARBAGE-2] HEAD of the event stream is answered', async () => {
    const heard = await say(run.port, lines('HEAD /api/v1/events HTTP/1.1', host(), bearer(), 'Connection: close'))
    expect(heard).toMatchObject({ statuses: [200], isClosed: true })
  })

  it.each([
    ['of 200', 'k'.repeat(200), 201],
    ['of 201', 'k'.repeat(201), 400],
    ['of 2,000', 'k'.repeat(2000), 400],
    ['of nothing', '', 400],
  ] as const)('[REQ-GARBAGE-3] an Idempotency-Key %s characters is judged by its length', async (_, key, status) => {
    const answer = await run.call('POST', '/tasks', run.operator, { title: 'x' }, { 'idempotency-key': key })
    expect(answer.status).toBe(status)
    if (status === 400)
      expect(answer.body).toMatchObject({ code: 'invalid_request', detail: expect.stringContaining('Idempotency-Key') })
  })
})
