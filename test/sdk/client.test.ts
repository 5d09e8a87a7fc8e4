import { spawn } from 'node:child_process'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createRawServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { AgentClient, ApiError, InvalidOptions, PhaselockError, Unreachable } from '../../sdk/typescript/src/index.js'
import { builtSdk, ROOT } from './built.js'

const open: { close(): void }[] = []
afterEach(() => {
  for (const one of open.splice(0)) one.close()
})

async function listen(server: Server, path?: string): Promise<number> {
  open.push(server)
  await new Promise<void>((resolve) =>
    path === undefined ? server.listen(0, '127.0.0.1', resolve) : server.listen(path, resolve),
  )
  const address = server.address()
  return typeof address === 'string' ? 0 : ((address as AddressInfo | null)?.port ?? 0)
}

/** A token as the server makes them, which nobody could have signed. */
function token(claims: Record<string, unknown>): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'HS256' })}.${part(claims)}.${'s'.repeat(43)}`
}

const AGENT = token({ sub: 'coder', instance: 'i' })

/** The answer to a claim, from a server that knows nothing else. */
function claim(phase: Record<string, unknown> = {}): string {
  const now = Math.floor(Date.now() / 1000)
  const claims = { sub: 'coder', task_id: 't', phase: 'PLAN', epoch: 1, iat: now, exp: now + 7200, ...phase }
  const task = { id: 't', lease_expires_at: '2026-01-01T00:15:00Z', updated_at: '2026-01-01T00:00:00Z' }
  return JSON.stringify({ task, phase: 'PLAN', phase_token: token(claims), allowed_tools: [], prompt: 'x' })
}

function respond(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  return createServer((request, response) => {
    request.resume()
    request.on('end', () => answer(request, response))
  })
}

describe('the address of the server', () => {
  it.each([
    ['http://127.0.0.1:PORT', '/api/v1/tasks/claim'],
    ['http://127.0.0.1:PORT/', '/api/v1/tasks/claim'],
    ['  http://127.0.0.1:PORT///  ', '/api/v1/tasks/claim'],
    ['http://127.0.0.1:PORT/api/v1/', '/api/v1/tasks/claim'],
    ['http://127.0.0.1:PORT/behind/a/proxy/', '/behind/a/proxy/api/v1/tasks/claim'],
  ])('[REQ-SDK-24] %s leads to %s', async (url, path) => {
    const seen: string[] = []
    const port = await listen(
      respond((request, response) => {
        seen.push(request.url ?? '')
        response.end(claim())
      }),
    )
    const client = new AgentClient({ url: url.replace('PORT', String(port)), token: AGENT, heartbeat: false })
    await client.claimTask()
    expect(seen).toEqual([path])
    expect(client.agentId).toBe('coder')
  })

  it('[REQ-SDK-24] both ways to write a socket of the file system are read', async () => {
    const path = join(tmpdir(), `phaselock-sdk-${process.pid}.sock`)
    const hosts: string[] = []
    await listen(
      respond((request, response) => {
        hosts.push(request.headers.host ?? '')
        response.end(claim())
      }),
      path,
    )
    for (const url of [`unix://${path}`, `unix://${path}/`, `http+unix://${encodeURIComponent(path)}`])
      expect(await new AgentClient({ url, token: AGENT, heartbeat: false }).claimTask()).toMatchObject({
        phase: 'PLAN',
      })
    expect(hosts).toEqual(['localhost', 'localhost', 'localhost'])
  })

  it.each([
    'not a url',
    'ftp://localhost',
    'http://user:hunter2@localhost',
    'http://localhost?x=hunter2',
    'unix://relative.sock',
    'unix://',
    'http+unix://%zz',
    '',
  ])('[REQ-SDK-24] %j is refused, and its words are not repeated', (url) => {
    const make = () => new AgentClient({ url, token: AGENT })
    expect(make).toThrow(InvalidOptions)
    expect(make).not.toThrow(/hunter2/)
  })
})

describe('tokens and the environment', () => {
  it('[REQ-SDK-24] a variable that is missing is named', () => {
    expect(() => AgentClient.fromEnv({})).toThrow('PHASELOCK_URL is not set')
    expect(() => AgentClient.fromEnv({ PHASELOCK_URL: 'http://localhost:1', PHASELOCK_TOKEN: ' ' })).toThrow(
      'PHASELOCK_TOKEN is not set',
    )
    const given = { PHASELOCK_URL: 'http://localhost:1/', PHASELOCK_TOKEN: AGENT }
    expect(AgentClient.fromEnv({ ...given, PHASELOCK_AGENT_ID: 'other' }).agentId).toBe('other')
    expect(AgentClient.fromEnv(given).agentId).toBe('coder')
  })

  it.each(['', 'two words', 'hunter2\r\nx-other: 1', 'hunter2\u{e9}', 'h'.repeat(8193)])(
    '[REQ-SDK-16] a token that cannot stand in a header is refused without being repeated (%#)',
    (bad) => {
      const make = () => new AgentClient({ url: 'http://localhost:1', token: bad })
      expect(make).toThrow(InvalidOptions)
      expect(make).not.toThrow(/hunter2/)
    },
  )

  it('[REQ-SDK-16] neither the client nor what it gives or throws shows a token', async () => {
    const port = await listen(
      respond((request, response) => {
        if (request.url?.endsWith('/tasks/claim')) response.end(claim())
        else response.writeHead(400).end(JSON.stringify({ code: 'x', detail: request.headers.authorization }))
      }),
    )
    const client = new AgentClient({ url: `http://127.0.0.1:${port}`, token: AGENT })
    const given = await client.claimTask()
    const thrown = await client.getStateSnapshot().catch((error: unknown) => error)
    expect(thrown).toBeInstanceOf(ApiError)
    client.close()
    const shown =
      inspect([client, given, thrown], { depth: 20, showHidden: true }) + JSON.stringify([client, given, thrown])
    expect(shown).not.toContain('s'.repeat(43))
    expect((thrown as ApiError).detail).toBe('Bearer [token]')
  })
})

describe('invalid answers', () => {
  const whole = 'HTTP/1.1 200 OK\r\ncontent-length: LENGTH\r\nconnection: close\r\n\r\n'

  it('[REQ-SDK-14] an answer that is cut off does not pass for a whole one, and is asked for again', async () => {
    let count = 0
    const server = createRawServer((socket) => {
      socket.once('data', () => {
        count += 1
        const body = claim()
        const head = whole.replace('LENGTH', String(body.length))
        if (count === 1) socket.end(`${head}{"allowed": true}`)
        else socket.end(head + body)
      })
    })
    const port = await listen(server)
    const client = new AgentClient({ url: `http://127.0.0.1:${port}`, token: AGENT, heartbeat: false })
    expect(await client.claimTask()).toMatchObject({ phase: 'PLAN' })
    expect(count).toBe(2)
  })

  it('[REQ-SDK-17] an answer that is not JSON is not mistaken for a refusal', async () => {
    const port = await listen(respond((_request, response) => response.end('<h1>Welcome</h1>')))
    const client = new AgentClient({ url: `http://127.0.0.1:${port}`, token: AGENT })
    await expect(client.claimTask()).rejects.toMatchObject({ name: 'ApiError', code: 'unreadable_answer' })
  })

  it('[REQ-SDK-17] a server that never answers is given up when the time of the call is over', async () => {
    const port = await listen(createRawServer((socket) => open.push({ close: () => socket.destroy() })))
    const client = new AgentClient({ url: `http://127.0.0.1:${port}`, token: AGENT, callMsMax: 500 })
    await expect(client.claimTask()).rejects.toBeInstanceOf(Unreachable)
  })

  it('[REQ-SDK-17] closing the client ends what waits', async () => {
    const port = await listen(createRawServer((socket) => open.push({ close: () => socket.destroy() })))
    const client = new AgentClient({ url: `http://127.0.0.1:${port}`, token: AGENT })
    const waiting = client.claimTask().catch((error: unknown) => error)
    setTimeout(() => client.close(), 100)
    expect(await waiting).toBeInstanceOf(PhaselockError)
    expect(await waiting).toMatchObject({ message: 'the client is closed' })
  })
})

describe('a stream of events', () => {
  /** Claims, and follows what the server sends of events. */
  async function following(answer: (response: ServerResponse) => void) {
    const port = await listen(
      respond((request, response) => {
        if (request.url?.endsWith('/tasks/claim')) response.end(claim())
        else answer(response)
      }),
    )
    const client = new AgentClient({ url: `http://127.0.0.1:${port}`, token: AGENT, heartbeat: false })
    open.push(client)
    await client.claimTask()
    return client
  }

  it.each([
    ['in which nothing happens', (response: ServerResponse) => response.write(': nothing yet\n\n')],
    ['that is waited for', (response: ServerResponse) => response.writeHead(503).end('{}')],
  ])('[REQ-SDK-17] %s ends when the client is closed', async (_name, answer) => {
    const client = await following(answer)
    setTimeout(() => client.close(), 250)
    const events: unknown[] = []
    for await (const event of client.events({ after: 0 })) events.push(event)
    expect(events).toEqual([])
  })
})

describe('a program that is done', () => {
  it('[REQ-SDK-13] ends, though its client was never closed', async () => {
    const port = await listen(respond((_request, response) => response.end(claim())))
    builtSdk()
    const script = `
      const { AgentClient } = await import('phaselock/sdk')
      const client = new AgentClient({ url: 'http://127.0.0.1:${port}', token: '${AGENT}' })
      await client.claimTask()
      console.log(client.phase)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { cwd: ROOT })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
    const timer = setTimeout(() => child.kill('SIGKILL'), 20_000)
    const code = await new Promise((resolve) => child.on('close', resolve))
    clearTimeout(timer)
    expect({ code, output }).toEqual({ code: 0, output: 'PLAN\n' })
  })
})
