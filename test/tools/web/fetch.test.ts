import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, createServer as createRawServer, type Server as RawServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { describeCall } from '../../../src/tools/describe-call.js'
import type { WebAccess } from '../../../src/tools/web/public-request.js'
import { isPublicAddress } from '../../../src/tools/web/web-address.js'
import { fetchPage } from '../../../src/tools/web/web-fetch.js'
import { contractOf, phase, World } from '../../core/world.js'

const servers: (Server | RawServer)[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    if ('closeAllConnections' in server) server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

async function listen(server: Server | RawServer, host = '127.0.0.1'): Promise<number> {
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  return (server.address() as AddressInfo).port
}

interface Site {
  readonly port: number
  readonly seen: string[]
}

async function site(answer: RequestListener): Promise<Site> {
  const seen: string[] = []
  const port = await listen(
    createServer((request, response) => {
      seen.push(`${request.headers.host} ${request.method} ${request.url}`)
      answer(request, response)
    }),
  )
  return { port, seen }
}

const page: RequestListener = (_request, response) => response.setHeader('content-type', 'text/plain').end('hello')

// Stands for the internet: the loopback address of the test's server counts as public, everything else as it really is.
function internet(names: Readonly<Record<string, readonly string[]>>, about: Partial<WebAccess> = {}) {
  const asked: string[] = []
  const access: WebAccess = {
    resolve: async (host) => {
      asked.push(host)
      return names[host] ?? []
    },
    isPublic: (address) => address === '127.0.0.1' || isPublicAddress(address),
    timeoutMs: 5000,
    ...about,
  }
  return { access, asked }
}

const never = new AbortController().signal
const fetchOf = (url: string, allowedHosts: readonly string[], access?: WebAccess) =>
  fetchPage({ url, allowedHosts, signal: never }, access)

describe('where web_fetch goes', () => {
  it.each([
    ['loopback', ['127.0.0.1']],
    ['loopback of IPv6', ['::1']],
    ['a private address', ['10.0.0.7']],
    ['the metadata service', ['169.254.169.254']],
    ['a mapped address', ['::ffff:127.0.0.1']],
    ['NAT64', ['64:ff9b::7f00:1']],
    ['one private address among public ones', ['8.8.8.8', '192.168.0.1']],
  ])('[REQ-WEB-2] an allowed host that leads to %s is refused', async (_name, addresses) => {
    const { access } = internet({ 'docs.example.org': addresses }, { isPublic: isPublicAddress })
    expect(await fetchOf('http://docs.example.org/', ['docs.example.org'], access)).toMatchObject({
      ok: false,
      code: 'constraint_violation',
    })
  })

  it('[REQ-WEB-2] an allowed host that leads to this machine is not asked', async () => {
    const { port, seen } = await site(page)
    const { access } = internet({ 'docs.example.org': ['127.0.0.1'] }, { isPublic: isPublicAddress })
    const outcome = await fetchOf(`http://docs.example.org:${port}/`, [`docs.example.org:${port}`], access)
    expect(outcome).toMatchObject({ ok: false, detail: expect.stringContaining('not a public address') })
    expect(seen).toEqual([])
  })

  it.each(['127.0.0.1', '2130706433', '0x7f.1', '017700000001', '127.1'])(
    '[REQ-WEB-2] %s is not asked even where the contract lists it',
    async (host) => {
      const { port, seen } = await site(page)
      const outcome = await fetchOf(`http://${host}:${port}/`, [`127.0.0.1:${port}`])
      expect(outcome).toMatchObject({ ok: false, code: 'constraint_violation' })
      expect(seen).toEqual([])
    },
  )

  it('[REQ-WEB-2] without anything lent, the real resolver is held to the same rule', async () => {
    const { port, seen } = await site(page)
    const outcome = await fetchOf(`http://localhost:${port}/`, [`localhost:${port}`])
    expect(outcome).toMatchObject({ ok: false, code: 'constraint_violation' })
    expect(seen).toEqual([])
  })

  it('[REQ-WEB-3] a name that changes after the check leads where it was checked', async () => {
    const { port, seen } = await site(page)
    let asked = 0
    const { access } = internet({})
    const outcome = await fetchOf(`http://docs.example.org:${port}/`, [`docs.example.org:${port}`], {
      ...access,
      resolve: async () => {
        asked += 1
        return asked === 1 ? ['127.0.0.1'] : ['10.0.0.1']
      },
    })
    expect(outcome).toMatchObject({ ok: true, result: { content: 'hello' } })
    expect(asked).toBe(1)
    expect(seen).toEqual([`docs.example.org:${port} GET /`])
  })

  it('[REQ-WEB-3] a connection that ends up at another address than a public one is cut before an answer is read', async () => {
    const { port } = await site(page)
    let judged = 0
    const { access } = internet({ 'docs.example.org': ['127.0.0.1'] }, { isPublic: () => ++judged === 1 })
    const outcome = await fetchOf(`http://docs.example.org:${port}/`, [`docs.example.org:${port}`], access)
    expect(outcome).toMatchObject({
      ok: false,
      detail: expect.stringContaining('led to an address that is not public'),
    })
  })

  it('[REQ-WEB-1] a host that the contract does not list is refused before its name is resolved', async () => {
    const { access, asked } = internet({})
    const outcome = await fetchOf('http://evil.example/', ['docs.example.org'], access)
    expect(outcome).toMatchObject({ ok: false, code: 'constraint_violation' })
    expect(asked).toEqual([])
  })

  it('[REQ-WEB-1] the decision refuses it as well, in every mode', () => {
    for (const mode of ['strict', 'permissive', 'advisory'] as const) {
      const contract = contractOf([phase('A', { allowedTools: ['web_fetch'] })], { webHosts: ['docs.example.org'] })
      const world = new World(contract, { mode })
      world.claim()
      expect(world.tool('web_fetch', describeCall(contract, 'web_fetch', { url: 'https://evil.example/' }))).toEqual([
        'tool_denied',
      ])
      expect(world.last()).toMatchObject({ code: 'constraint_violation' })
      expect(world.tool('web_fetch', describeCall(contract, 'web_fetch', { url: 'file:///etc/passwd' }))).toEqual([
        'tool_denied',
      ])
      expect(world.last()).toMatchObject({ code: 'invalid_request' })
      expect(
        world.tool('web_fetch', describeCall(contract, 'web_fetch', { url: 'https://docs.example.org/' })),
      ).toEqual(['tool_allowed'])
    }
  })
})

describe('redirects of web_fetch', () => {
  const to =
    (location: string): RequestListener =>
    (_request, response) =>
      response.writeHead(302, { location }).end()

  it.each([
    ['a private address', 'http://10.0.0.1/', 'does not list'],
    ['loopback', 'http://[::1]/', 'does not list'],
    ['another host', 'https://evil.example/', 'does not list'],
    ['another protocol', 'file:///etc/passwd', 'not an http'],
    ['an allowed host that leads inside', 'http://inside.example/', 'not a public address'],
  ])('[REQ-WEB-4] a redirect to %s is refused', async (_name, location, expected) => {
    const { port } = await site(to(location))
    const { access } = internet({ 'docs.example.org': ['127.0.0.1'], 'inside.example': ['10.0.0.1'] })
    const hosts = [`docs.example.org:${port}`, 'inside.example']
    const outcome = await fetchOf(`http://docs.example.org:${port}/`, hosts, access)
    expect(outcome).toMatchObject({ ok: false, detail: expect.stringContaining(expected) })
  })

  it('[REQ-WEB-4] the sixth redirect is not followed, the fifth is', async () => {
    const counting =
      (redirects: number): RequestListener =>
      (request, response) => {
        const at = Number(request.url?.slice(1))
        if (at < redirects) response.writeHead(307, { location: `/${at + 1}` }).end()
        else page(request, response)
      }
    const { access, asked } = internet({ a: ['127.0.0.1'] })
    const five = await site(counting(5))
    expect(await fetchOf(`http://a:${five.port}/0`, [`a:${five.port}`], access)).toMatchObject({
      ok: true,
      result: { url: `http://a:${five.port}/5` },
    })
    expect(asked).toHaveLength(6)
    const six = await site(counting(6))
    expect(await fetchOf(`http://a:${six.port}/0`, [`a:${six.port}`], access)).toMatchObject({
      ok: false,
      detail: 'web_fetch: more than 5 redirects',
    })
  })
})

describe('what web_fetch reads', () => {
  const ask = async (answer: RequestListener, about: Partial<WebAccess> = {}) => {
    const { port } = await site(answer)
    return fetchOf(`http://a:${port}/`, [`a:${port}`], internet({ a: ['127.0.0.1'] }, about).access)
  }

  it.each([
    ['a picture', 'image/png', 'is image/png, not text'],
    ['bytes', 'application/octet-stream', 'not text'],
    ['nothing said', '', 'has no content type'],
  ])('[REQ-WEB-5] %s is refused', async (_name, type, expected) => {
    const outcome = await ask((_request, response) => {
      if (type !== '') response.setHeader('content-type', type)
      response.end('x')
    })
    expect(outcome).toMatchObject({ ok: false, detail: expect.stringContaining(expected) })
  })

  it('[REQ-WEB-5] an answer that is compressed all the same is refused', async () => {
    const outcome = await ask((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }).end('x'),
    )
    expect(outcome).toMatchObject({ ok: false, detail: expect.stringContaining('encoded as gzip') })
  })

  it('[REQ-WEB-5] an answer of a mebibyte is whole, one byte more is cut and says so', async () => {
    const sized =
      (bytes: number): RequestListener =>
      (_request, response) =>
        response.setHeader('content-type', 'text/plain').end('x'.repeat(bytes))
    const whole = await ask(sized(1024 * 1024))
    expect(whole.ok && [String(whole.result.content).length, whole.result.truncated]).toEqual([1024 * 1024, false])
    const cut = await ask(sized(1024 * 1024 + 1))
    expect(cut.ok && [String(cut.result.content).length, cut.result.truncated]).toEqual([1024 * 1024, true])
  })

  it('[REQ-WEB-5] an answer that never ends is cut at the limit', async () => {
    const outcome = await ask((_request, response) => {
      response.setHeader('content-type', 'text/plain')
      const pour = (): void => {
        while (!response.destroyed && response.write('y'.repeat(65_536)));
        if (!response.destroyed) response.once('drain', pour)
      }
      pour()
    })
    expect(outcome).toMatchObject({ ok: true, result: { truncated: true } })
  })

  it.each<[string, RequestListener]>([
    ['no answer', () => undefined],
    ['half an answer', (_request, response) => response.writeHead(200, { 'content-type': 'text/plain' }).write('x')],
  ])('[REQ-WEB-5] %s ends at the time limit', async (_name, answer) => {
    const outcome = await ask(answer, { timeoutMs: 300 })
    expect(outcome).toMatchObject({ ok: false, code: 'tool_failed', detail: expect.stringContaining('timed out') })
  })

  it('[REQ-WEB-5] a name server that hangs ends at the time limit', async () => {
    const { access } = internet({}, { timeoutMs: 200, resolve: () => new Promise(() => undefined) })
    const outcome = await fetchOf('http://a/', ['a'], access)
    expect(outcome).toMatchObject({ ok: false, detail: expect.stringContaining('timed out') })
  })

  it('[REQ-WEB-5] a call that is stopped ends at once', async () => {
    const { port } = await site(() => undefined)
    const stop = new AbortController()
    const { access } = internet({ a: ['127.0.0.1'] })
    setTimeout(() => stop.abort(), 100)
    const outcome = await fetchPage(
      { url: `http://a:${port}/`, allowedHosts: [`a:${port}`], signal: stop.signal },
      access,
    )
    expect(outcome).toMatchObject({ ok: false, detail: 'web_fetch: the call was stopped' })
  })

  it.each([
    ['no HTTP', 'hello\r\n\r\n'],
    ['headers without end', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}`],
    ['an answer cut off', 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 9\r\n\r\nabc'],
    ['a length and chunks at once', 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\nabc'],
  ])('[REQ-WEB-5] %s is a failure of the tool', async (_name, text) => {
    const port = await listen(
      createRawServer((socket) =>
        socket
          .on('error', () => undefined)
          .resume()
          .end(text),
      ),
    )
    const outcome = await fetchOf(`http://a:${port}/`, [`a:${port}`], internet({ a: ['127.0.0.1'] }).access)
    expect(outcome).toMatchObject({ ok: false, code: 'tool_failed' })
  })

  it('[REQ-WEB-6] the answer has its status, address, type and text, also when it is an error', async () => {
    const outcome = await ask((request, response) =>
      response
        .writeHead(404, { 'content-type': 'application/problem+json; charset=utf-8' })
        .end(JSON.stringify({ cookie: request.headers.cookie ?? null, encoding: request.headers['accept-encoding'] })),
    )
    expect(outcome).toMatchObject({
      ok: true,
      changes: [],
      result: {
        status: 404,
        content_type: 'application/problem+json; charset=utf-8',
        content: '{"cookie":null,"encoding":"identity"}',
        truncated: false,
      },
    })
  })

  it('[REQ-WEB-6] another charset is decoded, an unknown one is read as UTF-8', async () => {
    const answer =
      (charset: string): RequestListener =>
      (_request, response) =>
        response.setHeader('content-type', `text/plain; charset=${charset}`).end(Buffer.from([0x61, 0xe9]))
    expect(await ask(answer('iso-8859-1'))).toMatchObject({ result: { content: 'aé' } })
    expect(await ask(answer('nonsense'))).toMatchObject({ result: { content: 'a\ufffd' } })
  })

  it('[REQ-WEB-3] no proxy of the environment is used', async () => {
    const proxy = await site(page)
    const { port, seen } = await site(page)
    const kept = { ...process.env }
    for (const name of ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY'])
      process.env[name] = `http://127.0.0.1:${proxy.port}`
    process.env.NODE_USE_ENV_PROXY = '1'
    try {
      const { access } = internet({ a: ['127.0.0.1'] })
      expect(await fetchOf(`http://a:${port}/`, [`a:${port}`], access)).toMatchObject({ ok: true })
    } finally {
      process.env = kept
    }
    expect([proxy.seen, seen]).toEqual([[], [`a:${port} GET /`]])
  })
})
