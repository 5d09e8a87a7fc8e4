import { once } from 'node:events'
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Fastify from 'fastify'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSocketDir } from '../../src/gateway/socket-paths.js'
import { AgentSockets } from '../../src/http/agent-socket.js'
import { type Running, start } from '../http/harness.js'
import { INITIALIZE } from '../mcp/clients.js'
import { askThrough, sendThrough } from './asking.js'

let server: Running
let ada: string
let ben: string
let own: { readonly path: string; close(): Promise<void> }
beforeEach(async () => {
  server = await start()
  ada = await server.addAgent('ada')
  ben = await server.addAgent('ben')
  own = await server.agentSockets.open({ agentId: 'ada' })
})
afterEach(async () => {
  expect(server.faults).toEqual([])
  await server.stop()
})

const API = '/api/v1'

async function refusals(): Promise<readonly Record<string, unknown>[]> {
  const { body } = await server.call('GET', '/audit/query?type=request_refused&limit=100', server.operator)
  return (body.events as { actor: string; data: Record<string, unknown> }[]).map(({ actor, data }) => ({
    actor,
    ...data,
  }))
}

/** Everything that takes a token, in every way that it can be given. */
const ENTRANCES = [
  { method: 'GET', path: `${API}/state/snapshot` },
  { method: 'GET', path: `${API}/tasks` },
  { method: 'POST', path: `${API}/tasks/claim`, body: { agent_id: 'ada' } },
  { method: 'POST', path: `${API}/tools/execute`, body: { task_id: 'x', tool_name: 'bash', args: {} } },
  { method: 'GET', path: `${API}/events` },
  { method: 'GET', path: `${API}/coordinations/x/stream` },
  { method: 'POST', path: '/mcp', body: INITIALIZE, headers: { accept: 'application/json, text/event-stream' } },
  { method: 'GET', path: '/mcp', headers: { accept: 'text/event-stream' } },
]

describe('the socket of an agent', () => {
  it("[REQ-SOCKET-3] another agent's token is refused on every endpoint, and recorded under the owner's name", async () => {
    for (const entrance of ENTRANCES)
      expect((await askThrough(own.path, { ...entrance, token: ben })).body, entrance.path).toMatchObject({
        code: 'token_mismatch',
      })
    const recorded = await refusals()
    expect(recorded).toHaveLength(ENTRANCES.length)
    for (const one of recorded) expect(one).toMatchObject({ actor: 'agent:ada', code: 'token_mismatch' })
    expect(JSON.stringify(recorded)).toContain('The token of agent:ben came through the socket of agent ada.')
  })

  it("[REQ-SOCKET-3] an operator's token is refused on every endpoint, and recorded under the owner's name", async () => {
    const more = ['/agents', '/tasks', '/operators', '/admin/pause'].flatMap((path) =>
      ['GET', 'POST'].map((method) => ({ method, path: `${API}${path}` })),
    )
    for (const entrance of [...ENTRANCES, ...more]) {
      const { status, body } = await askThrough(own.path, { ...entrance, token: server.operator })
      if (body.code === 'not_found') continue
      expect([status, body.code], entrance.path).toEqual([403, 'not_permitted'])
    }
    const recorded = await refusals()
    expect(recorded.length).toBeGreaterThanOrEqual(ENTRANCES.length)
    for (const one of recorded) expect(one).toMatchObject({ actor: 'agent:ada', code: 'not_permitted' })
    expect(JSON.stringify(recorded)).not.toContain(server.operator)
  })

  it('[REQ-SOCKET-3] the cookie of a session opens nothing, and no page is served', async () => {
    const login = await server.call('POST', '/login', null, { operator_token: server.operator })
    const [session = ''] = (login.headers.get('set-cookie') ?? '').split(';')
    // A socket has no port: its cookie would be named after port 0.
    const cookie = `${session}; ${session.replace(/^phaselock_\d+/, 'phaselock_0')}`
    const headers = { cookie, 'x-csrf-token': String(login.body.csrf_token) }
    for (const entrance of ENTRANCES) {
      const { status, body } = await askThrough(own.path, { ...entrance, headers: { ...entrance.headers, ...headers } })
      expect([status, body.code], entrance.path).toEqual([401, 'token_missing'])
    }
    for (const path of ['/', '/login', '/board', '/tasks/x', `${API}/login`])
      expect(
        (await askThrough(own.path, { path, headers, ...(path.startsWith(API) ? { method: 'POST' } : {}) })).body,
        path,
      ).toMatchObject({ code: 'not_permitted' })
    const unknown = await askThrough(own.path, { path: '/nowhere', headers: { ...headers, accept: 'text/html' } })
    expect(unknown.body).toMatchObject({ code: 'not_found' })
    expect((await server.call('GET', '/session', null, undefined, { cookie: session })).status).toBe(200)
  })

  it("[REQ-SOCKET-3] a phase token of another agent is refused, also in the body; the owner's own is taken", async () => {
    await server.addTask()
    const task = await server.addTask()
    const bens = await server.claim('ben', ben, task)
    const asked = { method: 'POST', path: `${API}/tools/execute`, body: { task_id: task, tool_name: 'glob', args: {} } }
    expect((await askThrough(own.path, { ...asked, token: bens })).body).toMatchObject({ code: 'token_mismatch' })
    const inBody = { ...asked, body: { ...asked.body, phase_token: bens } }
    expect((await askThrough(own.path, inBody)).body).toMatchObject({ code: 'token_mismatch' })
    const claimed = await askThrough(own.path, {
      ...{ method: 'POST', path: `${API}/tasks/claim`, token: ada },
      body: { agent_id: 'ada' },
    })
    expect(claimed.status).toBe(200)
    const mine = String(claimed.body.phase_token)
    const snapshot = await askThrough(own.path, { path: `${API}/state/snapshot`, token: mine })
    expect([snapshot.status, snapshot.body.code]).toEqual([200, undefined])
  })

  it('[REQ-SOCKET-3] reviewers and participants come in only where the socket was opened for them', async () => {
    const now = Date.now()
    const seatOf = { runId: 'r', agentId: 'ada', expiresAt: now + 60_000 }
    const participant = server.app.tokens.mintParticipantToken(seatOf, now).token
    const asked = { method: 'POST', path: '/mcp', body: INITIALIZE, token: participant }
    expect((await askThrough(own.path, asked)).body).toMatchObject({ code: 'token_mismatch' })
    const seat = await server.agentSockets.open({
      agentId: 'seat',
      allowed: (principal) => principal.kind === 'participant' && principal.bearer.runId === 'r',
    })
    expect((await askThrough(seat.path, asked)).body.code).not.toBe('token_mismatch')
    expect((await askThrough(seat.path, { ...asked, token: ben })).body).toMatchObject({ code: 'token_mismatch' })
    const everybody = await server.agentSockets.open({ agentId: 'seat', allowed: () => true })
    const operators = await askThrough(everybody.path, { path: `${API}/tasks`, token: server.operator })
    expect(operators.body).toMatchObject({ code: 'not_permitted' })
  })

  it('[REQ-SOCKET-3] an invalid or missing token is attributed to the owner of the socket', async () => {
    expect((await askThrough(own.path, { path: `${API}/tasks` })).body).toMatchObject({ code: 'token_missing' })
    const made = await askThrough(own.path, { path: `${API}/tasks`, token: 'plop_invented' })
    expect(made.body).toMatchObject({ code: 'token_invalid' })
    expect((await refusals()).map((one) => one.actor)).toEqual(['agent:ada', 'agent:ada'])
  })

  it('[REQ-SOCKET-3] pages that reveal phases or usage need no token elsewhere, and are not served here', async () => {
    for (const path of ['/', '/metrics', '/metrics?x=1', '/%6detrics'])
      expect((await askThrough(own.path, { path })).body, path).toMatchObject({ code: 'not_permitted' })
    expect((await askThrough(own.path)).body).toMatchObject({ status: 'ok' })
  })

  it('[REQ-SOCKET-3] only the names of the socket are taken as Host and Origin, once, and only a path as target', async () => {
    for (const host of ['evil.example', `127.0.0.1:${server.port}`, 'localhost:80', '127.0.0.1', 'localhost.evil'])
      expect((await askThrough(own.path, { host })).body, host).toMatchObject({ code: 'host_not_allowed' })
    for (const host of ['localhost', 'LOCALHOST', 'localhost:8700', '127.0.0.1:8700'])
      expect((await askThrough(own.path, { host })).status, host).toBe(200)
    const origin = await askThrough(own.path, { headers: { origin: 'http://evil.example' } })
    expect(origin.body).toMatchObject({ code: 'host_not_allowed' })
    const lines = (text: string) => sendThrough(own.path, `${text}\r\nConnection: close\r\n\r\n`)
    expect(await lines('GET /health HTTP/1.1\r\nHost: localhost\r\nHost: evil')).toMatch(/^HTTP\/1.1 (400|403)/)
    expect(await lines('GET http://localhost/health HTTP/1.1\r\nHost: localhost')).toContain('host_not_allowed')
    expect(await lines('CONNECT localhost:80 HTTP/1.1\r\nHost: localhost')).not.toContain('HTTP/1.1 200')
    expect(await lines('no request at all')).toMatch(/^HTTP\/1.1 400 Bad Request[\s\S]*invalid_request/)
  })

  it('[REQ-SOCKET-3] a connection stays what it is: a second request on it is checked against the same agent', async () => {
    const line = (token: string, more = '') =>
      `GET ${API}/questions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n${more}\r\n`
    const answers = await sendThrough(own.path, line(ada) + line(ben, 'Connection: close\r\n'))
    expect(answers.match(/"code":"\w+"/g)).toEqual(['"code":"no_active_task"', '"code":"token_mismatch"'])
  })
})

describe('the port of the server', () => {
  it("[REQ-SOCKET-4] refuses a confined agent's tokens and records it, until its socket is closed", async () => {
    const refused = await server.call('GET', '/tasks', ada)
    expect([refused.status, refused.body.code]).toEqual([403, 'token_mismatch'])
    expect(await refusals()).toMatchObject([{ actor: 'agent:ada', code: 'token_mismatch' }])
    const overMcp = await server.call('POST', '/api/../mcp', ada, INITIALIZE)
    expect(overMcp.body).toMatchObject({ code: 'token_mismatch' })
    expect((await server.call('GET', '/questions', ben)).body.code).toBe('no_active_task')
    expect((await server.call('GET', '/tasks', server.operator)).status).toBe(200)
    const second = await server.agentSockets.open({ agentId: 'ada' })
    await own.close()
    await own.close()
    expect((await server.call('GET', '/tasks', ada)).body).toMatchObject({ code: 'token_mismatch' })
    await second.close()
    expect((await server.call('GET', '/questions', ada)).body.code).toBe('no_active_task')
  })

  it('[REQ-SOCKET-4] refuses an agent that is bound to sockets also while it has none', async () => {
    const unbind = server.agentSockets.bind('ben')
    expect((await server.call('GET', '/tasks', ben)).body).toMatchObject({ code: 'token_mismatch' })
    const socket = await server.agentSockets.open({ agentId: 'ben' })
    const through = await askThrough(socket.path, { path: `${API}/questions`, token: ben })
    expect(through.body.code).toBe('no_active_task')
    await socket.close()
    expect((await server.call('GET', '/tasks', ben)).body).toMatchObject({ code: 'token_mismatch' })
    unbind()
    unbind()
    expect((await server.call('GET', '/questions', ben)).body.code).toBe('no_active_task')
  })
})

describe('sockets and their folder', () => {
  it('[REQ-SOCKET-5] are for the account of the server alone, and gone when they are closed', async () => {
    const { dir } = server.agentSockets
    expect(lstatSync(dir).mode & 0o777).toBe(0o700)
    expect(lstatSync(own.path).mode & 0o777).toBe(0o600)
    await own.close()
    expect(readdirSync(dir)).toEqual([])
    await expect(askThrough(own.path)).rejects.toThrow('ENOENT')
  })

  it('[REQ-SOCKET-5] closing a socket ends what goes on through it', async () => {
    await server.addTask()
    await askThrough(own.path, { method: 'POST', path: `${API}/tasks/claim`, token: ada, body: { agent_id: 'ada' } })
    const ended = new Promise<void>((resolve, reject) => {
      const sent = request({
        ...{ socketPath: own.path, path: `${API}/events` },
        headers: { host: 'localhost', authorization: `Bearer ${ada}` },
      })
      sent.on('error', reject)
      sent.on('response', (answer) => {
        answer.on('error', () => undefined)
        answer.once('data', () => void own.close())
        answer.on('close', () => resolve())
      })
      sent.end()
    })
    await ended
    expect(existsSync(own.path)).toBe(false)
  })

  it('[REQ-SOCKET-5] a server that stops closes them, and what a killed one left is gone with the next start', async () => {
    const { dir } = server.agentSockets
    writeFileSync(join(dir, 'left'), '')
    server = await server.restart()
    expect(readdirSync(server.agentSockets.dir)).toEqual([])
    expect(existsSync(own.path)).toBe(false)
    own = await server.agentSockets.open({ agentId: 'ada' })
    expect((await askThrough(own.path)).status).toBe(200)
  })

  it('[REQ-SOCKET-5] a server that stops answers what runs there, and waits for nobody who only holds a line', async () => {
    const idle = connect(own.path)
    await once(idle, 'connect')
    const slow = request({
      ...{ socketPath: own.path, path: `${API}/tasks/claim`, method: 'POST' },
      headers: { host: 'localhost', authorization: `Bearer ${ada}`, 'content-type': 'application/json' },
    })
    slow.write('{"agent_id":')
    await new Promise((resolve) => setTimeout(resolve, 200))
    const answered = once(slow, 'response')
    const startedAt = Date.now()
    const restarted = server.restart()
    await new Promise((resolve) => setTimeout(resolve, 200))
    slow.end('"ada"}')
    const [answer] = (await answered) as [IncomingMessage]
    expect(answer.statusCode).toBe(404)
    answer.resume()
    server = await restarted
    expect(Date.now() - startedAt).toBeLessThan(5000)
    expect(idle.destroyed).toBe(true)
  })

  it('[REQ-SOCKET-5] a folder of somebody else, open to others or behind a link is not taken', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'phaselock-doors-'))
    mkdirSync(join(dir, 'open', 'doors'), { recursive: true, mode: 0o755 })
    expect(() => openSocketDir(join(dir, 'open'))).toThrow('not a folder of this account alone')
    mkdirSync(join(dir, 'linked'))
    mkdirSync(join(dir, 'elsewhere'), { mode: 0o700 })
    symlinkSync(join(dir, 'elsewhere'), join(dir, 'linked', 'doors'))
    expect(() => openSocketDir(join(dir, 'linked'))).toThrow('not a folder of this account alone')
    const without = new AgentSockets(join(dir, 'open'))
    without.attach(Fastify(), { clientError: () => undefined, headersMs: 1, requestMs: 1 })
    expect(() => without.dir).toThrow('no place for the sockets')
    const long = join(dir, 'x'.repeat(100))
    const place = openSocketDir(long)
    expect(place.length).toBeLessThan(80)
    expect(openSocketDir(long)).toBe(place)
    const server = Fastify()
    new AgentSockets(long).attach(server, { clientError: () => undefined, headersMs: 1, requestMs: 1 })
    await server.close()
    expect(existsSync(place), 'the folder of a server that has ended').toBe(false)
    rmSync(dir, { recursive: true, force: true })
  })
})
