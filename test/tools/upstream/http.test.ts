import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/core/json.js'
import { detailOf, http, Stage, textOf } from './harness.js'

interface Request {
  readonly id?: number
  readonly method: string
  readonly params?: { readonly name?: string; readonly arguments?: JsonObject }
}

type Tool = (response: ServerResponse, request: Request, remote: Remote) => void

const answer = (response: ServerResponse, request: Request, result: JsonObject): void => {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', id: request.id, result }))
}
const text = (said: string): JsonObject => ({ content: [{ type: 'text', text: said }] })

const TOOLS: Readonly<Record<string, Tool>> = {
  echo: (response, request) => answer(response, request, text(String(request.params?.arguments?.text ?? 'hi'))),
  stream: (response, request) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(
      'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}\n\n',
    )
    const message = { jsonrpc: '2.0', id: request.id, result: text('streamed') }
    response.end(`event: message\ndata: ${JSON.stringify(message)}\n\n`)
  },
  hang: () => undefined,
  half: (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': wait\n\n'),
  cut: (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' }).write('{')
    setTimeout(() => response.destroy(), 50)
  },
  ends_without_answer: (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': bye\n\n'),
  huge: (response) => pour(response, 'application/json', '['),
  flood: (response) => pour(response, 'text/event-stream', 'data: x\n\n'),
  no_json: (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('<html>'),
  html: (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
  broken: (response) => response.writeHead(500).end('a stack trace'),
  redirect: (response, _request, remote) => response.writeHead(307, { location: `${remote.url}/elsewhere` }).end(),
  wrong_result: (response, request) => answer(response, request, { content: 'no list' }),
}

function pour(response: ServerResponse, type: string, piece: string): void {
  response.writeHead(200, { 'content-type': type })
  const more = (): void => {
    while (!response.destroyed && response.write(piece.repeat(8192)));
    if (!response.destroyed) response.once('drain', more)
  }
  more()
}

/** A streamable HTTP server on the loopback address, with a session for each client. */
class Remote {
  readonly seen: string[] = []
  readonly headers: IncomingMessage['headers'][] = []
  session = 1
  private readonly server: Server

  constructor() {
    this.server = createServer((request, response) => void this.serve(request, response))
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve))
    return this
  }

  async close(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    const message = (body === '' ? { method: request.method } : JSON.parse(body)) as Request
    this.seen.push(`${request.url} ${message.params?.name ?? message.method}`)
    this.headers.push(request.headers)
    if (message.method === 'initialize') {
      response.setHeader('mcp-session-id', String(this.session))
      const serverInfo = { name: 'remote', version: '1' }
      answer(response, message, { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo })
    } else if (request.headers['mcp-session-id'] !== String(this.session)) response.writeHead(404).end()
    else if (message.id === undefined) response.writeHead(202).end()
    else if (message.method === 'tools/list')
      answer(response, message, {
        tools: Object.keys(TOOLS).map((name) => ({ name, inputSchema: { type: 'object' } })),
      })
    else TOOLS[message.params?.name ?? '']?.(response, message, this)
  }
}

const closing: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of closing.splice(0)) await one.close()
})

async function scene(): Promise<{ readonly one: Stage; readonly remote: Remote }> {
  const remote = await new Remote().listen()
  const one = new Stage()
  closing.push(one, remote)
  return { one, remote }
}

describe('a server that runs elsewhere', () => {
  it.each([
    ['never answers', 'hang', 'no answer within 1 seconds (timed out)'],
    ['begins an answer and stops', 'half', 'no answer within 1 seconds (timed out)'],
    ['breaks off its answer', 'cut', 'the server '],
    ['ends without an answer', 'ends_without_answer', 'up.ends_without_answer: '],
    ['sends an answer without end', 'huge', 'larger than 8388608 bytes'],
    ['sends events without end', 'flood', 'up.flood: '],
    ['sends what is no JSON', 'no_json', 'the server '],
    ['sends a page', 'html', 'the server '],
    ['is broken', 'broken', 'the server '],
    ['leads elsewhere', 'redirect', 'unexpected redirect'],
    ['sends a result of the wrong shape', 'wrong_result', 'Invalid result'],
  ])('[REQ-UPSTREAM-10] that %s fails the call in time, and the next call works', async (_name, tool, expected) => {
    const { one, remote } = await scene()
    const server = http(remote.url)
    const pins = await one.pins(server)
    const began = performance.now()
    const result = await one.callPinned(server, { tool, args: {}, pins }, { timeoutMs: 1000 })
    expect(performance.now() - began).toBeLessThan(2500)
    expect(result).toMatchObject({ outcome: { ok: false, code: 'tool_failed' }, changes: null })
    expect(detailOf(result)).toContain(expected)
    expect(remote.seen.filter((line) => line.startsWith('/elsewhere'))).toEqual([])
    expect(textOf(await one.callPinned(server, { tool: 'echo', args: {}, pins }))).toBe('hi')
  })

  it('[REQ-UPSTREAM-10] that is not there cannot be listed', async () => {
    const { one, remote } = await scene()
    const { url } = remote
    await remote.close()
    const listing = await one.upstream.listTools(http(url), one.place())
    expect(listing).toMatchObject({ ok: false, code: 'tool_failed', detail: expect.stringContaining('ECONNREFUSED') })
    closing.pop()
  })

  it('[REQ-UPSTREAM-10] that forgot the session is greeted again, once', async () => {
    const { one, remote } = await scene()
    const server = http(remote.url)
    const pins = await one.pins(server)
    remote.session += 1
    expect(textOf(await one.callPinned(server, { tool: 'echo', args: {}, pins }))).toBe('hi')
    expect(remote.seen.filter((line) => line.endsWith('initialize'))).toHaveLength(2)
    expect(remote.seen.filter((line) => line.endsWith('echo'))).toHaveLength(1)
  })

  it('[REQ-UPSTREAM-10] answers at once or in a stream', async () => {
    const { one, remote } = await scene()
    const server = http(remote.url)
    expect(textOf(await one.call(server, 'echo', { text: 'there' }))).toBe('there')
    expect(textOf(await one.call(server, 'stream'))).toBe('streamed')
  })

  it('[REQ-UPSTREAM-10] is asked nothing but what is needed, without credentials, and reported the end', async () => {
    const { one, remote } = await scene()
    await one.call(http(remote.url), 'echo')
    await one.upstream.close()
    expect(remote.seen).toEqual([
      '/ initialize',
      '/ notifications/initialized',
      '/ tools/list',
      '/ tools/list',
      '/ echo',
      '/ DELETE',
    ])
    expect(
      remote.headers.flatMap((headers) => Object.keys(headers)).filter((name) => /auth|cookie/.test(name)),
    ).toEqual([])
    expect(one.unconfined.jobs).toEqual([])
  })
})
